// Objects of the embedded cluster: nodes, namespaces, and workloads with their owner chains. Pure:
// the same numbers give the same cluster.
import { createHash } from 'node:crypto';
import type { KubeObject, Manifest } from '../../../../shared/kube/objects.ts';

export interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

const NAMESPACES = ['shop', 'payments', 'search', 'media'] as const;
const APPS = ['web', 'api', 'worker', 'cache', 'queue'] as const;
/** This app answers requests from elsewhere, and so has a service. */
const SERVED_APP = 'web';
export const SERVED_LABEL = `app=${SERVED_APP}`;
/** More than this, and the API server refuses the slice; a real controller would write several. */
const ENDPOINTS_MAX = 1_000;
const PORT = 8080;
const ZONES = ['a', 'b', 'c'] as const;
/** Shown in the nodes' status only: no packet is ever sent there. */
const NODE_NETWORK = '10.1';

export const namespaces = (): readonly Manifest[] =>
  NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));

export function node(index: number): Manifest {
  const name = nameOfNode(index);
  const zone = ZONES[index % ZONES.length] ?? 'a';
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone },
    },
    status: {
      addresses: [
        { type: 'InternalIP', address: `${NODE_NETWORK}.${index >> 8}.${index & 255}` },
        { type: 'Hostname', address: name },
      ],
    },
  };
}

export const nameOfNode = (index: number): string => `node-${String(index).padStart(3, '0')}`;

/** Workloads whose replicas together are `pods`. */
export function workloads(pods: number): readonly Workload[] {
  const all = NAMESPACES.flatMap((namespace) => APPS.map((name) => ({ namespace, name })));
  return all
    .map((workload, index) => {
      const share = Math.floor(pods / all.length) + (index < pods % all.length ? 1 : 0);
      return { ...workload, replicas: share };
    })
    .filter(({ replicas }) => replicas > 0);
}

export function deployment({ namespace, name, replicas }: Workload): Manifest {
  return scalable('Deployment', name, { name, namespace, labels: { app: name } }, replicas);
}

export function replicaSet({ namespace, name, replicas }: Workload, owner: KubeObject): Manifest {
  const labels = { app: name, 'pod-template-hash': hashOf(name) };
  const metadata = { name: `${name}-${hashOf(name)}`, namespace, labels, ...ownedBy(owner) };
  return scalable('ReplicaSet', name, metadata, replicas);
}

export function pod(owner: KubeObject, suffix: string, nodeName: string): Manifest {
  const { name, namespace = '', labels = {} } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-${suffix}`, namespace, labels, ...ownedBy(owner) },
    spec: { nodeName, ...podSpec(labels['app'] ?? 'app') },
  };
}

export function services(all: readonly Workload[]): readonly Manifest[] {
  return all
    .filter(({ name }) => name === SERVED_APP)
    .map(({ name, namespace }) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels: { app: name } },
      spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: PORT }] },
    }));
}

/**
 * Endpoints of the pods that have an address; a pod on its way out is still named, as terminating.
 */
export function endpointSlice(service: KubeObject, pods: readonly KubeObject[]): Manifest {
  const { name, namespace = '' } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${hashOf(name).slice(0, 5)}`,
      namespace,
      labels: { 'kubernetes.io/service-name': name },
      ...ownedBy(service),
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: PORT, protocol: 'TCP' }],
    endpoints: pods.flatMap(endpoint).slice(0, ENDPOINTS_MAX),
  };
}

function endpoint({ metadata, spec, status }: KubeObject): readonly Record<string, unknown>[] {
  const { name, namespace, uid, deletionTimestamp } = metadata;
  // The API server holds pods to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { nodeName, podIP } = { ...(spec as object), ...(status as object) } as {
    readonly nodeName?: string;
    readonly podIP?: string;
  };
  if (podIP === undefined) return [];
  const terminating = deletionTimestamp !== undefined;
  // Here a pod gets its address at the moment in which it is ready.
  const conditions = { ready: !terminating, serving: true, terminating };
  const targetRef = { kind: 'Pod', namespace, name, uid };
  return [{ addresses: [podIP], conditions, nodeName, targetRef }];
}

function scalable(
  kind: string,
  app: string,
  metadata: Manifest['metadata'],
  replicas: number,
): Manifest {
  const matchLabels = { app };
  const template = { metadata: { labels: matchLabels }, spec: podSpec(app) };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { replicas, selector: { matchLabels }, template },
  };
}

function podSpec(app: string): Record<string, unknown> {
  return {
    containers: [
      { name: app, image: `registry.local/${app}:1.0.0`, ports: [{ containerPort: PORT }] },
      { name: 'proxy', image: 'registry.local/proxy:2.3.1' },
    ],
  };
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: KubeObject) {
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] };
}

/** Stands for the hash that a real Deployment controller would put here. */
function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}
