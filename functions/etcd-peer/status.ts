// Computes the status of a peer from the state and the decision. Pure; equal input gives an equal
// status, so a peer at rest is not written at all.
import type { EtcdPeerStatus } from '../../shared/api/etcd-peer.ts';
import type { ConditionInput } from '../../shared/kube/conditions.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { condition, NOT_DEGRADED } from '../../shared/stateful/conditions.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import type { Decision } from './decision.ts';
import { isLost, type Records, type State } from './state.ts';

export function statusUpdateOf(
  state: State,
  decision: Decision,
  records: Records,
): StatusUpdate<EtcdPeerStatus> {
  const { peer, statefulSet } = state;
  const templateHash = statefulSet?.isOurs === true ? statefulSet.templateHash : undefined;
  // The spec counts as observed once the StatefulSet has it: etcd-cluster goes by it.
  const isRendered = statefulSet?.isAsRendered === true;
  const { observedGeneration } = peer.status;
  const kept = observedGeneration === undefined ? {} : { observedGeneration };
  return {
    status: {
      ...(isRendered ? { observedGeneration: peer.generation } : kept),
      ...records,
      ...(templateHash === undefined ? {} : { templateHash }),
      phase: phaseOf(state),
    },
    conditions: [ready(state, decision), degraded(decision)],
  };
}

function phaseOf(state: State): NonNullable<EtcdPeerStatus['phase']> {
  const { peer, pod } = state;
  if (isEnding(peer.object)) return 'Ending';
  if (isLost(state)) return 'DataLost';
  if (!peer.spec.running && pod === undefined) return 'Hibernating';
  return pod?.isOurs === true && pod.isReady ? 'Running' : 'Pending';
}

function ready(state: State, { step, next, waitsFor }: Decision): ConditionInput {
  const { peer, pod, rendered } = state;
  if (waitsFor !== undefined) return condition('Ready', 'False', waitsFor);
  if (step !== undefined) {
    return condition('Ready', 'False', { reason: 'Changing', message: `${next}.` });
  }
  if (pod === undefined) {
    return condition('Ready', 'False', {
      reason: 'Hibernating',
      message: 'Its EtcdCluster has no members now; its claim stays.',
    });
  }
  if (pod.templateHash !== rendered.templateHash) {
    return condition('Ready', 'False', {
      reason: 'Outdated',
      message:
        `Pod ${pod.name} is ready, and not as the spec says: EtcdCluster ${peer.spec.cluster} ` +
        'restarts it when its turn has come.',
    });
  }
  return condition('Ready', 'True', {
    reason: 'Running',
    message: `Pod ${pod.name} is as the spec says and ready.`,
  });
}

const degraded = ({ trouble }: Decision): ConditionInput =>
  trouble === undefined ? NOT_DEGRADED : condition('Degraded', 'True', trouble);
