// How members start without data. One that loses its data forgets its votes, and may start again
// in the same pod: on a volume that was emptied, or in memory when its node has no power for a
// moment. So what it is told stands in a Secret, which the kubelet reads at each start of a
// container: open until the member has joined, and closed for good before anybody relies on it.
// With a closed start etcd ends with an error unless it finds data, and nobody restarts for it.
// Pure.
import { STARTS_SUFFIX } from '../../shared/api/etcd-names.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import {
  newSecret,
  type OwnSecret,
  renewedSecret,
  type SecretData,
} from '../../shared/stateful/certificates/secret-data.ts';
import type { PeerBootstrap } from '../../shared/api/etcd-peer.ts';
import type { Cluster } from './cluster.ts';
import type { Decision } from './decision.ts';
import type { Member } from './etcd-state.ts';
import { isJoining } from './joining.ts';
import { ownerOf } from './owner.ts';
import {
  answerOf,
  learnersOf,
  memberOf,
  membersOf,
  type Peer,
  peerNameOf,
  type State,
} from './state.ts';

export const isInMemory = ({ cluster }: Pick<State, 'cluster'>): boolean =>
  cluster.spec.storage.medium === 'Memory';

/** The first of all is one of others from now on. */
const BORN = 'existing';

/** The first of all is told how, and others among whom. */
function told({ state, initialCluster }: PeerBootstrap): string {
  if (state === 'New') return 'new';
  return initialCluster.map(({ name, url }) => `${name}=${url}`).join(',');
}

/** With itself alone in the list, of others who know it, etcd finds no cluster. */
function closed(name: string, { state, initialCluster }: PeerBootstrap): string {
  if (state === 'New') return BORN;
  return told({
    state,
    token: '',
    initialCluster: initialCluster.filter((one) => one.name === name),
  });
}

/** A key is for one life of a member: nothing is opened a second time, whoever has old reads. */
export const startOfMember = (peer: string, { id }: Pick<Member, 'id'>): string =>
  `${peer}.${hexOf(id)}`;

/** Before its peer is made; undefined once it is open, or closed already. */
export function openStart(
  state: State,
  bootstrap: PeerBootstrap,
  next: string,
): Decision | undefined {
  const { start } = bootstrap;
  const { starts } = state.parts;
  if (start === undefined || starts?.data[start] !== undefined) return undefined;
  return write(state, { ...inUse(state, starts), [start]: told(bootstrap) }, next);
}

/**
 * Those of members that are gone go when another one joins. That of the birth stays, and that of a
 * learner whose peer an old read may not show.
 */
function inUse(state: State, starts: OwnSecret | undefined): SecretData {
  const keys = [
    state.cluster.status.bootstrap?.seed,
    ...state.peers.map(({ spec }) => spec.bootstrap.start),
    ...(isJoining(state) ? membersOf : learnersOf)(state).map((one) =>
      startOfMember(peerNameOf(state, one) ?? '', one),
    ),
  ];
  return Object.fromEntries(
    Object.entries(starts?.data ?? {}).filter(([key]) => keys.includes(key)),
  );
}

/** Somebody may have deleted the Secret: its container does not start then. */
export const isStartKnown = (
  { parts: { starts } }: State,
  { spec: { bootstrap } }: Peer,
): boolean => bootstrap.start === undefined || starts?.data[bootstrap.start] !== undefined;

/** As soon as a member has joined, and so before it votes, or clients are let in. */
export function closeStarts(state: State): Decision | undefined {
  const { clusterId, bootstrap } = state.cluster.status;
  const seed = clusterId !== undefined && isToldHow(state) ? bootstrap?.seed : undefined;
  if (seed !== undefined && state.parts.starts?.data[seed] !== BORN) {
    return close(state, seed, { [seed]: BORN });
  }
  const open = state.peers.find(
    (peer) => peer.isOurs && mustClose(state, peer) && !isClosed(state.parts.starts, peer),
  );
  const { start } = open?.spec.bootstrap ?? {};
  if (open === undefined || start === undefined) return undefined;
  return close(state, open.name, { [start]: closed(open.name, open.spec.bootstrap) });
}

/** In memory also when the first member is gone: there is no other birth. */
const isToldHow = (state: State): boolean =>
  isInMemory(state) ||
  state.peers.some(
    ({ isOurs, spec: { bootstrap } }) =>
      isOurs && bootstrap.state === 'New' && bootstrap.start !== undefined,
  );

const close = (state: State, name: string, more: SecretData): Decision =>
  write(state, { ...state.parts.starts?.data, ...more }, `Let ${name} start with its data alone`);

/** It starts with its data alone. */
export const isClosed = (
  starts: OwnSecret | undefined,
  { name, spec: { bootstrap } }: Pick<Peer, 'name' | 'spec'>,
): boolean =>
  bootstrap.start === undefined || starts?.data[bootstrap.start] === closed(name, bootstrap);

/**
 * A key that somebody deleted is written where no quorum tells who has joined: no container starts
 * without it, and no quorum comes back. A learner that had not joined is replaced later.
 */
function mustClose(state: State, peer: Peer): boolean {
  const isUntold = state.etcd.list === undefined && state.cluster.status.clusterId !== undefined;
  return hasJoined(state, peer) || (isUntold && !isStartKnown(state, peer));
}

/** A member tells the others its name once it has what they have told it so far. */
function hasJoined(state: State, { name }: Peer): boolean {
  const member = memberOf(state, name);
  if (member === undefined) return false;
  // A legacy cluster knows no learners: who joins it votes before it has started.
  const isVoter = !member.isLearner && !isJoining(state);
  return isVoter || member.name !== '' || answerOf(state, member) !== undefined;
}

/**
 * Clients are let in when the first member cannot be born a second time: it is told so, or nothing,
 * and then its container does not start.
 */
export const isBirthOver = (
  { status }: Pick<Cluster, 'status'>,
  starts: OwnSecret | undefined,
): boolean => {
  const how = starts?.data[status.bootstrap?.seed ?? ''];
  return status.clusterId !== undefined && (how === undefined || how === BORN);
};

function write({ cluster, parts: { starts } }: State, data: SecretData, next: string): Decision {
  const owner = ownerOf(cluster);
  const secret =
    starts === undefined
      ? newSecret(owner, STARTS_SUFFIX, data)
      : renewedSecret(owner, STARTS_SUFFIX, starts, data);
  return { step: { type: 'make-secret', secret }, next };
}
