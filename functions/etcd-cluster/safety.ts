// Safety checks: the reasons why no member may be added, promoted, removed or restarted now, in
// sentences that name the member. Everything that cannot be observed is a blocker. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { Member } from './etcd-state.ts';
import { refusalIn } from './refusal.ts';
import { labelLost } from './strays.ts';
import {
  answerOf,
  claimOf,
  learnersOf,
  memberOf,
  membersOf,
  peerNameOf,
  podOf,
  type State,
  strayOf,
  votersOf,
} from './state.ts';

/** Too few would be left while one is away: only more members help, or fewer. */
export const AT_RISK = 'QuorumAtRisk';

/** The data of a member cannot come back: another one is to take its place. */
export const LOST = 'VolumeLost';

/** Entries of the Raft log that a healthy follower may be behind: a busy one is, a little. */
const BEHIND_MAX = 5_000;

/** Blockers of removing the member with this id, or, without one, of any change of members. */
export function blockersOf(state: State, without?: string): readonly Reason[] {
  const unknown = unknownReason(state);
  if (unknown !== undefined) return [unknown];
  const voters = votersOf(state);
  const others = voters.filter(({ id }) => id !== without);
  const away = others.flatMap((member) => unhealthyReason(state, member) ?? []);
  const learners = learnersOf(state).filter(({ id }) => id !== without);
  return [...away, ...learners.map((member) => unfinished(state, member))];
}

const unfinished = (state: State, member: Member): Reason => ({
  reason: 'LearnerUnfinished',
  message: `${nameOf(state, member)} does not vote yet.`,
});

/** Why a peer is no healthy voter: what its member told of itself, else why it tells nothing. */
export function lackingReason(state: State, peer: string): Reason {
  const member = memberOf(state, peer);
  if (member === undefined || answerOf(state, member) === undefined) return awayReason(state, peer);
  if (member.isLearner) return unfinished(state, member);
  return unhealthyReason(state, member) ?? awayReason(state, peer);
}

/** Blockers of ending a member's pod for a while: it goes on counting as a voter meanwhile. */
export function restartBlockers(state: State, id: string | undefined): readonly Reason[] {
  const member = membersOf(state).find((one) => one.id === id);
  const peer = member && peerNameOf(state, member);
  const claim = peer === undefined ? undefined : claimOf(state, peer);
  const ending = claim?.isEnding === true ? [claimEnding(claim.name)] : [];
  return [...blockersOf(state, id), ...ending, ...quorumBlockers(state, id)];
}

/**
 * Blockers of removing a member that is lost. Others that are lost may wait for their turn, as long
 * as more than half of all voters are healthy without this one. Learners do not wait for one
 * another.
 */
export function removalBlockers(state: State, id: string | undefined): readonly Reason[] {
  const voters = votersOf(state);
  const isLearner = !voters.some((one) => one.id === id);
  const healthy = voters.filter(
    (one) => one.id !== id && unhealthyReason(state, one) === undefined,
  );
  const hasQuorum = healthy.length > voters.length / 2;
  return blockersOf(state, id).filter(
    ({ reason }) =>
      !(isLearner && reason === 'LearnerUnfinished') && (reason !== LOST || !hasQuorum),
  );
}

/** One more vote makes these no worse. */
const HARMLESS: readonly string[] = ['LearnerUnfinished', 'MemberUnready'];

/**
 * Blockers of letting a learner vote. A member whose volume is lost may wait to be removed until
 * then, as long as the voters keep their quorum with one more of them. Other learners do not count,
 * and a member that votes before the kubelet has found it ready does.
 */
export function promotionBlockers(state: State, id: string): readonly Reason[] {
  const voters = votersOf(state);
  const healthy = voters.filter((one) => unhealthyReason(state, one) === undefined);
  const hasQuorum = healthy.length + 1 > (voters.length + 1) / 2;
  return blockersOf(state, id).filter(
    ({ reason }) => !HARMLESS.includes(reason) && (reason !== LOST || !hasQuorum),
  );
}

/** Set while nobody could ask the members: then their silence tells nothing of them. */
export function unaskedReason({ parts, etcd, cluster }: State): Reason | undefined {
  if (etcd.list !== undefined) return undefined;
  if (parts.access === undefined) {
    const message = 'There is no certificate yet with which the members could be asked.';
    return parts.lacking ?? { reason: 'Changing', message };
  }
  if (etcd.refused === undefined) return undefined;
  const message = `The members of ${cluster.name} tell nothing to who has not logged in.`;
  return { reason: 'LoginRefused', message };
}

/** Set while nothing is known of the members: no change is safe then. */
export function unknownReason({ cluster, etcd }: State): Reason | undefined {
  const { list } = etcd;
  if (list === undefined) {
    const [silence] = [...etcd.silent].map(([peer, why]) => ` ${peer}: ${why}.`);
    const message = `No quorum of members confirms who the members are.${silence ?? ''}`;
    return { reason: 'NoQuorum', message };
  }
  const { clusterId } = cluster.status;
  if (clusterId === undefined || hexOf(list.clusterId) === clusterId) return undefined;
  const message =
    `The members belong to cluster ${hexOf(list.clusterId)}, and the data of this EtcdCluster is ` +
    `that of ${clusterId}. Nothing is changed; see who made these members.`;
  return { reason: 'ForeignCluster', message };
}

