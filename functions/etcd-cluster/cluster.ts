// An EtcdCluster as read, and the names of what belongs to it. Pure.
import {
  ETCD_CLUSTER_LABEL,
  type EtcdClusterSpec,
  type EtcdClusterStatus,
} from '../../shared/api/etcd-cluster.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';

export interface Cluster {
  readonly object: KubeObject;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: EtcdClusterSpec;
  readonly status: EtcdClusterStatus;
}

export function clusterOf(object: KubeObject): Cluster {
  // The API server holds objects to the schema, and fills in the defaults.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = object as unknown as {
    spec: EtcdClusterSpec;
    status?: EtcdClusterStatus;
  };
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  return { object, namespace, name, uid, generation, spec, status };
}

type Named = Pick<Cluster, 'name' | 'namespace'>;

export const CLIENT_PORT = 2379;
export const PEER_PORT = 2380;
export const METRICS_PORT = 2381;

/** Ordinals are below it: a certificate names every member that there can be. */
export const ORDINALS = 16;

export const peerName = ({ name }: Pick<Cluster, 'name'>, ordinal: number): string =>
  `${name}-${ordinal}`;

export const ordinalOf = (peer: string): number => Number(peer.slice(peer.lastIndexOf('-') + 1));

/** The one pod of the peer's StatefulSet. */
export const podName = (peer: string): string => `${peer}-0`;

export const claimName = (peer: string): string => `data-${peer}`;

export const headlessName = ({ name }: Pick<Cluster, 'name'>): string => `${name}-headless`;

/** Clients connect to this name, so certificates are issued for it. */
export const serviceHost = ({ name, namespace }: Named): string => `${name}.${namespace}.svc`;

export const headlessHost = (cluster: Named): string =>
  `${headlessName(cluster)}.${cluster.namespace}.svc`;

/** The name of a member's pod in DNS. */
export const hostOf = (cluster: Named, peer: string): string =>
  `${podName(peer)}.${headlessHost(cluster)}`;

export function peerUrl(cluster: Named & Pick<Cluster, 'spec'>, peer: string): string {
  const scheme = cluster.spec.tls.peers.mode === 'Mutual' ? 'https' : 'http';
  return `${scheme}://${hostOf(cluster, peer)}:${PEER_PORT}`;
}

export const selectorOf = ({ name }: Pick<Cluster, 'name'>): Readonly<Record<string, string>> => ({
  [ETCD_CLUSTER_LABEL]: name,
});

export function labelsOf({ name }: Pick<Cluster, 'name'>): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'etcd',
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/managed-by': 'ballast',
    [ETCD_CLUSTER_LABEL]: name,
  };
}

/** As kubectl and the API take it. */
export const selectorText = ({ name }: Pick<Cluster, 'name'>): string =>
  `${ETCD_CLUSTER_LABEL}=${name}`;
