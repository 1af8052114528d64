// Replaces a member whose data differs from that of the others, once a quorum of these agrees by
// the hash of all keys at one revision and compaction. In doubt it waits, and says what each has.
// The alarm ends when all members that are left agree. Pure.
import type { LeavingMember } from '../../shared/api/etcd-cluster.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import {
  allAgree,
  CORRUPT,
  corruptAlarms,
  corruptionBlockers,
  corruptMember,
} from './corruption.ts';
import type { Decision } from './decision.ts';
import type { Member } from './etcd-state.ts';
import { leavingRecord } from './leave.ts';
import { remember } from './records.ts';
import { foreignReason, unknownReason } from './safety.ts';
import { membersOf, peerNameOf, peerOf, type State } from './state.ts';

export function replaceCorrupt(state: State): Decision | undefined {
  if (corruptAlarms(state).length === 0 || unknownReason(state) !== undefined) return undefined;
  const ended = endAlarm(state);
  if (ended !== undefined) return ended;
  const { leaving } = state.cluster.status;
  // A removal that has been done, or is decided on for this reason, goes on.
  if (leaving !== undefined && (!isMember(state, leaving) || leaving.reason === CORRUPT)) {
    return undefined;
  }
  const found = corruptMember(state);
  if (!('reason' in found)) return recordCorrupt(state, found);
  return waitFor('Find out which member is corrupt', [found], found);
}

const isMember = (state: State, { memberId }: LeavingMember): boolean =>
  membersOf(state).some(({ id }) => id === memberId);

function recordCorrupt(state: State, member: Member): Decision {
  const name = peerNameOf(state, member) ?? '';
  const peer = peerOf(state, name);
  const next = `Replace ${name}`;
  if (peer === undefined) {
    const trouble = foreignReason(state, member);
    return waitFor(next, [trouble], trouble);
  }
  const reasons = corruptionBlockers(state, member.id);
  if (reasons.length > 0) return waitFor(next, reasons);
  const leaving = leavingRecord(state, peer, { memberId: member.id, reason: CORRUPT });
  return remember(state, { leaving }, next);
}

/** It stays when its member is removed, and would keep all others from writing. */
function endAlarm(state: State): Decision | undefined {
  const { leaving } = state.cluster.status;
  const isReplaced = leaving?.reason === CORRUPT && !isMember(state, leaving);
  const [alarm] = corruptAlarms(state).filter(
    ({ memberId }) => isReplaced || !membersOf(state).some(({ id }) => id === memberId),
  );
  const isKnown = alarm !== undefined && (isReplaced || alarm.memberId !== '0');
  if (!isKnown || !allAgree(state)) return undefined;
  const why = 'that member is removed, and all others have the same data.';
  const step = { type: 'disarm', memberId: alarm.memberId, alarm: 'CORRUPT', why } as const;
  return { step, next: 'End the alarm CORRUPT' };
}
