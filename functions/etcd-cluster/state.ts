// The observed state of a cluster, on which the next step is decided: the object, its parts, the
// peers with their pods and claims, and the answers of the members. Types, and small questions
// about them. Pure.
import type {
  Bootstrap,
  Compacting,
  DefragmentingMember,
  LeavingMember,
  Recovered,
  Recovering,
  RefusedData,
  RefusingMember,
  RestartingMember,
} from '../../shared/api/etcd-cluster.ts';
import { claimName, podName } from '../../shared/api/etcd-names.ts';
import type { EtcdPeerSpec, EtcdPeerStatus } from '../../shared/api/etcd-peer.ts';
import type { OldMember } from '../../shared/api/etcd-joins.ts';
import type { EtcdAuthStatus } from '../../shared/api/etcd-auth.ts';
import type { Session } from '../../shared/etcd/admin/caller.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { Claim } from '../../shared/stateful/claims.ts';
import type { OwnSecret, SecretToMake } from '../../shared/stateful/certificates/secret-data.ts';
import type { FoundPart, RenderedPart } from '../../shared/stateful/parts.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import type { AuthParts } from './auth/state.ts';
import type { Backups } from './backups/schedules.ts';
import { type Cluster, ordinalOf, peerUrl } from './cluster.ts';
import type { Alarm, EtcdState, Member, MemberAnswer } from './etcd-state.ts';
import type { PartKey } from './render.ts';

/** Records in the status that later decisions need; an absent one is dropped. */
export interface Records {
  readonly clusterId?: string;
  readonly bootstrap?: Bootstrap;
  readonly joining?: readonly OldMember[];
  readonly leaving?: LeavingMember;
  readonly restarting?: RestartingMember;
  readonly refusing?: RefusingMember;
  readonly refused?: RefusedData;
  readonly recovering?: Recovering;
  readonly recovered?: Recovered;
  readonly defragmenting?: DefragmentingMember;
  readonly compacting?: Compacting;
  readonly auth?: EtcdAuthStatus;
}

export interface Peer {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly spec: EtcdPeerSpec;
  readonly status: EtcdPeerStatus;
  readonly isEnding: boolean;
  /** False for that of a former EtcdCluster of this name, which is about to end. */
  readonly isOurs: boolean;
}

export interface PeerClaim extends Claim {
  /** The cluster whose data it holds, in hex; undefined until a member with it has joined. */
  readonly clusterId: string | undefined;
  /** Its data is nobody's any more, and no member starts with it. */
  readonly isKeptAside: boolean;
  /** The version of etcd that has last written it, as far as is known. */
  readonly version: string | undefined;
  /** The version with which its cluster was born; undefined for one that we have not borne. */
  readonly born: string | undefined;
  readonly resourceVersion: string;
}

export interface Parts {
  readonly toMake: SecretToMake | undefined;
  /** The reason why the parts cannot be written: something of the user's is missing. */
  readonly lacking: Reason | undefined;
  /** The certificate with which members are asked. */
  readonly access: Access | undefined;
  readonly found: ReadonlyMap<PartKey, FoundPart>;
  /** Parts that are missing, or differ from how they are rendered. */
  readonly wrong: readonly RenderedPart<PartKey>[];
  readonly policyRefusal: Reason | undefined;
  /** Why certificates of the user's are not taken; those of before go on. */
  readonly refused?: Reason;
  /** Undefined where neither the spec nor a Secret speaks of logins. */
  readonly auth?: AuthParts;
  readonly certificatesHash: string | undefined;
  /** The first end of the certificates; absent where there are none. */
  readonly servedUntilMs?: number;
  /** Versions of the cluster's own Secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** A task of the clients that has a date, for people. */
  readonly notice: string | undefined;
  /** The Secret by which members start without data; undefined while there is none. */
  readonly starts?: OwnSecret | undefined;
  /** The legacy cluster whose pods the policy of the network lets in. */
  readonly legacy?: string | undefined;
  /** How many pods the budget lets go at a time. */
  readonly mayGo?: number;
}

/** Undefined fields where the cluster speaks without TLS. */
export interface Access {
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | undefined;
  /** Root's, once there is a password. */
  readonly session?: Session;
}

/** A pod or a claim by the name of a member's, whose label somebody took off. */
export type Stray = { readonly peer: string; readonly name: string } & (
  | { readonly kind: 'Pod'; readonly isReady: boolean }
  /** Its mark. */
  | { readonly kind: 'Claim'; readonly clusterId: string | undefined }
);

export interface State {
  readonly cluster: Cluster;
  readonly nowMs: number;
  readonly parts: Parts;
  readonly peers: readonly Peer[];
  readonly pods: readonly Pod[];
  readonly claims: readonly PeerClaim[];
  readonly strays: readonly Stray[];
  /** Peers whose volume is certain to be lost, and why. */
  readonly lost: ReadonlyMap<string, string>;
  /** Peers that cannot start because their claim gets no volume, and why. */
  readonly pending: ReadonlyMap<string, string>;
  readonly etcd: EtcdState;
  /** Backups by schedules; no step depends on them. */
  readonly backups: Backups;
}

export const podOf = ({ pods }: Pick<State, 'pods'>, peer: string): Pod | undefined =>
  pods.find(({ name }) => name === podName(peer));

export const claimOf = ({ claims }: Pick<State, 'claims'>, peer: string): PeerClaim | undefined =>
  claims.find(({ name }) => name === claimName(peer));

