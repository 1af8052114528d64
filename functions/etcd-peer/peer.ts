// An EtcdPeer as it was read, in the terms of this function. Pure.
import { memberHost, peerSelector } from '../../shared/api/etcd-names.ts';
import {
  ETCD_PEER_FINALIZER,
  ETCD_PEERS,
  type EtcdPeerSpec,
  type EtcdPeerStatus,
} from '../../shared/api/etcd-peer.ts';
import { apiVersionOf, type KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';
import type { Owner } from '../../shared/stateful/parts.ts';

export type Peer = OwnObject<EtcdPeerSpec, EtcdPeerStatus>;

export const peerOf: (object: KubeObject) => Peer = ownObjectOf;

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