/** More than half of all voters have to be left healthy while this one is away. */
function quorumBlockers(state: State, without: string | undefined): readonly Reason[] {
  const voters = votersOf(state);
  // The only member takes the service away with it, and nobody loses data.
  if (voters.length === 1 || !voters.some(({ id }) => id === without)) return [];
  const others = voters.length - 1;
  const quorum = Math.floor(voters.length / 2) + 1;
  if (others >= quorum) return [];
  const message = `${others} of ${voters.length} voters would be left, and ${quorum} have to be.`;
  return [{ reason: AT_RISK, message }];
}

/** The reason why a voter does not count as healthy; undefined when it does. */
export function unhealthyReason(state: State, member: Member): Reason | undefined {
  const name = nameOf(state, member);
  const peer = peerNameOf(state, member);
  if (peer === undefined) return foreignReason(state, member);
  const answer = answerOf(state, member);
  if (answer === undefined || podOf(state, peer)?.isEnding === true) return awayReason(state, peer);
  if (answer.leaderId === undefined) {
    return { reason: 'NoLeader', message: `${name} knows no leader.` };
  }
  // A full database refuses writes of clients alone: members come, go and vote as ever.
  const alarm = state.etcd.alarms.find(
    ({ memberId, type }) => memberId === member.id && type !== 'NOSPACE',
  );
  if (alarm !== undefined) {
    return { reason: `Alarm${alarm.type}`, message: `${name} has raised the alarm ${alarm.type}.` };
  }
  const behind = lagOf(state, member);
  if (behind > BEHIND_MAX) {
    return { reason: 'MemberBehind', message: `${name} is ${behind} entries behind the others.` };
  }
  const claim = claimOf(state, peer);
  if (claim?.isEnding === true) return claimEnding(claim.name);
  if (podOf(state, peer)?.isReady === true) return undefined;
  const message = `${name} answers us, and its pod is not ready: clients do not reach it.`;
  return { reason: 'MemberUnready', message };
}

/** Only the pod that runs keeps its data: nothing may end that. */
export const claimEnding = (name: string): Reason => ({
  reason: 'ClaimEnding',
  message: `Claim ${name} was deleted, and goes with its data as soon as its pod ends.`,
});

/** A member whose URL is none of ours: never taken for one that is to be removed. */
export function foreignReason(state: State, member: Member): Reason {
  const { name, peerUrls } = member;
  if (state.peers.some((one) => one.name === name)) {
    const message =
      `The data of ${name} says ${peerUrls.join(', ')}, and the spec makes it another address: ` +
      'give the EtcdCluster the tls.peers.mode with which its data was written.';
    return { reason: 'PeerUrlDiffers', message };
  }
  const shown = nameOf(state, member);
  const message = `${shown} is a member that somebody else added; remove it with etcdctl.`;
  return { reason: 'ForeignMember', message };
}

/** How many entries of the log a member has yet to apply. */
export function lagOf(state: State, member: Member): number {
  const answer = answerOf(state, member);
  const newest = Math.max(0, ...[...state.etcd.answers.values()].map((one) => one.raftIndex));
  return answer === undefined ? Number.POSITIVE_INFINITY : newest - answer.raftAppliedIndex;
}

/** Why a peer does not answer, as far as its claim, its pod or its silence tells. */
export function awayReason(state: State, peer: string): Reason {
  const lost = state.lost.get(peer);
  if (lost !== undefined) return { reason: LOST, message: lost };
  const pending = state.pending.get(peer);
  if (pending !== undefined) return { reason: 'ClaimPending', message: pending };
  const pod = podOf(state, peer);
  const stray = strayOf(state, peer, 'Pod');
  if (pod === undefined && stray !== undefined) return labelLost(state, stray);
  if (pod === undefined) {
    const message = `${peer} has no pod; Events of StatefulSet ${peer} tell of trouble.`;
    return { reason: 'MemberAway', message };
  }
  if (pod.isEnding) return { reason: 'MemberAway', message: `The pod of ${peer} is about to end.` };
  const refusal = refusalIn(pod.crash);
  if (refusal !== undefined) {
    return { reason: 'DataRefused', message: `${peer} refuses its data: ${refusal}.` };
  }
  if (pod.trouble !== undefined) {
    const { reason, message } = pod.trouble;
    return { reason, message: `${peer} does not run (${message}).` };
  }
  const silence = state.etcd.silent.get(peer);
  const why = silence === undefined ? '' : ` (${silence})`;
  return { reason: 'MemberSilent', message: `${peer} does not answer${why}.` };
}

export const nameOf = (state: Pick<State, 'cluster'>, member: Member): string =>
  peerNameOf(state, member) ?? `member ${hexOf(member.id)}`;