export const peerOf = ({ peers }: Pick<State, 'peers'>, name: string): Peer | undefined =>
  peers.find((one) => one.name === name);

export const strayOf = (
  { strays }: Pick<State, 'strays'>,
  peer: string,
  kind: Stray['kind'],
): Stray | undefined => strays.find((one) => one.peer === peer && one.kind === kind);

/** Nothing is left of it: no EtcdPeer, no pod and no claim. */
export const isVanished = (state: State, name: string): boolean =>
  [peerOf, podOf, claimOf].every((of) => of(state, name) === undefined) &&
  !state.strays.some(({ peer }) => peer === name);

export const membersOf = ({ etcd }: Pick<State, 'etcd'>): readonly Member[] =>
  etcd.list?.members ?? [];

/** Found by its URL: an id that was written down may be that of a former member. */
export const memberOf = (
  state: Pick<State, 'cluster' | 'etcd'>,
  peer: string,
): Member | undefined => memberIn(state, membersOf(state), peer);

export function memberIn(
  { cluster }: Pick<State, 'cluster'>,
  members: readonly Member[],
  peer: string,
): Member | undefined {
  const url = peerUrl(cluster, peer);
  return members.find(({ peerUrls }) => peerUrls.includes(url));
}

/** The peer whose URL a member has; undefined for a member that somebody else added. */
export function peerNameOf(
  { cluster }: Pick<State, 'cluster'>,
  { peerUrls }: Member,
): string | undefined {
  const [first = ''] = peerUrls;
  const [, ordinal] = /^https?:\/\/[^.]+-(\d{1,3})-0\./.exec(first) ?? [];
  const name = `${cluster.name}-${ordinal ?? ''}`;
  return ordinal !== undefined && peerUrl(cluster, name) === first ? name : undefined;
}

/** The names of members, also of those that have not started and say none. */
export const namesOf = (state: Pick<State, 'cluster'>, members: readonly Member[]) =>
  members.flatMap((member) => peerNameOf(state, member) ?? []);

export const alarmsOf = ({ etcd }: Pick<State, 'etcd'>, type: Alarm['type']): readonly Alarm[] =>
  etcd.alarms.filter((one) => one.type === type);

/** Every member that answers has it, so that none has to ask for what is forgotten. */
export function commonRevision({ etcd }: Pick<State, 'etcd'>): bigint {
  const [first = 0n, ...rest] = [...etcd.answers.values()].map(({ revision }) => BigInt(revision));
  return rest.reduce((least, one) => (one < least ? one : least), first);
}

export const votersOf = (state: Pick<State, 'etcd'>): readonly Member[] =>
  membersOf(state).filter(({ isLearner }) => !isLearner);

export const learnersOf = (state: Pick<State, 'etcd'>): readonly Member[] =>
  membersOf(state).filter(({ isLearner }) => isLearner);

/** The answer of the member itself, and not that of another one under its name. */
export function answerOf(
  state: Pick<State, 'cluster' | 'etcd'>,
  member: Member,
): MemberAnswer | undefined {
  const answer = state.etcd.answers.get(peerNameOf(state, member) ?? '');
  const isItsOwn =
    answer?.memberId === member.id && answer.clusterId === state.etcd.list?.clusterId;
  return isItsOwn ? answer : undefined;
}

/** The member that most members take for the leader, or none. */
export function leaderOf(state: Pick<State, 'cluster' | 'etcd'>): Member | undefined {
  const votes = new Map<string, number>();
  for (const { leaderId } of state.etcd.answers.values()) {
    if (leaderId !== undefined) votes.set(leaderId, (votes.get(leaderId) ?? 0) + 1);
  }
  const [most] = [...votes].toSorted(([, a], [, b]) => b - a);
  return membersOf(state).find(({ id }) => id === most?.[0]);
}

/** The leader first; learners take no request that changes something. */
export function votersToAsk(state: Pick<State, 'cluster' | 'etcd'>): readonly string[] {
  const leader = leaderOf(state);
  const first = leader && peerNameOf(state, leader);
  const voters = [...state.etcd.answers].flatMap(([name, { isLearner }]) =>
    isLearner ? [] : name,
  );
  return first === undefined ? voters : [first, ...voters.filter((name) => name !== first)];
}

export const byOrdinal = (a: string, b: string): number => ordinalOf(a) - ordinalOf(b);

/** The records in the status now. */
export function recordsOf({ cluster: { status } }: Pick<State, 'cluster'>): Records {
  const { clusterId, bootstrap, joining, leaving, restarting, refusing, refused } = status;
  const { recovering, recovered, defragmenting, compacting, auth } = status;
  return {
    ...(clusterId === undefined ? {} : { clusterId }),
    ...(bootstrap === undefined ? {} : { bootstrap }),
    ...(joining === undefined ? {} : { joining }),
    ...(leaving === undefined ? {} : { leaving }),
    ...(restarting === undefined ? {} : { restarting }),
    ...(refusing === undefined ? {} : { refusing }),
    ...(refused === undefined ? {} : { refused }),
    ...(recovering === undefined ? {} : { recovering }),
    ...(recovered === undefined ? {} : { recovered }),
    ...(defragmenting === undefined ? {} : { defragmenting }),
    ...(compacting === undefined ? {} : { compacting }),
    ...(auth === undefined ? {} : { auth }),
  };
}
