// Computes the status of a restore from the state and the decision. Pure; equal input gives an
// equal status, so a restore that is over is not written again.
import type { EtcdRestoreStatus } from '../../shared/api/etcd-restore.ts';
import type { ConditionInput, Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { condition, NOT_DEGRADED, progressing } from '../../shared/stateful/conditions.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import type { Decision } from './decision.ts';
import { clusterNameOf, isOver } from './object.ts';
import { failureOf, isDone, lastErrorOf } from './outcome.ts';
import type { Records, State } from './state.ts';

export function statusUpdateOf(
  state: State,
  decision: Decision,
  records: Records,
): StatusUpdate<EtcdRestoreStatus> {
  const { restore, job, nowMs } = state;
  const { conditions: _, ...before } = restore.status;
  if (isOver(restore)) return { status: before, conditions: [] };
  const own = job?.isOurs === true ? job : undefined;
  // The name and uid of a Job that is gone stay.
  const noted = before.job ?? (own && { name: own.name, uid: own.uid });
  const startedAt = before.startedAt ?? own?.startedAt;
  const error = lastErrorOf(state) ?? before.error;
  const phase = phaseOf(state, decision);
  const isEnded = phase === 'Complete' || phase === 'Failed';
  return {
    status: {
      observedGeneration: restore.generation,
      phase,
      ...records,
      ...(noted === undefined ? {} : { job: noted }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(isEnded ? { completedAt: timestamp(nowMs) } : {}),
      ...(error === undefined || records.backup !== undefined ? {} : { error }),
    },
    conditions: [complete(state, decision, phase), progressing(decision), degraded(decision)],
  };
}

type Phase = NonNullable<EtcdRestoreStatus['phase']>;

/** It has failed once nothing of it is left. */
function phaseOf(state: State, { next, trouble }: Decision): Phase {
  if (trouble !== undefined && next === 'Nothing') return 'Failed';
  if (isDone(state)) return 'Complete';
  const { etcdCluster, job } = state.restore.status;
  if (etcdCluster !== undefined) return 'Starting';
  return job !== undefined || state.job?.isOurs === true ? 'Running' : 'Pending';
}

function complete(state: State, { next, waitsFor }: Decision, phase: Phase): ConditionInput {
  const failure = failureOf(state);
  if (failure !== undefined) return condition('Complete', 'False', failure);
  if (phase === 'Complete') return condition('Complete', 'True', doneReason(state));
  const changing = { reason: 'Changing', message: `${next}.` };
  return condition('Complete', 'False', waitsFor ?? changing);
}

function doneReason({ restore }: State): Reason {
  const { backup, revision = '', image = '' } = restore.status;
  const name = clusterNameOf(restore);
  const what = `${backup?.keys ?? 0} keys as of revision ${backup?.revision ?? ''}`;
  if (restore.spec.dryRun) {
    const message =
      `The backup is whole, and ${image} restored it on a volume that is gone again: ${what}. ` +
      `EtcdCluster ${name} would have been made, and counted on from revision ${revision}.`;
    return { reason: 'DryRun', message };
  }
  const message = `EtcdCluster ${name} has ${what}, and counts on from revision ${revision}.`;
  return { reason: 'Restored', message };
}

const degraded = ({ trouble }: Decision): ConditionInput =>
  trouble === undefined ? NOT_DEGRADED : condition('Degraded', 'True', trouble);
