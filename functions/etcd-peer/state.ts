// The observed state of a peer, on which the next step is decided: the object, and its StatefulSet,
// pod and claim as they are now. Types, and small questions about them. Pure.
import type { EtcdPeerStatus } from '../../shared/api/etcd-peer.ts';
import type { Claim, Growth } from '../../shared/stateful/claims.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { hasClaim, type Peer } from './peer.ts';
import type { Rendered } from './render/stateful-set.ts';

/** Fields of the status that later decisions need. */
export type Records = Pick<EtcdPeerStatus, 'claimUid' | 'podUid'>;

export interface FoundSet {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
  /** Hash of the pod template that it has. */
  readonly templateHash: string | undefined;
  readonly isOurs: boolean;
  readonly isAsRendered: boolean;
  readonly isEnding: boolean;
}

export interface PeerClaim extends Claim {
  readonly resourceVersion: string;
  /** It has the labels of this peer: another object of the same name may have made it. */
  readonly isOurs: boolean;
  /** The cluster whose data it holds; undefined as long as no member with it has joined. */
  readonly clusterId: string | undefined;
}

export interface PeerPod extends Pod {
  /** Made by a StatefulSet of this name, and not by somebody who took the name. */
  readonly isOurs: boolean;
}

/** Its parts but for the pod, which may change by itself. */
export interface Parts {
  readonly statefulSet: FoundSet | undefined;
  /** The claim by the name of that of this peer; undefined where it needs none. */
  readonly claim: PeerClaim | undefined;
}

export interface State extends Parts {
  readonly peer: Peer;
  readonly nowMs: number;
  readonly rendered: Rendered;
  readonly pod: PeerPod | undefined;
  /** Undefined when the claim does not have to grow. */
  readonly growth: Growth | undefined;
  /** Why the claim gets no volume; undefined while it may still come. */
  readonly pending: string | undefined;
}

/** Its first volume is gone, or its pod, and with it what it has promised to the others. */
export function isLost({ peer, claim, pod }: Pick<State, 'peer' | 'claim' | 'pod'>): boolean {
  const { claimUid, podUid } = peer.status;
  if (!hasClaim(peer)) return podUid !== undefined && pod?.uid !== podUid;
  return claimUid !== undefined && claim?.uid !== claimUid;
}

/** The records in the status now. */
export const recordsOf = ({ peer: { status } }: Pick<State, 'peer'>): Records => ({
  ...(status.claimUid === undefined ? {} : { claimUid: status.claimUid }),
  ...(status.podUid === undefined ? {} : { podUid: status.podUid }),
});
