// More members: each joins as a learner, which the others do not wait for, and votes once it has
// caught up. The others know of it before it starts, so whatever dies in between, the list of
// members tells what is left to do. One joins after another, but for those that join the first
// member of all. Pure.
import { ORDINALS } from '../../shared/api/etcd-names.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { peerName, peerUrl } from './cluster.ts';
import type { Decision } from './decision.ts';
import type { Member } from './etcd-state.ts';
import { leavingRecord } from './leave.ts';
import { isOutdated, mustReplace } from './outdated.ts';
import { remember } from './records.ts';
import { correct } from './roll.ts';
import { existingBootstrap, makePeer } from './peer-spec.ts';
import {
  awayReason,
  blockersOf,
  foreignReason,
  lagOf,
  nameOf,
  promotionBlockers,
  unknownReason,
} from './safety.ts';
import { isInMemory, isStartKnown, openStart, startOfMember } from './starts.ts';
import {
  answerOf,
  claimOf,
  learnersOf,
  membersOf,
  namesOf,
  type Peer,
  peerNameOf,
  peerOf,
  type State,
  votersOf,
} from './state.ts';
import { versionIn } from '../../shared/etcd/version.ts';

/** A learner that is so close has all but what is being written. */
const CAUGHT_UP_ENTRIES = 1_000;

/** Learners are finished before anything else begins. */
export function finishLearner(state: State): Decision | undefined {
  const learners = learnersOf(state);
  if (learners.length === 0 || unknownReason(state) !== undefined) return undefined;
  // Nobody votes beside the first member until all are added.
  if (isGathering(state, learners)) {
    const starting = learners.find((one) => answerOf(state, one) === undefined);
    return starting === undefined ? addAnother(state) : finish(state, starting);
  }
  const decisions = learners.map((learner) => finish(state, learner));
  return decisions.find(({ step }) => step !== undefined) ?? decisions[0];
}

/**
 * etcd takes a learner at once while a single member votes, and later one in five seconds. Each is
 * added when the one before runs: at its start it asks all others for their version, and waits ten
 * seconds for one that starts at the same time.
 */
function isGathering(state: State, learners: readonly Member[]): boolean {
  const [first, ...others] = votersOf(state);
  const peer = first && peerOf(state, peerNameOf(state, first) ?? '');
  if (peer === undefined || others.length > 0) return false;
  const isKnown = learners.every((one) => peerNameOf(state, one) !== undefined);
  const isMore = learners.length + 1 < state.cluster.spec.replicas;
  return isKnown && isMore && mayHaveLearners(state, peer);
}

const addAnother = (state: State): Decision =>
  addLearner(state, `Add ${nextName(state)} beside the others`, promotionBlockers(state, ''));

/** Its pod was made with the flag for it, which 3.5 does not know. */
function mayHaveLearners(state: State, peer: Peer): boolean {
  const version = versionIn(peer.spec.image);
  const is35 = version?.major === 3 && version.minor < 6;
  return !is35 && peer.spec.bootstrap.start !== undefined && !isOutdated(state, peer);
}

function finish(state: State, learner: Member): Decision {
  const name = peerNameOf(state, learner);
  const next = `Let ${nameOf(state, learner)} join`;
  if (name === undefined) {
    const trouble = foreignReason(state, learner);
    return waitFor(next, [trouble], trouble);
  }
  const peer = peerOf(state, name);
  if (peer === undefined) return start(state, learner, name, next);
  return (
    giveUp(state, learner, peer) ??
    // One in memory would lose what it has.
    (isInMemory(state) ? undefined : correct(state, peer, next)) ??
    promote(state, learner, name, next)
  );
}

function start(state: State, learner: Member, name: string, next: string): Decision {
  const claim = claimOf(state, name);
  if (claim?.isEnding === true) {
    const message = `Claim ${claim.name} of a former member is about to end.`;
    return waitFor(next, [{ reason: 'ClaimEnding', message }]);
  }
  const among = existingBootstrap(state, namesOf(state, membersOf(state)));
  const bootstrap = { ...among, start: startOfMember(name, learner) };
  return openStart(state, bootstrap, next) ?? makePeer(state, name, bootstrap, next);
}

