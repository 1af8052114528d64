// How a member leaves, whatever for. The one that goes is recorded with its claim; then the others
// forget it, then its peer goes with its pod, and its claim last: the recorded one and no other.
// Pure.
import type { LeavingMember } from '../../shared/api/etcd-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { CORRUPT, corruptAlarms, corruptionBlockers, corruptMember } from './corruption.ts';
import type { Decision } from './decision.ts';
import type { Member } from './etcd-state.ts';
import { moveLeader } from './move-leader.ts';
import { mustReplace } from './outdated.ts';
import { forget, remember } from './records.ts';
import { REFUSES } from './refusal.ts';
import { blockersOf, LOST, removalBlockers, unhealthyReason, unknownReason } from './safety.ts';
import { isInMemory } from './starts.ts';
import { labelLost } from './strays.ts';
import {
  byOrdinal,
  claimOf,
  leaderOf,
  memberOf,
  membersOf,
  type Peer,
  peerOf,
  podOf,
  type State,
  strayOf,
  votersOf,
} from './state.ts';
import { imageGate } from './upgrade.ts';

export const SCALE_DOWN = 'ScaleDown';
/** More than a member needs to end, and a kubelet to let its volume go. */
const ENDS_WITHIN_MS = 600_000;
/** Before the id in the mark of a claim that nobody goes on with. */
export const KEPT = 'removed-from-';

export function leavingRecord(
  state: State,
  { name, uid, status: { claimUid } }: Peer,
  { memberId, reason }: Pick<LeavingMember, 'memberId' | 'reason'>,
): LeavingMember {
  // The data of a member that somebody else removed is kept, and of one that refuses it; and so is
  // a claim of another life.
  const found = claimOf(state, name);
  const isItsOwn = memberId !== undefined && reason !== REFUSES && found?.uid === claimUid;
  const claim = isItsOwn ? found : undefined;
  return {
    peer: name,
    peerUid: uid,
    ...(memberId === undefined ? {} : { memberId }),
    ...(claim === undefined ? {} : { claim: claim.name, claimUid: claim.uid }),
    reason,
    since: timestamp(state.nowMs),
  };
}

/**
 * The one with the highest ordinal, which is a number: -10 goes before -9. In memory those go first
 * in whose place others have come.
 */
export function scaleDown(state: State): Decision | undefined {
  const { replicas } = state.cluster.spec;
  const voters = votersOf(state);
  const isUnknown = unknownReason(state) !== undefined;
  if (replicas === 0 || isUnknown || voters.length <= replicas) return undefined;
  const names = state.peers.flatMap(({ name }) => {
    const member = memberOf(state, name);
    return member === undefined || member.isLearner ? [] : name;
  });
  const name = names
    .toSorted((a, b) => urgency(state, a) - urgency(state, b) || byOrdinal(a, b))
    .at(-1);
  const peer = name === undefined ? undefined : peerOf(state, name);
  const member = name === undefined ? undefined : memberOf(state, name);
  if (peer === undefined || member === undefined) return undefined;
  const next = `Take ${peer.name} away`;
  const reasons = blockersOf(state, member.id);
  if (reasons.length > 0) return waitFor(next, reasons);
  const undecided = undecidedReason(state);
  if (undecided !== undefined) return waitFor(next, [undecided]);
  const leaving = leavingRecord(state, peer, { memberId: member.id, reason: SCALE_DOWN });
  return remember(state, { leaving }, next);
}

/** In memory, amid a change of the image: whether those of the former one go has to be known. */
export function undecidedReason(state: State): Reason | undefined {
  const images = new Set(state.peers.map(({ spec }) => spec.image));
  return isInMemory(state) && images.size > 1 ? imageGate(state)?.why : undefined;
}

/** The leader goes last. */
function urgency(state: State, name: string): number {
  const peer = peerOf(state, name);
  if (peer === undefined || !mustReplace(state, peer)) return 0;
  return memberOf(state, name)?.id === leaderOf(state)?.id ? 1 : 2;
}

/** Takes the mark off a claim whose member is gone: it stays, and nobody goes on with it. */
export function keepAside(state: State, name: string): Decision | undefined {
  const claim = claimOf(state, name);
  const { clusterId } = state.cluster.status;
  if (claim?.clusterId === undefined || claim.clusterId !== clusterId) return undefined;
  const next = `Keep claim ${claim.name} of a removed member aside`;
  return { step: { type: 'mark-claim', claim, clusterId: `${KEPT}${clusterId}` }, next };
}

