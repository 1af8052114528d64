// Plans what could be done about a quorum that is lost for good: which member would go on alone,
// and what that would cost. Nothing is done by it; a person confirms it by its id, which is another
// one for each loss. Pure.
import type { RecoveryPlan } from '../../shared/api/etcd-cluster.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import { hashOf } from '../../shared/hash.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import type { Member, MemberAnswer, View } from './etcd-state.ts';
import { isInMemory } from './starts.ts';
import {
  alarmsOf,
  byOrdinal,
  claimOf,
  isVanished,
  memberIn,
  namesOf,
  peerNameOf,
  peerOf,
  podOf,
  type State,
} from './state.ts';

/** A quorum may come back by itself for so long, where not all data is certain to be lost. */
const AWAY_MS = 600_000;
const ID_LENGTH = 12;

/** A member that answers, and could go on alone. */
export interface Survivor {
  readonly name: string;
  readonly answer: MemberAnswer;
  readonly view: View;
}

export interface Proposal {
  readonly plan: RecoveryPlan;
  readonly survivor: Survivor;
}

/** Undefined while a quorum may stand or come back, and when nobody is left to go on. */
export function proposalOf(state: State): Proposal | undefined {
  const { etcd, cluster } = state;
  const { quorumLostSince, clusterId } = cluster.status;
  const mayBeLost = clusterId !== undefined && cluster.spec.replicas > 0 && !isInMemory(state);
  const isLost = etcd.list === undefined && mayBeLost;
  if (!isLost || quorumLostSince === undefined || mayStand(state)) return undefined;
  const [survivor, ...rest] = survivorsOf(state);
  if (survivor === undefined) return undefined;
  const voters = survivor.view.members.filter(({ isLearner }) => !isLearner);
  const names = namesOf(state, voters).toSorted(byOrdinal);
  // Nothing here could stop a member that somebody else runs.
  const isForeign = survivor.view.members.some((one) => peerNameOf(state, one) === undefined);
  if (isForeign || names.length < 2) return undefined;
  const others = names.filter((name) => rest.some((one) => one.name === name));
  const lost = names.filter((name) => name !== survivor.name && !others.includes(name));
  const left = names.length - lost.filter((name) => isCertain(state, name)).length;
  const isLate = state.nowMs - Date.parse(quorumLostSince) > AWAY_MS;
  if (left > names.length / 2 && !isLate) return undefined;
  return { plan: planFor(state, survivor, lost, others), survivor };
}

/** Somebody knows a leader, or answers reads that a quorum confirmed, reached by us or not. */
function mayStand(state: State): boolean {
  const { answers } = state.etcd;
  if ([...answers.values()].some(({ leaderId }) => leaderId !== undefined)) return true;
  if (state.strays.some((one) => one.kind === 'Pod' && one.isReady)) return true;
  return state.peers.some(({ name }) => !answers.has(name) && podOf(state, name)?.isReady === true);
}

/** The one with the most first. */
function survivorsOf(state: State): readonly Survivor[] {
  const found = [...state.etcd.answers].flatMap(([name, answer]) => {
    const view = state.etcd.views.get(name);
    return view !== undefined && canSurvive(state, { name, answer, view })
      ? [{ name, answer, view }]
      : [];
  });
  return found.toSorted(
    (a, b) => b.answer.raftIndex - a.answer.raftIndex || byOrdinal(a.name, b.name),
  );
}

function canSurvive(state: State, { name, answer, view }: Survivor): boolean {
  const { clusterId } = state.cluster.status;
  const peer = peerOf(state, name);
  const claim = claimOf(state, name);
  const isOwn = hexOf(answer.clusterId) === clusterId && view.clusterId === answer.clusterId;
  const member = memberIn(state, view.members, name);
  const isVoter = member?.id === answer.memberId && !member.isLearner;
  // It has to start again, and its data would go with its pod.
  const isKept = claim?.isEnding === false && peer?.isEnding === false && peer.isOurs;
  const isCorrupt = alarmsOf(state, 'CORRUPT').some(({ memberId }) => memberId === answer.memberId);
  return isOwn && isVoter && isKept && !isCorrupt && !state.lost.has(name);
}

/** Its volume is lost, or nothing is left of it. */
const isCertain = (state: State, name: string): boolean =>
  state.lost.has(name) || isVanished(state, name);

function planFor(
  { cluster }: State,
  { name: survivor, answer }: Survivor,
  lost: readonly string[],
  others: readonly string[],
): RecoveryPlan {
  const { namespace, name, uid, status } = cluster;
  const { memberId, revision, raftIndex } = answer;
  const { quorumLostSince, recovered } = status;
  const about = { uid, quorumLostSince, recovered, survivor, memberId, revision, raftIndex, lost };
  const id = `${survivor}-${hashOf({ ...about, others }).slice(0, ID_LENGTH)}`;
  const patch = JSON.stringify({ spec: { recovery: { confirm: id } } });
  const command = `kubectl -n ${namespace} patch etcdcluster ${name} --type=merge -p '${patch}'`;
  return { id, survivor, memberId: hexOf(memberId), revision, lost, others, command };
}

/** Says what it would cost, and how it is confirmed. */
export function lossOf(state: State, { plan, survivor }: Proposal): Reason {
  const { quorumLostSince = '' } = state.cluster.status;
  const voters = survivor.view.members.filter(({ isLearner }: Member) => !isLearner).length;
  const silent = plan.lost.map((name) => `${name}${heardOf(state, name)}`);
  const kept = setAside(state, plan.survivor).map(({ name }) => name);
  const message = [
    `No quorum since ${quorumLostSince}: of ${voters} voters do not answer ${listed(silent)}.`,
    'Bring one of them back with its data, and nothing is lost.',
    `If nobody can, ${plan.survivor} can go on alone with revision ${plan.revision}, and the`,
    'others join anew: what was written after it is lost, also what was acknowledged, and clients',
    'that watch have to begin anew.',
    ...(plan.others.length === 0 ? [] : [`So would ${listed(plan.others)}, with no more than it.`]),
    ...(kept.length === 0 ? [] : [`Claims ${listed(kept)} are kept aside.`]),
    `To confirm this: ${plan.command}`,
  ].join(' ');
  return { reason: 'QuorumLost', message };
}

function heardOf({ cluster }: State, name: string): string {
  const heard = cluster.status.members?.find((one) => one.name === name)?.lastContact;
  return heard === undefined ? '' : ` (last heard ${heard})`;
}

/** The claims of the others that hold data of this cluster. */
export const setAside = (state: State, survivor: string): State['claims'] =>
  state.claims.filter(
    (one) => one.clusterId === state.cluster.status.clusterId && one !== claimOf(state, survivor),
  );
