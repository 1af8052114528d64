// Computes the status of a backup from the state and the decision. Pure; equal input gives an
// equal status, so a backup that is over is not written again.
import type { EtcdBackupStatus } from '../../shared/api/etcd-backup.ts';
import type { ConditionInput, Reason } from '../../shared/kube/conditions.ts';
import { condition, NOT_DEGRADED, progressing } from '../../shared/stateful/conditions.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import type { Decision } from './decision.ts';
import { isOver, locationOf } from './object.ts';
import { lastErrorOf, type Outcome, outcomeOf, storedBy } from './outcome.ts';
import type { State } from './state.ts';

export function statusUpdateOf(state: State, decision: Decision): StatusUpdate<EtcdBackupStatus> {
  const { backup, job } = state;
  const { conditions: _, ...before } = backup.status;
  if (isOver(backup)) return { status: before, conditions: [] };
  const outcome = outcomeOf(state);
  const own = job?.isOurs === true ? job : undefined;
  // The name and uid of a Job that is gone stay.
  const noted = before.job ?? (own && { name: own.name, uid: own.uid });
  const startedAt = own?.startedAt ?? before.startedAt;
  return {
    status: {
      observedGeneration: backup.generation,
      phase: phaseOf(state, outcome),
      location: locationOf(backup),
      ...(noted === undefined ? {} : { job: noted }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(outcome === undefined ? {} : { completedAt: outcome.at }),
      ...found(state, outcome),
    },
    conditions: [complete(decision, outcome), progressing(decision), degraded(decision, outcome)],
  };
}

function phaseOf(
  { job }: State,
  outcome: Outcome | undefined,
): NonNullable<EtcdBackupStatus['phase']> {
  if (outcome !== undefined) return 'facts' in outcome ? 'Complete' : 'Failed';
  return job?.isOurs === true ? 'Running' : 'Pending';
}

function found(state: State, outcome: Outcome | undefined): Partial<EtcdBackupStatus> {
  if (outcome !== undefined && 'facts' in outcome) {
    const { facts: backup, rehearsal } = outcome;
    return { backup, ...(rehearsal && { rehearsal }) };
  }
  // The pod of an earlier attempt may be gone.
  const error = lastErrorOf(state) ?? state.backup.status.error;
  const backup = storedBy(state);
  return { ...(backup && { backup }), ...(error && { error }) };
}

function complete({ next, waitsFor }: Decision, outcome: Outcome | undefined): ConditionInput {
  if (outcome === undefined) {
    const changing = { reason: 'Changing', message: `${next}.` };
    return condition('Complete', 'False', waitsFor ?? changing);
  }
  if ('failure' in outcome) return condition('Complete', 'False', outcome.failure);
  const { keys, revision, isHashConfirmed, unconfirmed = 'nobody was asked' } = outcome.facts;
  const restored = outcome.rehearsal === undefined ? '' : ', restored and read through';
  const what = `${keys} keys at revision ${revision}${restored}`;
  if (isHashConfirmed) {
    const message = `${what}; a member has the same hash of all keys.`;
    return condition('Complete', 'True', { reason: 'Confirmed', message });
  }
  const message = `${what}; no member confirmed the hash of all keys: ${unconfirmed}.`;
  return condition('Complete', 'True', { reason: 'Unconfirmed', message });
}

function degraded({ trouble }: Decision, outcome: Outcome | undefined): ConditionInput {
  const reason = trouble ?? unreadable(outcome);
  return reason === undefined ? NOT_DEGRADED : condition('Degraded', 'True', reason);
}

/** They are so in the etcd as well, and nobody else tells. */
function unreadable(outcome: Outcome | undefined): Reason | undefined {
  const seen = outcome !== undefined && 'facts' in outcome ? outcome.rehearsal?.unreadable : null;
  if (seen === undefined || seen === null) return undefined;
  const message =
    `The backup has what its etcd has, and ${seen.objects} of the objects in both no API server ` +
    `can read: ${seen.such}. Repair or delete them in the etcd.`;
  return { reason: 'ObjectsUnreadable', message };
}
