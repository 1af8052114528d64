// An EtcdCluster as read, and the names of what belongs to it. Pure.
import {
  ETCD_CLUSTER_LABEL,
  type EtcdClusterSpec,
  type EtcdClusterStatus,
} from '../../shared/api/etcd-cluster.ts';
import {
  headlessName,
  memberHost,
  memberPeerUrl,
  ORDINALS,
  peerNameOf,
} from '../../shared/api/etcd-names.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';

export type Cluster = OwnObject<EtcdClusterSpec, EtcdClusterStatus>;

export const clusterOf: (object: KubeObject) => Cluster = ownObjectOf;

type Named = Pick<Cluster, 'name' | 'namespace'>;

export const peerName = ({ name }: Pick<Cluster, 'name'>, ordinal: number): string =>
  peerNameOf(name, ordinal);

/** The names of all peers that there can be. */
export const peerNames = (cluster: Pick<Cluster, 'name'>): readonly string[] =>
  Array.from({ length: ORDINALS }, (_, ordinal) => peerName(cluster, ordinal));

export const ordinalOf = (peer: string): number => Number(peer.slice(peer.lastIndexOf('-') + 1));

/** Clients connect to this name, so certificates are issued for it. */
export const serviceHost = ({ name, namespace }: Named): string => `${name}.${namespace}.svc`;

export const headlessHost = ({ name, namespace }: Named): string =>
  `${headlessName(name)}.${namespace}.svc`;

export const hostOf = (cluster: Named, peer: string): string => memberHost(placeOf(cluster, peer));

const placeOf = ({ name, namespace }: Named, peer: string) => ({ namespace, cluster: name, peer });

export const peerUrl = (cluster: Named & Pick<Cluster, 'spec'>, peer: string): string =>
  memberPeerUrl(placeOf(cluster, peer), cluster.spec.tls.peers);

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
