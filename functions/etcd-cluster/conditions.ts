// The conditions of a cluster: Ready, Quorate, BackupReady, Progressing, and Degraded by
// degraded.ts. None says True for what nobody has seen. Pure.
import type { MemberStatus } from '../../shared/api/etcd-cluster.ts';
import type { ConditionInput } from '../../shared/kube/conditions.ts';
import { condition, progressing } from '../../shared/stateful/conditions.ts';
import { backupsOf } from './backups/ready.ts';
import { isConverged } from './decide.ts';
import type { Decision } from './decision.ts';
import { degraded, silence } from './degraded.ts';
import { isJoining, joiningReason } from './joining.ts';
import { unaskedReason, unhealthyReason, unknownReason } from './safety.ts';
import { type State, votersOf } from './state.ts';

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
