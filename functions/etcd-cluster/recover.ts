// The recovery of a lost quorum, after a person has confirmed its plan: the others are stopped and
// kept aside, so that they never form a cluster of their own; then the survivor is forced to go on
// alone, once, while no client reaches it; then it serves, and others join. Pure.
import type { Recovering } from '../../shared/api/etcd-cluster.ts';
import { podName } from '../../shared/api/etcd-names.ts';
import type { PeerRecovery } from '../../shared/api/etcd-peer.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { peerNames } from './cluster.ts';
import { KEPT } from './leave.ts';
import { lossOf, proposalOf, setAside } from './recovery-plan.ts';
import { forget, remember } from './records.ts';
import { isPodCurrent, isRendered } from './outdated.ts';
import { awayReason, unknownReason } from './safety.ts';
import { labelLost } from './strays.ts';
import { type Peer, peerOf, podOf, type State, type Stray, votersOf } from './state.ts';

/** A node that is gone says nothing of its pods, and somebody has to tell that it is. */
const STOPPED_WITHIN_MS = 120_000;

/** Waits for a person, who confirms what is shown. */
export function proposeRecovery(state: State): Decision | undefined {
  const proposal = proposalOf(state);
  if (proposal === undefined) return undefined;
  const { plan, survivor } = proposal;
  const { status, spec } = state.cluster;
  const peer = peerOf(state, plan.survivor);
  const confirmed = spec.recovery?.confirm;
  if (confirmed !== plan.id || peer === undefined) {
    const { reason, message } = lossOf(state, proposal);
    const isOther = confirmed !== undefined && confirmed !== status.recovered?.id;
    const other = isOther ? `spec.recovery.confirm is ${confirmed}, which is no plan now. ` : '';
    const trouble = { reason, message: `${other}${message}` };
    return waitFor(`Recover from ${plan.survivor}, once confirmed`, [trouble], trouble);
  }
  const recovering: Recovering = {
    id: plan.id,
    number: (status.recovered?.number ?? 0) + 1,
    survivor: plan.survivor,
    peerUid: peer.uid,
    memberId: survivor.answer.memberId,
    revision: plan.revision,
    raftIndex: survivor.answer.raftIndex,
    others: othersOf(state, plan.survivor).map(({ name, uid }) => ({ peer: name, peerUid: uid })),
    since: timestamp(state.nowMs),
  };
  // A change that was under way was about members that are counted no more.
  return forget(state, ['leaving', 'restarting'], `Recover from ${plan.survivor}`, { recovering });
}

/** Finishes what the status records. */
export function recover(state: State): Decision | undefined {
  const { recovering } = state.cluster.status;
  if (recovering === undefined) return undefined;
  const { survivor, peerUid, number } = recovering;
  const next = `Recover from ${survivor}`;
  const peer = peerOf(state, survivor);
  if (peer?.uid !== peerUid || peer.isEnding) return giveUp(state, next);
  const { recovery } = peer.spec;
  if (recovery === undefined || recovery.number < number) {
    return mustStop(state, recovering, peer)
      ? giveUp(state, next)
      : (stopOthers(state, recovering, next) ?? force(recovering, peer, next));
  }
  if (recovery.force) return release(state, recovering, peer, next);
  return finish(state, recovering, peer, next);
}

/** Until the survivor is forced nothing is lost by leaving off: the others wake up again. */
function mustStop(state: State, recovering: Recovering, { name }: Peer): boolean {
  const { id, others, memberId, raftIndex } = recovering;
  const { spec } = state.cluster;
  const isBack = state.etcd.list !== undefined;
  const isUnknown = othersOf(state, name).some((one) => !others.some(sameAs(one)));
  const answer = state.etcd.answers.get(name);
  const isOther = answer !== undefined && answer.memberId !== memberId;
  const hasLess = answer !== undefined && answer.raftIndex < raftIndex;
  const isUnwanted = spec.recovery?.confirm !== id;
  return isBack || isUnknown || isOther || hasLess || isUnwanted || state.lost.has(name);
}

const sameAs =
  ({ name, uid }: Peer) =>
  (one: Recovering['others'][number]): boolean =>
    one.peer === name && one.peerUid === uid;

const othersOf = ({ peers }: State, survivor: string): readonly Peer[] =>
  peers.filter(({ name }) => name !== survivor);

/** Two that come back with their data are a quorum of three, and know nothing of this. */
function stopOthers(state: State, recovering: Recovering, next: string): Decision | undefined {
  const { survivor } = recovering;
  if (!state.etcd.answers.has(survivor)) return waitFor(next, [awayReason(state, survivor)]);
  const others = othersOf(state, survivor);
  const running = others.find(({ spec }) => spec.running);
  if (running !== undefined) {
    const spec = { ...running.spec, running: false };
    return { step: { type: 'update-peer', peer: running, spec }, next: `${next}: stop the others` };
  }
  const strays = state.strays.filter(({ peer }) => peer !== survivor);
  const pods = podsOfOthers(state, survivor);
  if (pods.length > 0) return awaitPods(state, recovering, pods, next);
  const stray = strays.find((one) => one.kind === 'Pod' || isOfCluster(state, one));
  // It may run, or be brought back, with the data of before.
  if (stray !== undefined) return awaitEnd(state, recovering, labelLost(state, stray), next);
  const [claim] = setAside(state, survivor);
  if (claim !== undefined) {
    const clusterId = `${KEPT}${claim.clusterId ?? ''}`;
    const step = { type: 'mark-claim', claim, clusterId } as const;
    return { step, next: `${next}: keep claim ${claim.name} aside` };
  }
  const peer = others.find(({ isEnding }) => !isEnding);
  if (peer !== undefined) return { step: { type: 'delete-peer', peer }, next };
  const [ending] = others;
  if (ending === undefined) return undefined;
  return waitFor(next, [{ reason: 'PeerEnding', message: `EtcdPeer ${ending.name} ends.` }]);
}

