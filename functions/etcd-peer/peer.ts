// An EtcdPeer as it was read, in the terms of this function. Pure.
import { memberHost, peerSelector } from '../../shared/api/etcd-names.ts';
import {
  ETCD_PEER_FINALIZER,
  ETCD_PEERS,
  type EtcdPeerSpec,
  type EtcdPeerStatus,
} from '../../shared/api/etcd-peer.ts';
import { apiVersionOf, type KubeObject } from '../../shared/kube/objects.ts';
import type { Owner } from '../../shared/stateful/parts.ts';

export interface Peer {
  /** As it was read. */
  readonly object: KubeObject;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: EtcdPeerSpec;
  readonly status: EtcdPeerStatus;
}

export function peerOf(object: KubeObject): Peer {
  // The API server holds both to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = object as unknown as {
    spec: EtcdPeerSpec;
    status?: EtcdPeerStatus;
  };
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  return { object, namespace, name, uid, generation, spec, status };
}

export const isEnding = ({ object }: Pick<Peer, 'object'>): boolean =>
  object.metadata.deletionTimestamp !== undefined;

export const isHeld = ({ object }: Pick<Peer, 'object'>): boolean =>
  (object.metadata.finalizers ?? []).includes(ETCD_PEER_FINALIZER);

/** With Memory there is none: its data lives and ends with one pod. */
export const hasClaim = ({ spec }: Pick<Peer, 'spec'>): boolean => spec.storage.medium === 'Volume';

export const hostOf = ({ namespace, name, spec }: Pick<Peer, 'namespace' | 'name' | 'spec'>) =>
  memberHost({ namespace, cluster: spec.cluster, peer: name });

export const selectorOf = ({ name, spec }: Pick<Peer, 'name' | 'spec'>) =>
  peerSelector(spec.cluster, name);

export const labelsOf = (peer: Pick<Peer, 'name' | 'spec'>): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'etcd',
  'app.kubernetes.io/instance': peer.spec.cluster,
  'app.kubernetes.io/managed-by': 'ballast',
  ...selectorOf(peer),
});

/** Its parts are deleted with it; its claim is none of them. */
export const ownerOf = (peer: Peer): Owner => ({
  apiVersion: apiVersionOf(ETCD_PEERS),
  kind: 'EtcdPeer',
  name: peer.name,
  namespace: peer.namespace,
  uid: peer.uid,
  labels: labelsOf(peer),
});
