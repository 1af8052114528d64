// More members: each joins as a learner, which the others do not wait for, and votes once it has
// caught up. The others know of it before it starts, so whatever dies in between, the list of
// members tells what is left to do. One joins after another, but for those that join the first
// member of all. Pure.
import { ORDINALS } from '../../shared/api/etcd-names.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { ordinalOf, peerName, peerUrl } from './cluster.ts';
import type { Decision } from './decision.ts';
import type { Member } from './etcd-state.ts';
import { leavingRecord, SCALE_DOWN, undecidedReason } from './leave.ts';
import { isOutdated, mustReplace } from './outdated.ts';
import { remember } from './records.ts';
import { EMPTY, refusalIn } from './refusal.ts';
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
import { isClosed, isInMemory, isStartKnown, openStart, startOfMember } from './starts.ts';
import {
  answerOf,
  claimOf,
  learnersOf,
  membersOf,
  namesOf,
  type Peer,
  peerNameOf,
  peerOf,
  podOf,
  type State,
  votersOf,
} from './state.ts';
import { goingDownReason } from './upgrade.ts';
import { versionIn } from '../../shared/etcd/version.ts';

/** A learner that is so close has all but what is being written. */
const CAUGHT_UP_ENTRIES = 1_000;

/** Learners are finished before anything else begins. */
export function finishLearner(state: State): Decision | undefined {
  const learners = learnersOf(state).toSorted((a, b) => ordinalIn(state, a) - ordinalIn(state, b));
  if (learners.length === 0 || unknownReason(state) !== undefined) return undefined;
  // Nobody votes beside the first member until all are added. One that does not start holds up
  // nobody: those that do could be a quorum.
  if (isGathering(state, learners)) {
    // Another one beside it would be told of a member that can never come.
    const lost = learners.find((one) => state.lost.has(peerNameOf(state, one) ?? ''));
    if (lost !== undefined) return finish(state, lost);
    const starting = learners.find(
      (one) => answerOf(state, one) === undefined && !isLate(state, one),
    );
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
  const isGoingDown = goingDownReason(state) !== undefined;
  return isKnown && isMore && !isGoingDown && mayHaveLearners(state, peer);
}

const ordinalIn = (state: State, one: Member): number => ordinalOf(peerNameOf(state, one) ?? '');

/** Longer than pulling its image takes. */
const STARTS_WITHIN_MS = 60_000;

/** No node may have room for it, for ever. */
function isLate({ cluster, nowMs }: State, learner: Member): boolean {
  const { members = [] } = cluster.status;
  const name = peerNameOf({ cluster }, learner);
  const { startingSince = '' } = members.find((one) => one.name === name) ?? {};
  return nowMs - Date.parse(startingSince) > STARTS_WITHIN_MS;
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
  const surplus = isWanted(state) ? undefined : SCALE_DOWN;
  const why =
    surplus ??
    state.lost.get(peer.name) ??
    misledReason(state, learner, peer) ??
    staleReason(state, learner, peer) ??
    refusedReason(state, peer);
  if (why === undefined) return undefined;
  const leaving = leavingRecord(state, peer, { memberId: learner.id, reason: why });
  const next = surplus === undefined ? `Replace ${peer.name}` : `Take ${peer.name} away`;
  return remember(state, { leaving }, next);
}

/** Otherwise as many as the spec has vote already, and none of them is to be replaced. */
const isWanted = (state: State): boolean =>
  votersOf(state).length < state.cluster.spec.replicas ||
  undecidedReason(state) !== undefined ||
  state.peers.some((peer) => mustReplace(state, peer));

/** After the first start: the kubelet waits in between. */
const MORE_STARTS = 2;

/**
 * It has no vote, and what it has the others have, so it goes without a record, also again. One
 * that is to find others may only not have reached them yet.
 */
function refusedReason(state: State, peer: Peer): string | undefined {
  const { crash } = podOf(state, peer.name) ?? {};
  const why = refusalIn(crash);
  if (crash === undefined || why === undefined || state.etcd.answers.has(peer.name)) {
    return undefined;
  }
  const isProof = why !== EMPTY || isClosed(state.parts.starts, peer);
  const isSure = isProof && !crash.isUp && crash.restarts >= MORE_STARTS;
  return isSure ? `It cannot start as a learner: ${why}.` : undefined;
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
  const down = goingDownReason(state);
  if (down === undefined) return addLearner(state, next, blockersOf(state));
  return state.peers.some((peer) => isOutdated(state, peer)) ? undefined : waitFor(next, [down]);
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