function podsOfOthers({ pods, cluster }: State, survivor: string): readonly string[] {
  const others = peerNames(cluster)
    .filter((one) => one !== survivor)
    .map(podName);
  return pods.map(({ name }) => name).filter((name) => others.includes(name));
}

const isOfCluster = ({ cluster }: State, { clusterId }: Extract<Stray, { kind: 'Claim' }>) =>
  clusterId === cluster.status.clusterId;

function awaitPods(
  state: State,
  recovering: Recovering,
  pods: readonly string[],
  next: string,
): Decision {
  const ending = {
    reason: 'PeerEnding',
    message:
      `Pods ${listed(pods)} have to end first: together they could go on without ` +
      'knowing of this. Of a node that is gone for good, delete the Node, or give it the taint ' +
      'node.kubernetes.io/out-of-service.',
  };
  return awaitEnd(state, recovering, ending, next);
}

function awaitEnd(state: State, { since }: Recovering, ending: Reason, next: string): Decision {
  const isLate = state.nowMs - Date.parse(since) > STOPPED_WITHIN_MS;
  return waitFor(next, [ending], isLate ? ending : undefined);
}

/** The others are stopped, kept aside, and gone. */
const force = ({ number }: Recovering, peer: Peer, next: string): Decision =>
  told(peer, { number, force: true }, `${next}: let it go on alone`);

const told = (peer: Peer, recovery: PeerRecovery, next: string): Decision => ({
  step: { type: 'update-peer', peer, spec: { ...peer.spec, recovery } },
  next,
});

/** Ready with the flag, which no pod but one of that template has: it leads itself. */
function release(state: State, recovering: Recovering, peer: Peer, next: string): Decision {
  const restarted = restartFor(state, recovering, peer, `${next}: let it go on alone`);
  if (restarted !== undefined) return restarted;
  const { number } = recovering;
  return told(peer, { number, force: false }, `${next}: let clients in`);
}

function finish(state: State, recovering: Recovering, peer: Peer, next: string): Decision {
  const restarted = restartFor(state, recovering, peer, `${next}: let clients in`);
  if (restarted !== undefined) return restarted;
  const unknown = unknownReason(state);
  if (unknown !== undefined) return waitFor(next, [unknown]);
  const [first, ...more] = votersOf(state);
  const { memberId, id, number, survivor, revision } = recovering;
  if (first?.id !== memberId || more.length > 0) {
    const message = `The members of ${survivor} are not itself alone; nothing is changed.`;
    const trouble = { reason: 'RecoveryFailed', message };
    return waitFor(next, [trouble], trouble);
  }
  const recovered = { id, number, survivor, revision, at: timestamp(state.nowMs) };
  return forget(state, ['recovering'], next, { recovered });
}

/** Until a pod with the template of now is ready; the one before it is recorded, and deleted. */
function restartFor(
  state: State,
  recovering: Recovering,
  peer: Peer,
  next: string,
): Decision | undefined {
  // It may have forgotten the others already, so there is no way back.
  if (state.lost.has(peer.name)) {
    const trouble = awayReason(state, peer.name);
    return waitFor(next, [trouble], trouble);
  }
  const pod = podOf(state, peer.name);
  if (!isRendered(peer) || pod === undefined || pod.isEnding) {
    return waitFor(next, [starting(peer.name)]);
  }
  if (!isPodCurrent(state, peer)) {
    if (recovering.podUid === pod.uid) {
      return { step: { type: 'restart', pod, reason: 'It recovers a lost quorum.' }, next };
    }
    return remember(state, { recovering: { ...recovering, podUid: pod.uid } }, next);
  }
  return pod.isReady ? undefined : waitFor(next, [pod.trouble ?? starting(peer.name)]);
}

const starting = (name: string): Reason => ({
  reason: 'MemberAway',
  message: `${name} starts with another template.`,
});

/** The quorum is back, nobody wants it any more, or the survivor is lost too. */
const giveUp = (state: State, next: string): Decision =>
  forget(state, ['recovering'], `${next}: leave it off`);

/** All else is done before it is told. */
export function refuseConfirmation(state: State): Decision | undefined {
  const { spec, status } = state.cluster;
  const confirmed = spec.recovery?.confirm;
  if (confirmed === undefined || confirmed === status.recovered?.id) return undefined;
  const message =
    `spec.recovery.confirm is ${confirmed}, and there is nothing to recover: a quorum stands, or ` +
    'no plan has that id any more. Nothing is forced. Take the field out of the spec.';
  const trouble = { reason: 'RecoveryRefused', message };
  return waitFor('Nothing', [trouble], trouble);
}
