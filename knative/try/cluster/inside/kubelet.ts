// kubelet of one node, known to the API server by a certificate; whoever asks it something has to
// show one too, and the API server is asked what he may do.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { writeIdentity } from '../../local/plane/kube-apiserver.ts';
import { answers } from '../../local/plane/probe.ts';
import type { PartSpec } from '../../local/process/part.ts';
import type { InsideConfig } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import { GO_GC, inCgroup, type NodePlace } from './place.ts';

export const CLUSTER_DOMAIN = 'cluster.local';
const HEALTH_PORT = 10_248;

export async function kubeletSpec(
  { addresses, hierarchies, kubelet, parts, path }: InsideConfig,
  node: NodePlace,
  controlPlane: ControlPlane,
): Promise<PartSpec> {
  const { address } = node.addresses;
  const organizations = ['system:nodes'];
  const commonName = `system:node:${node.name}`;
  const kubeconfig = await controlPlane.kubeconfigFor({ commonName, organizations });
  const dir = join(node.dir, 'kubelet');
  await mkdir(dir, { recursive: true });
  const serving = controlPlane.authority.issue({ commonName, organizations, hosts: [address] });
  await writeIdentity(join(node.dir, 'kubelet-serving'), serving);
  // Nothing outside can be reached from here; an empty file keeps pods from waiting for it.
  await writeFile(join(node.dir, 'resolv.conf'), '');
  const file = join(node.dir, 'kubelet.yaml');
  const { dnsService } = addresses;
  const config = { ...configOf(node, controlPlane.caPath, dnsService), ...kubelet };
  await writeFile(file, stringify(config));
  const url = `http://${address}:${HEALTH_PORT}`;
  const command = [
    parts.kubelet,
    `--config=${file}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${node.name}`,
    `--node-ip=${address}`,
    `--root-dir=${dir}`,
    `--cert-dir=${join(node.dir, 'pki')}`,
  ];
  return {
    name: `${node.name}/kubelet`,
    ...inCgroup(`${node.cgroup}/system`, hierarchies, command),
    env: { ...GO_GC, PATH: path, HOME: node.dir, TMPDIR: node.tmpDir },
    url,
    ready: (signal) => answers(`${url}/healthz`, signal),
  };
}

const configOf = (node: NodePlace, clientCAFile: string, dnsService: string): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: node.addresses.address,
  healthzBindAddress: node.addresses.address,
  healthzPort: HEALTH_PORT,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile },
  },
  authorization: { mode: 'Webhook' },
  tlsCertFile: join(node.dir, 'kubelet-serving.crt'),
  tlsPrivateKeyFile: join(node.dir, 'kubelet-serving.key'),
  containerRuntimeEndpoint: `unix://${node.socket}`,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${node.cgroup}/pods`,
  failCgroupV1: false,
  failSwapOn: false,
  // Machines for trying things out are full more often than not, and images cannot be pulled again.
  evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
  clusterDomain: CLUSTER_DOMAIN,
  clusterDNS: [dnsService],
  resolvConf: join(node.dir, 'resolv.conf'),
  podLogsDir: join(node.dir, 'logs'),
  volumePluginDir: join(node.dir, 'volume-plugins'),
  // So long a changed Secret takes to be seen in a pod that runs: one that a NatsCluster reloads.
  syncFrequency: '2s',
  shutdownGracePeriod: '0s',
  serializeImagePulls: false,
});
