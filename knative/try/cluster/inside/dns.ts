// CoreDNS for the names of Services and pods, beside the control plane instead of in a pod: a node
// that is lost takes nobody's names along.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers } from '../../local/plane/probe.ts';
import type { ClusterObject } from '../../local/manifests/wiring.ts';
import type { InsideConfig } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import { CLUSTER_DOMAIN } from './kubelet.ts';
import { GO_GC } from './place.ts';

const READY_PORT = 8_181;
const ACCOUNT = 'system:coredns';

export async function startDns(
  { addresses, parts }: InsideConfig,
  controlPlane: ControlPlane,
): Promise<void> {
  const { plane } = controlPlane;
  const { dnsServer } = addresses;
  const kubeconfig = await controlPlane.kubeconfigFor({ commonName: ACCOUNT });
  const file = join(plane.dir, 'Corefile');
  const lines = [
    '.:53 {',
    `  bind ${dnsServer}`,
    '  errors',
    `  ready ${dnsServer}:${READY_PORT}`,
    `  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa {`,
    `    kubeconfig ${kubeconfig}`,
    '    ttl 5',
    '  }',
    // Names that are asked for before they exist must not be remembered as missing for long.
    '  cache 5',
    '  loadbalance',
    '}',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const url = `http://${dnsServer}:${READY_PORT}`;
  await plane.add({
    name: 'coredns',
    command: parts.coredns,
    args: ['-conf', file],
    env: GO_GC,
    url,
    ready: (signal) => answers(`${url}/ready`, signal),
  });
}

/** Its rights, and the Service under whose address pods ask it. */
export function dnsObjects({ addresses }: InsideConfig): readonly ClusterObject['object'][] {
  const { dnsServer, dnsService } = addresses;
  const group = 'rbac.authorization.k8s.io';
  const named = { name: 'kube-dns', namespace: 'kube-system' };
  const ports = ['UDP', 'TCP'].map((protocol) => ({
    name: protocol === 'UDP' ? 'dns' : 'dns-tcp',
    port: 53,
    protocol,
  }));
  return [
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: ACCOUNT },
      rules: [
        watches([''], ['services', 'namespaces', 'pods']),
        watches(['discovery.k8s.io'], ['endpointslices']),
      ],
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: ACCOUNT },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: ACCOUNT },
      subjects: [{ apiGroup: group, kind: 'User', name: ACCOUNT }],
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...named, labels: { 'k8s-app': 'kube-dns' } },
      spec: { clusterIP: dnsService, ports },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...named, labels: { 'kubernetes.io/service-name': named.name } },
      addressType: 'IPv4',
      ports: ports.map(({ name, port, protocol }) => ({ name, port, protocol })),
      endpoints: [{ addresses: [dnsServer], conditions: { ready: true } }],
    },
  ];
}

const watches = (apiGroups: readonly string[], resources: readonly string[]): object => ({
  apiGroups,
  resources,
  verbs: ['list', 'watch'],
});
