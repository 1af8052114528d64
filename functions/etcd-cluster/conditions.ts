// The conditions of a cluster: Ready, Quorate, BackupReady, Progressing and Degraded. None says
// True for what nobody has seen. Pure.
import type { MemberStatus } from '../../shared/api/etcd-cluster.ts';
import type { ConditionInput, Reason } from '../../shared/kube/conditions.ts';
import {
  condition,
  isYoung,
  noContact,
  NOT_DEGRADED,
  progressing,
  YOUNG_MS,
} from '../../shared/stateful/conditions.ts';
import { joined } from '../../shared/stateful/decision.ts';
import { backupsOf } from './backups/ready.ts';
import { isConverged } from './decide.ts';
import type { Decision } from './decision.ts';
import { isJoining, isLeftAlone, joiningReason } from './joining.ts';
import {
  awayReason,
  lackingReason,
  unaskedReason,
  unhealthyReason,
  unknownReason,
} from './safety.ts';
import { memberOf, podOf, type State, votersOf } from './state.ts';

export function conditionsOf(
  state: State,
  decision: Decision,
  members: readonly MemberStatus[],
): readonly ConditionInput[] {
  return [
    ready(state, decision, members),
    quorate(state, members),
    backupsOf(state).condition,
    progressing(decision),
    degraded(state, decision, members),
  ];
}

/** Set when the members that were known are silent for too long to say anything of them. */
const silence = (state: State, members: readonly MemberStatus[]): Reason | undefined =>
  state.etcd.answers.size > 0 ? undefined : noContact(members, state.nowMs, 'member');

function ready(state: State, decision: Decision, members: readonly MemberStatus[]): ConditionInput {
  if (state.cluster.spec.replicas === 0) {
    const message = 'It hibernates: spec.replicas is 0, and its claims are kept.';
    return condition('Ready', 'False', { reason: 'Hibernating', message });
  }
  if (isConverged(state, decision)) {
    const whole = 'Every member is as the spec says, healthy, and in step with the others.';
    const { notice } = state.parts;
    const message = notice === undefined ? whole : `${whole} ${notice}`;
    return condition('Ready', 'True', { reason: 'Whole', message });
  }
  const silent = silence(state, members);
  if (silent !== undefined) return condition('Ready', 'Unknown', silent);
  const { next, waitsFor, trouble } = decision;
  const { joining } = state.cluster.status;
  const changing =
    joining === undefined
      ? { reason: 'Changing', message: `It is to be changed: ${next}.` }
      : joiningReason(joining);
  return condition('Ready', 'False', trouble ?? waitsFor ?? changing);
}

/** Whether clients can write: most voters are healthy and follow one leader. */
function quorate(state: State, members: readonly MemberStatus[]): ConditionInput {
  const silent = silence(state, members);
  const unasked = unaskedReason(state) ?? silent;
  if (unasked !== undefined) return condition('Quorate', 'Unknown', unasked);
  const unknown = unknownReason(state);
  if (unknown !== undefined) return condition('Quorate', 'False', unknown);
  const voters = votersOf(state);
  const healthy = voters.filter((one) => unhealthyReason(state, one) === undefined);
  const message = `${healthy.length} of ${voters.length} voters are healthy.`;
  if (isJoining(state)) return joiningQuorum(healthy.length, voters.length);
  const isQuorate = healthy.length > voters.length / 2;
  return isQuorate
    ? condition('Quorate', 'True', { reason: 'Quorum', message })
    : condition('Quorate', 'False', { reason: 'NoQuorum', message });
}

/** Those of before are not asked, and a quorum of all has just told who the members are. */
function joiningQuorum(healthy: number, voters: number): ConditionInput {
  const message =
    `A quorum confirms who the members are: ${healthy} of ${voters} voters are of this ` +
    'EtcdCluster and healthy, and those of before are not asked.';
  return condition('Quorate', 'True', { reason: 'Quorum', message });
}

function degraded(
  state: State,
  { next, waitsFor, trouble }: Decision,
  members: readonly MemberStatus[],
): ConditionInput {
  if (trouble !== undefined) return condition('Degraded', 'True', trouble);
  const { leaving } = state.cluster.status;
  const stuck = state.peers.flatMap(({ name }) => {
    const found = podOf(state, name)?.trouble;
    // The others have told it to end for good, and its pod starts it again until that is deleted.
    const isOver = leaving?.peer === name || isLeftAlone(state, name);
    return found === undefined || isOver ? [] : [awayReason(state, name)];
  });
  const silent = silence(state, members);
  const late = members.flatMap((one) => lateReason(state, one) ?? []);
  const told = [silent, state.parts.refused].flatMap((one) => one ?? []);
  const found = [...stuck, ...told, ...late, ...ofPeers(state)];
  const [first] = found;
  if (first !== undefined) {
    return condition('Degraded', 'True', { reason: first.reason, message: joined(found) });
  }
  const isLacking = next === 'Nothing' && waitsFor !== undefined && waitsFor.reason !== 'Paused';
  return isLacking && !isYoung(state.cluster.object, state.nowMs)
    ? condition('Degraded', 'True', waitsFor)
    : NOT_DEGRADED;
}

/** Trouble with the pod or the claim of a member, as etcd-peer tells it; the member may be well. */
const ofPeers = ({ peers }: State): readonly Reason[] =>
  peers.flatMap(({ name, isOurs, status }) => {
    const trouble = status.conditions?.find((one) => one.type === 'Degraded');
    if (!isOurs || trouble?.status !== 'True') return [];
    return [{ reason: trouble.reason, message: `EtcdPeer ${name}: ${trouble.message}` }];
  });

/** A voter that is away, or a new member that takes too long; not one that is restarted. */
function lateReason(state: State, { name, startingSince }: MemberStatus): Reason | undefined {
  const { restarting, leaving } = state.cluster.status;
  if (restarting?.peer === name || leaving?.peer === name) return undefined;
  if (isLeftAlone(state, name)) return undefined;
  const member = memberOf(state, name);
  const isHealthy = member !== undefined && unhealthyReason(state, member) === undefined;
  const sinceMs = Date.parse(startingSince ?? '');
  if (isHealthy && startingSince === undefined) return undefined;
  if (startingSince !== undefined) {
    return state.nowMs - sinceMs > YOUNG_MS ? lackingReason(state, name) : undefined;
  }
  return isYoung(state.cluster.object, state.nowMs) || state.cluster.spec.replicas === 0
    ? undefined
    : lackingReason(state, name);
}
