// What lives in the embedded cluster: nodes, namespaces, and workloads with their owner chains, as
// plain objects. Pure: the same numbers give the same cluster.
import { createHash } from 'node:crypto';
import type { KubeObject, Manifest } from '../../../shared/kube/objects.ts';

export interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

const NAMESPACES = ['shop', 'payments', 'search', 'media'] as const;
const APPS = ['web', 'api', 'worker', 'cache', 'queue'] as const;
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
      { name: app, image: `registry.local/${app}:1.0.0`, ports: [{ containerPort: 8080 }] },
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
