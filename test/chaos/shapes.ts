// The objects of a small cluster, as a mutator makes them without anybody who runs them. The same
// few names come again and again: what has a name today is not what had it yesterday.
import type { Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import type { Random } from './random.ts';

export const NAMESPACE = 'default';
/** Pods that come and go. */
export const POD_NAMES = Array.from({ length: 14 }, (_, index) => `p${index}`);
export const NODE_NAMES = ['n0', 'n1', 'n2', 'n3', 'n4'] as const;

const core = (resource: string): ResourceRef => ({ group: '', version: 'v1', resource });
const apps = (resource: string): ResourceRef => ({ group: 'apps', version: 'v1', resource });

export const PODS = core('pods');
export const NODES = core('nodes');
export const SERVICES = core('services');
export const SLICES: ResourceRef = {
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
};
export const DEPLOYMENTS = apps('deployments');
export const REPLICA_SETS = apps('replicasets');
/** All that a mutator makes. */
export const KINDS = [PODS, SERVICES, SLICES, DEPLOYMENTS, REPLICA_SETS, NODES] as const;

const APPS = ['web', 'db', 'cache'] as const;

export const labelsOf = (random: Random): Record<string, string> => ({
  app: random.pick(APPS),
  step: String(random.between(0, 99)),
});

const inNamespace = (name: string, more: object = {}): Manifest['metadata'] => ({
  name,
  namespace: NAMESPACE,
  ...more,
});

export function pod(name: string, random: Random, nodeName?: string): Manifest {
  const containers = Array.from({ length: random.between(1, 3) }, (_, index) => ({
    name: `c${index}`,
    image: `app:${random.between(1, 3)}`,
  }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: inNamespace(name, { labels: labelsOf(random) }),
    spec: { containers, ...(nodeName === undefined ? {} : { nodeName }) },
  };
}

export function podStatus(random: Random): Readonly<Record<string, unknown>> {
  const ip = `10.0.${random.between(0, 4)}.${random.between(1, 9)}`;
  const isReady = random.chance(0.7);
  return {
    phase: random.pick(['Pending', 'Running', 'Running', 'Succeeded', 'Failed']),
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    containerStatuses: [
      {
        name: 'c0',
        image: 'app:1',
        imageID: '',
        containerID: `containerd://${random.between(1, 99)}`,
        ready: isReady,
        restartCount: random.between(0, 9),
        state: { running: { startedAt: '2030-01-01T00:00:00Z' } },
      },
    ],
  };
}

export const node = (name: string, random: Random): Manifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { zone: random.pick(['a', 'b']) } },
});

/** Few addresses: a new node often comes with an old one. */
export const nodeStatus = (random: Random): Readonly<Record<string, unknown>> => ({
  addresses: [{ type: 'InternalIP', address: `192.168.0.${random.between(1, 4)}` }],
  conditions: [{ type: 'Ready', status: random.pick(['True', 'False']) }],
});

export const service = (name: string, random: Random): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: inNamespace(name),
  spec: { selector: { app: random.pick(APPS) }, ports: [{ port: random.between(80, 90) }] },
});

export function slice(name: string, random: Random): Manifest {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: inNamespace(name, { labels: { 'kubernetes.io/service-name': 's0' } }),
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    endpoints: endpoints(random),
  };
}

/** None at all, some without a node, several on one node. */
export function endpoints(random: Random): readonly object[] {
  return Array.from({ length: random.between(0, 5) }, (_, index) => ({
    addresses: [`10.0.9.${index + 1}`],
    conditions: { ready: random.chance(0.8) },
    ...(random.chance(0.2) ? {} : { nodeName: random.pick(NODE_NAMES) }),
  }));
}

export const workload = (
  kind: 'Deployment' | 'ReplicaSet',
  name: string,
  random: Random,
): Manifest => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: inNamespace(name, { labels: labelsOf(random) }),
  spec: {
    replicas: random.between(0, 5),
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c0', image: 'app:1' }] },
    },
  },
});
