// EtcdPeer as the API server stores it: one member of an EtcdCluster, from its first start to the
// loss of its data. The function etcd-cluster writes it, etcd-peer makes its pod and its claim.
// knative/crds/etcd-peer.yaml is the source of truth.
import type { EtcdSettings } from './etcd-cluster.ts';

export const ETCD_PEERS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'etcdpeers',
} as const;

/** Renewed by each sweep; it names the peers that could not be reconciled. */
export const ETCD_PEER_LEASE = 'ballast-etcd-peer';

/** On the pod, the StatefulSet and the claim of a peer, with its name as the value. */
export const ETCD_PEER_LABEL = 'ballast.dev/etcd-peer';

/**
 * On a claim, once its member has joined: whose data it holds, in hex. On an EtcdCluster: with
 * whose data it is born, and with no other.
 */
export const CLUSTER_ID_ANNOTATION = 'ballast.dev/etcd-cluster-id';

/** On such a claim: the version of etcd that has last written it. */
export const VERSION_ANNOTATION = 'ballast.dev/etcd-version';

/** On such a claim: the version with which its cluster was born, as an EtcdCluster. */
export const BORN_ANNOTATION = 'ballast.dev/etcd-born';

/** Holds a deleted peer until its pod is gone. */
export const ETCD_PEER_FINALIZER = 'ballast.dev/etcd-peer';

export interface EtcdPeerSpec extends EtcdSettings {
  /** The name of its EtcdCluster. */
  readonly cluster: string;
  readonly ordinal: number;
  readonly bootstrap: PeerBootstrap;
  /** False while the cluster hibernates: no pod, and the claim is kept. */
  readonly running: boolean;
  /** Changes when the authority does, which etcd reads when it starts. */
  readonly certificatesHash?: string;
  /** Set for the survivor of a lost quorum. */
  readonly recovery?: PeerRecovery;
}

/** A member is forced to go on alone once for each recovery, never again after `force` is off. */
export interface PeerRecovery {
  readonly number: number;
  readonly force: boolean;
}

/** How a member starts that finds no data in its volume; with data it is not read. */
export interface PeerBootstrap {
  /** New for the seed alone, once in the life of an EtcdCluster. */
  readonly state: 'New' | 'Existing';
  readonly token: string;
  /** The members at that moment; itself alone once its data is known. */
  readonly initialCluster: readonly { readonly name: string; readonly url: string }[];
  /**
   * The key in Secret `<cluster>-starts` by which it starts without data. Absent for one whose
   * volume had data when the peer was made.
   */
  readonly start?: string;
}

export interface EtcdPeerStatus {
  readonly observedGeneration?: number;
  /** The claim that the data of this peer is in, from its first start on. */
  readonly claimUid?: string;
  /** With Memory: the pod that its data is in, since it was first ready. */
  readonly podUid?: string;
  /** The pod template that its StatefulSet has. */
  readonly templateHash?: string;
  readonly phase?: 'Pending' | 'Running' | 'Hibernating' | 'DataLost' | 'Ending';
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  }[];
}
