// Defragmentation: a member copies its database without the free part, and serves nobody meanwhile.
// So it is one member at a time, recorded before, after the leader has handed over, and never while
// another one is away. Pure.
import type { DefragmentingMember } from '../../shared/api/etcd-cluster.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import type { Member, MemberAnswer } from './etcd-state.ts';
import { moveLeader } from './move-leader.ts';
import { forget, remember } from './records.ts';
import { awayReason, nameOf, restartBlockers, unhealthyReason, unknownReason } from './safety.ts';
import {
  answerOf,
  byOrdinal,
  leaderOf,
  membersOf,
  peerNameOf,
  peerOf,
  podOf,
  type State,
  votersOf,
} from './state.ts';

/** The pause is only worth it for so much, and for so large a share of the database. */
const FREE_BYTES_MIN = 100 * 2 ** 20;
const FREE_SHARE = 0.5;
/** etcd counts the free part too: near the quota less of it is worth it. */
const NEAR_QUOTA_SHARE = 0.8;
const NEAR_QUOTA_FREE_SHARE = 0.2;
/** As long as the kubelet lets a member hang. */
const LATE_MS = 900_000;

/** The quota that etcd runs with, as far as it tells; otherwise that of its peer. */
export function quotaBytesOf(state: State, member: Member): number {
  const { spec } = peerOf(state, peerNameOf(state, member) ?? '') ?? state.cluster;
  return answerOf(state, member)?.quotaBytes ?? quantityOf(spec.quota);
}

/** Goes on with what the status records. */
export function goOnDefragmenting(state: State): Decision | undefined {
  const { defragmenting } = state.cluster.status;
  if (defragmenting === undefined) return undefined;
  const { peer, memberId, databaseBytes, since } = defragmenting;
  const next = `Defragment ${peer}`;
  const unknown = unknownReason(state);
  if (unknown !== undefined) return waitFor(next, [unknown]);
  const member = membersOf(state).find(({ id }) => id === memberId);
  if (member === undefined || isGone(state, defragmenting))
    return forget(state, ['defragmenting'], next);
  const isLate = state.nowMs - Date.parse(since) > LATE_MS;
  const answer = answerOf(state, member);
  const { busy, isDefragmented } = state.etcd.upkeep ?? {};
  if (busy === peer) return awaitCopy(defragmenting, next, isLate);
  if (answer === undefined && !isLate) return waitFor(next, [awayReason(state, peer)]);
  const isSmaller = answer !== undefined && answer.databaseBytes < databaseBytes;
  if (isSmaller || isDefragmented === true) return forgetDone(state, peer, next);
  // Without a step taken yet, whatever keeps it from being taken comes first.
  if (isLate || blockersFor(state, member).length > 0) {
    return forget(state, ['defragmenting'], next);
  }
  return { step: { type: 'defragment', peer, memberId }, next };
}

/** After a compaction it is noted that this one holds keys and no history any more. */
function forgetDone(state: State, peer: string, next: string): Decision {
  const { compacting } = state.cluster.status;
  if (compacting === undefined) return forget(state, ['defragmenting'], next);
  const defragmented = [...new Set([...(compacting.defragmented ?? []), peer])];
  const noted = { compacting: { ...compacting, defragmented } };
  return forget(state, ['defragmenting'], next, noted);
}

/** It ends with its pod, and begins only when it is decided on again. */
function isGone(state: State, { peer }: DefragmentingMember): boolean {
  const pod = podOf(state, peer);
  return pod === undefined || pod.isEnding || state.lost.has(peer);
}

function awaitCopy({ peer, since }: DefragmentingMember, next: string, isLate: boolean): Decision {
  const message = `${peer} copies its database since ${since}, and serves nobody meanwhile.`;
  const reason = { reason: 'Defragmenting', message };
  if (!isLate) return waitFor(next, [reason]);
  const late = `${message} That is too long: see its log and its disk, or delete its pod.`;
  return waitFor(next, [reason], { reason: 'DefragmentationLate', message: late });
}

const blockersFor = (state: State, member: Member) => {
  const own = unhealthyReason(state, member);
  return [...(own === undefined ? [] : [own]), ...restartBlockers(state, member.id)];
};

/** The first of these members, the leader last; undefined while something is in the way. */
export function beginDefragmenting(state: State, members: readonly Member[]): Decision | undefined {
  const leader = leaderOf(state);
  const leads = ({ id }: Member): number => (id === leader?.id ? 1 : 0);
  const [member] = members.toSorted(
    (a, b) => leads(a) - leads(b) || byOrdinal(nameOf(state, a), nameOf(state, b)),
  );
  const peer = member && peerNameOf(state, member);
  const answer = member && answerOf(state, member);
  if (member === undefined || peer === undefined || answer === undefined) return undefined;
  if (blockersFor(state, member).length > 0) return undefined;
  const next = `Defragment ${peer}`;
  const { databaseBytes } = answer;
  const since = timestamp(state.nowMs);
  const defragmenting = { peer, memberId: member.id, databaseBytes, since };
  return moveLeader(state, peer, next) ?? remember(state, { defragmenting }, next);
}

/** When much of a database is free, and nothing else is to be done. */
export function defragment(state: State): Decision | undefined {
  const { defragmentation, replicas } = state.cluster.spec;
  const { mode, window } = defragmentation;
  if (mode === 'None' || replicas === 0 || unknownReason(state) !== undefined) return undefined;
  if (window !== undefined && !isWithin(window, state.nowMs)) return undefined;
  const worthy = votersOf(state).filter((member) => {
    const answer = answerOf(state, member);
    return answer !== undefined && isWorthIt(answer, quotaBytesOf(state, member));
  });
  return beginDefragmenting(state, worthy);
}

function isWorthIt(answer: MemberAnswer, quotaBytes: number): boolean {
  const { databaseBytes, databaseBytesInUse } = answer;
  const freeBytes = databaseBytes - databaseBytesInUse;
  if (freeBytes >= FREE_BYTES_MIN && freeBytes >= databaseBytes * FREE_SHARE) return true;
  const isNearQuota = databaseBytes >= quotaBytes * NEAR_QUOTA_SHARE;
  return isNearQuota && freeBytes >= databaseBytes * NEAR_QUOTA_FREE_SHARE;
}

/** `22:00-02:00` goes over midnight. */
function isWithin(window: string, nowMs: number): boolean {
  const time = timestamp(nowMs).slice(11, 16);
  const [from = '', to = ''] = window.split('-');
  return from <= to ? time >= from && time < to : time >= from || time < to;
}
