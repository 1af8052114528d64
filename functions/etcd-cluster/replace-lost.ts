// Members whose data is lost, and such as the others no longer know: they are recorded as leaving,
// and others join in their places. Pure.
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { keepAside, leavingRecord } from './leave.ts';
import { remember } from './records.ts';
import { removalBlockers, unknownReason } from './safety.ts';
import { answerOf, isVanished, memberOf, peerNameOf, type State, votersOf } from './state.ts';

/** A member whose data is lost is removed while the others are whole; another one joins later. */
export function replaceLost(state: State): Decision | undefined {
  if (unknownReason(state) !== undefined) return undefined;
  const peer = state.peers.find(({ name }) => isLost(state, name));
  if (peer === undefined) return replaceVanished(state);
  const member = memberOf(state, peer.name);
  const next = `Replace ${peer.name}`;
  const reasons = removalBlockers(state, member?.id);
  if (reasons.length > 0) return waitFor(next, reasons);
  if (member === undefined) {
    const kept = keepAside(state, peer.name);
    if (kept !== undefined) return kept;
  }
  const reason =
    state.lost.get(peer.name) ?? 'The others have removed it, so its data is of no use to them.';
  const leaving = leavingRecord(state, peer, {
    ...(member === undefined ? {} : { memberId: member.id }),
    reason,
  });
  return remember(state, { leaving }, next);
}

/** A voter of which neither peer, pod nor claim is left: nobody brings it back. */
function replaceVanished(state: State): Decision | undefined {
  const member = votersOf(state).find((one) => {
    const name = peerNameOf(state, one) ?? '';
    return name !== '' && isVanished(state, name);
  });
  if (member === undefined) return undefined;
  const peer = peerNameOf(state, member) ?? '';
  const next = `Replace ${peer}`;
  const reasons = removalBlockers(state, member.id);
  if (reasons.length > 0) return waitFor(next, reasons);
  const reason = 'Neither its EtcdPeer nor its claim is there any more.';
  const since = timestamp(state.nowMs);
  const leaving = { peer, peerUid: '', memberId: member.id, reason, since };
  return remember(state, { leaving }, next);
}

/** Its volume cannot come back, or the others no longer count it. */
function isLost(state: State, name: string): boolean {
  const member = memberOf(state, name);
  if (member === undefined) return true;
  return state.lost.has(name) && answerOf(state, member) === undefined;
}