/** A learner that can never start; another one takes its place. */
function giveUp(state: State, learner: Member, peer: Peer): Decision | undefined {
  const why =
    state.lost.get(peer.name) ??
    misledReason(state, learner, peer) ??
    staleReason(state, learner, peer);
  if (why === undefined) return undefined;
  const leaving = leavingRecord(state, peer, { memberId: learner.id, reason: why });
  return remember(state, { leaving }, `Replace ${peer.name}`);
}

/** Its volume is empty, and it was not told of all whom it has to join: etcd ends with an error. */
function misledReason(
  state: State,
  learner: Member,
  { name, spec: { bootstrap } }: Peer,
): string | undefined {
  const hasData = claimOf(state, name)?.clusterId !== undefined;
  if (hasData || answerOf(state, learner) !== undefined) return undefined;
  const told = bootstrap.initialCluster.map(({ url }) => url);
  const isTold = ({ peerUrls }: Member): boolean => peerUrls.some((url) => told.includes(url));
  return membersOf(state).every(isTold) ? undefined : 'It was not told of all other members.';
}

/** One that has nothing yet may go; in memory it would lose by a restart what it has. */
function staleReason(state: State, learner: Member, peer: Peer): string | undefined {
  if (peer.spec.bootstrap.start === undefined) return undefined;
  const isItsOwn = peer.spec.bootstrap.start === startOfMember(peer.name, learner);
  if (!isItsOwn) return 'Its EtcdPeer was made for another member.';
  if (answerOf(state, learner) !== undefined) return undefined;
  if (mustReplace(state, peer)) return 'It has not started, and the spec is another one by now.';
  return isStartKnown(state, peer) ? undefined : 'It has not started, and nothing says how by now.';
}

/** Its start is closed by now: that comes before, once it answers. */
function promote(state: State, learner: Member, name: string, next: string): Decision {
  if (answerOf(state, learner) === undefined) return waitFor(next, [awayReason(state, name)]);
  const behind = lagOf(state, learner);
  if (behind > CAUGHT_UP_ENTRIES) {
    const message = `${name} is ${behind} entries behind the others, and catches up.`;
    return waitFor(next, [{ reason: 'LearnerBehind', message }]);
  }
  const reasons = promotionBlockers(state, learner.id);
  if (reasons.length > 0) return waitFor(next, reasons);
  return { step: { type: 'promote', peer: name, memberId: learner.id }, next };
}

export function scaleUp(state: State): Decision | undefined {
  const { cluster } = state;
  const { replicas } = cluster.spec;
  const size = votersOf(state).length;
  const old = replicas === size ? state.peers.find((peer) => mustReplace(state, peer)) : undefined;
  const isEnough = size >= replicas && old === undefined;
  if (isEnough || unknownReason(state) !== undefined) return undefined;
  const name = nextName(state);
  const next =
    old === undefined
      ? `Add ${name}, member ${size + 1} of ${replicas}`
      : `Add ${name} in place of ${old.name}`;
  return addLearner(state, next, blockersOf(state));
}

function addLearner(state: State, next: string, reasons: readonly Reason[]): Decision {
  const ordinal = freeOrdinal(state);
  if (ordinal >= ORDINALS) return waitFor(next, [NO_ORDINAL], NO_ORDINAL);
  if (reasons.length > 0) return waitFor(next, reasons);
  const peer = peerName(state.cluster, ordinal);
  return { step: { type: 'add-learner', peer, url: peerUrl(state.cluster, peer) }, next };
}

const nextName = (state: State): string => peerName(state.cluster, freeOrdinal(state));

/** Certificates name so many members. */
const NO_ORDINAL = {
  reason: 'NoFreeOrdinal',
  message:
    `The first ${ORDINALS} names of members are taken by claims that nobody uses; delete those ` +
    'whose data is not wanted.',
};

/** The lowest that has neither a member, nor a peer, nor a claim with somebody's data. */
function freeOrdinal(state: State): number {
  const members = namesOf(state, membersOf(state));
  const isTaken = (name: string): boolean =>
    members.includes(name) ||
    peerOf(state, name) !== undefined ||
    state.strays.some(({ peer }) => peer === name) ||
    claimOf(state, name) !== undefined;
  let ordinal = 0;
  while (isTaken(peerName(state.cluster, ordinal))) ordinal += 1;
  return ordinal;
}
