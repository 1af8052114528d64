// A full database, in which etcd takes no more writes. The free part is given back first; if that
// is not enough, history before the newest revision is forgotten. The alarm ends when every member
// is well below its quota. A member counts what a compaction frees until the next write, and there
// is none: so those that are full all the same are defragmented once. Keys that fill them even then
// are told to a person. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { beginDefragmenting, quotaBytesOf } from './defragment.ts';
import type { Member, MemberAnswer } from './etcd-state.ts';
import { forget, remember } from './records.ts';
import { blockersOf, nameOf, unknownReason } from './safety.ts';
import {
  alarmsOf,
  answerOf,
  commonRevision,
  membersOf,
  peerNameOf,
  type State,
  votersOf,
} from './state.ts';

/** With less room the next writes would raise the alarm again. */
const ENOUGH_SHARE = 0.9;
/** Somebody who deletes keys makes revisions all the time, each of which could be forgotten. */
const COMPACTS_EVERY_MS = 60_000;

const SETTLES_MS = 10_000;

const NEXT = 'Make room';

/** Takes each step that helps; what cannot be helped is told last, by `reportSpace`. */
export function recoverSpace(state: State): Decision | undefined {
  const [alarm] = alarmsOf(state, 'NOSPACE');
  if (unknownReason(state) !== undefined) return undefined;
  if (alarm === undefined) return forgetCompacting(state);
  const members = membersOf(state);
  const isRoomy = (member: Member): boolean => isBelow(state, member, 'databaseBytes');
  if (members.every(isRoomy)) {
    const why = 'every member is below 90 % of its quota.';
    const step = { type: 'disarm', memberId: alarm.memberId, alarm: 'NOSPACE', why } as const;
    return { step, next: 'End the alarm NOSPACE' };
  }
  const large = votersOf(state).filter((member) => !isRoomy(member));
  const helped = large.filter((member) => isBelow(state, member, 'databaseBytesInUse'));
  return (
    beginDefragmenting(state, helped) ??
    compact(state) ??
    beginDefragmenting(state, countingHistory(state))
  );
}

/** False for a member that does not answer. */
function isBelow(
  state: State,
  member: Member,
  size: keyof Pick<MemberAnswer, 'databaseBytes' | 'databaseBytesInUse'>,
): boolean {
  const answer = answerOf(state, member);
  return answer !== undefined && answer[size] < quotaBytesOf(state, member) * ENOUGH_SHARE;
}

/** Members whose keys, and not the free part, take the space. */
export const fullMembers = (state: State): readonly Member[] =>
  membersOf(state).filter(
    (member) =>
      answerOf(state, member) !== undefined && !isBelow(state, member, 'databaseBytesInUse'),
  );

/** Members that have not been defragmented since the compaction, once that is over. */
function countingHistory(state: State): readonly Member[] {
  if (!isSettled(state)) return [];
  const { defragmented = [] } = state.cluster.status.compacting ?? {};
  return fullMembers(state).filter(
    (member) => !member.isLearner && !defragmented.includes(peerNameOf(state, member) ?? ''),
  );
}

function compact(state: State): Decision | undefined {
  if (fullMembers(state).length === 0 || isToGrow(state)) return undefined;
  const { compacting } = state.cluster.status;
  const revision = commonRevision(state);
  if (compacting !== undefined && state.etcd.upkeep?.isCompacted === false) {
    return { step: { type: 'compact', revision: compacting.revision }, next: NEXT };
  }
  const isOld =
    compacting === undefined || state.nowMs - Date.parse(compacting.since) >= COMPACTS_EVERY_MS;
  if (!isOld || revision <= BigInt(compacting?.revision ?? 1)) return undefined;
  const begun = { revision: String(revision), since: timestamp(state.nowMs) };
  return remember(state, { compacting: begun }, NEXT);
}

/** A larger quota is on its way to the members: nothing has to be forgotten. */
const isToGrow = (state: State): boolean =>
  votersOf(state).some(
    (member) => quotaBytesOf(state, member) < quantityOf(state.cluster.spec.quota),
  );

/** After the alarm. */
const forgetCompacting = (state: State): Decision | undefined =>
  state.cluster.status.compacting && forget(state, ['compacting'], NEXT);

export function reportSpace(state: State): Decision | undefined {
  if (alarmsOf(state, 'NOSPACE').length === 0) return undefined;
  const full = fullMembers(state);
  const isCertain = countingHistory(state).length === 0 || blockersOf(state).length > 0;
  if (full.length > 0 && isSettled(state) && isCertain) {
    const trouble = fullReason(state, full);
    return waitFor(NEXT, [trouble], trouble);
  }
  const message = 'The database is full, and takes no writes until there is room again.';
  return waitFor(NEXT, [...blockersOf(state), { reason: 'AlarmNOSPACE', message }]);
}

/** A compaction takes its time to free what it forgets. */
function isSettled({ cluster: { status }, etcd, nowMs }: State): boolean {
  const sinceMs = Date.parse(status.compacting?.since ?? '');
  return etcd.upkeep?.isCompacted === true && nowMs - sinceMs >= SETTLES_MS;
}

function fullReason(state: State, full: readonly Member[]): Reason {
  const { quota } = state.cluster.spec;
  const names = full.map((member) => nameOf(state, member)).join(', ');
  const largest = state.etcd.upkeep?.largest ?? 'not counted yet';
  const message =
    `By their own count ${names} use the quota of ${quota}, also after a compaction, and take no ` +
    `writes but deletions. Most keys: ${largest}. Write a larger spec.quota (with ` +
    'spec.storage.size twice as large), or delete keys: the rest is done then.';
  return { reason: 'AlarmNOSPACE', message };
}