/** Finishes what the status records. */
export function leave(state: State): Decision | undefined {
  const { leaving } = state.cluster.status;
  if (leaving === undefined) return undefined;
  const { peer: name, peerUid, claimUid } = leaving;
  const next = leaving.reason === SCALE_DOWN ? `Take ${name} away` : `Replace ${name}`;
  const unknown = unknownReason(state);
  if (unknown !== undefined) return waitFor(next, [unknown]);
  const live = memberOf(state, name);
  // Somebody added it anew: what is recorded is no longer about this member.
  if (live !== undefined && live.id !== leaving.memberId) return forget(state, ['leaving'], next);
  const removal = removeMember(state, leaving, next);
  if (removal !== undefined) return removal;
  const kept = leaving.reason === REFUSES ? keepAside(state, name) : undefined;
  if (kept !== undefined) return kept;
  const peer = peerOf(state, name);
  if (peer?.uid === peerUid && !peer.isEnding) {
    return { step: { type: 'delete-peer', peer }, next };
  }
  const stray = strayOf(state, name, 'Pod');
  if (stray !== undefined) return awaitEnd(state, leaving, next, labelLost(state, stray));
  if (peer?.uid === peerUid || podOf(state, name) !== undefined) {
    const message =
      `The pod of ${name} ends. Of a node that is gone for good, delete the Node, or give it the ` +
      'taint node.kubernetes.io/out-of-service.';
    return awaitEnd(state, leaving, next, { reason: 'PeerEnding', message });
  }
  const claim = state.claims.find(({ uid }) => uid === claimUid);
  if (claim !== undefined && !claim.isEnding) {
    return { step: { type: 'delete-claim', claim, server: name }, next };
  }
  if (claim !== undefined) {
    const message = `Claim ${claim.name} is about to end; see its finalizers if it does not.`;
    return awaitEnd(state, leaving, next, { reason: 'ClaimEnding', message });
  }
  return awaitAlarm(state, leaving, next) ?? forget(state, ['leaving'], next);
}

/** The member is removed, and what is left of it may wait for a node that is gone. */
function awaitEnd(state: State, { since }: LeavingMember, next: string, ending: Reason): Decision {
  const isLate = state.nowMs - Date.parse(since) > ENDS_WITHIN_MS;
  return waitFor(next, [ending], isLate ? ending : undefined);
}

/** Only the record tells that the alarm of a corrupt member may end, whomever it is for. */
function awaitAlarm(state: State, { reason }: LeavingMember, next: string): Decision | undefined {
  if (reason !== CORRUPT || corruptAlarms(state).length === 0) return undefined;
  const found = corruptMember(state);
  return 'reason' in found ? waitFor(next, [found]) : undefined;
}

function removeMember(state: State, leaving: LeavingMember, next: string): Decision | undefined {
  const { peer: name, memberId } = leaving;
  const member = membersOf(state).find(({ id }) => id === memberId);
  if (member === undefined) return undefined;
  if (isWantedAgain(state, leaving)) return forget(state, ['leaving'], next);
  if (isBack(state, leaving, member)) return forget(state, ['leaving'], next);
  const reasons = leavingBlockers(state, leaving, member);
  // Another one was lost meanwhile: nothing is done yet, and that one is replaced first. Learners
  // go before that, for nobody is replaced while one is unfinished.
  const isVoter = leaving.reason === SCALE_DOWN && !member.isLearner;
  const isLater = isVoter && reasons.some(({ reason }) => reason === LOST);
  if (isLater) return forget(state, ['leaving'], `${next}: leave it off`);
  if (reasons.length > 0) return waitFor(next, reasons);
  return (
    moveLeader(state, name, next) ?? {
      step: { type: 'remove-member', peer: name, memberId: member.id },
      next,
    }
  );
}

/** A member that was lost came back meanwhile, or somebody ended the alarm for a corrupt one. */
function isBack(state: State, { reason }: LeavingMember, member: Member): boolean {
  if (reason === CORRUPT) return corruptAlarms(state).length === 0;
  const isHealthy = unhealthyReason(state, member) === undefined;
  return reason !== SCALE_DOWN && isHealthy && !member.isLearner;
}

function leavingBlockers(state: State, { reason }: LeavingMember, { id, isLearner }: Member) {
  // Learners do not wait for one another.
  if (reason === SCALE_DOWN && !isLearner) return blockersOf(state, id);
  return reason === CORRUPT ? corruptionBlockers(state, id) : removalBlockers(state, id);
}

/** Nothing has been done yet, and the spec has room for it again. */
const isWantedAgain = (state: State, { reason }: LeavingMember): boolean =>
  reason === SCALE_DOWN && membersOf(state).length <= state.cluster.spec.replicas;
