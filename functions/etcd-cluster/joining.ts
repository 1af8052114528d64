// Questions about a cluster whose members join those of a legacy one, and what is told of it. Pure.
import { legacyNameOf, type OldMember } from '../../shared/api/etcd-joins.ts';
import type { PeerBootstrap } from '../../shared/api/etcd-peer.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { peerUrl } from './cluster.ts';
import type { Member } from './etcd-state.ts';
import { memberOf, membersOf, peerNameOf, type State } from './state.ts';

export const isJoining = ({ cluster }: Pick<State, 'cluster'>): boolean =>
  cluster.status.clusterId !== undefined && cluster.status.joining !== undefined;

const hasUrl =
  ({ peerUrls }: Member) =>
  ({ url }: OldMember): boolean =>
    peerUrls.includes(url);

/** Those that a quorum still counts. */
export function oldLeft(state: State, old: readonly OldMember[]): readonly OldMember[] {
  const members = membersOf(state);
  return old.filter((one) => members.some((member) => hasUrl(member)(one)));
}

/** Neither one of ours nor of before: somebody else added it. */
export const isForeign = (state: State, old: readonly OldMember[], member: Member): boolean =>
  peerNameOf(state, member) === undefined && !old.some(hasUrl(member));

/** A takeover that turns back has removed it, and takes its peer away with the EtcdCluster. */
export const isLeftAlone = (state: State, peer: string): boolean =>
  isJoining(state) && state.etcd.list !== undefined && memberOf(state, peer) === undefined;

/** For a member that has not started: all whom it joins, and itself. */
export function joiningBootstrap(
  { cluster }: Pick<State, 'cluster'>,
  old: readonly OldMember[],
  own: readonly string[],
  start: string,
): PeerBootstrap {
  const ours = own.map((name) => ({ name, url: peerUrl(cluster, name) }));
  return { state: 'Existing', token: cluster.uid, initialCluster: [...old, ...ours], start };
}

export const nextToJoin = (old: readonly OldMember[]): string =>
  `Join the members of ${old[0] === undefined ? 'before' : legacyNameOf(old[0])}`;

export function joiningReason(old: readonly OldMember[]): Reason {
  const names = listed(old.map(({ name }) => name));
  const message =
    `Of the members of before ${names} are counted. The takeover goes on: it adds members, which ` +
    'are started here, and then lets those of before leave. Nothing else is done meanwhile.';
  return { reason: 'Joining', message };
}
