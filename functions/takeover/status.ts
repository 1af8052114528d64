// Computes the status of a takeover from the state and the decision: the plan, and the members as
// they answered. Pure; equal input gives an equal status, so that nothing is written twice.
import type { LegacyMember, TakeoverStatus } from '../../shared/api/takeover.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { ConditionInput } from '../../shared/kube/conditions.ts';
import { condition, NOT_DEGRADED, progressing } from '../../shared/stateful/conditions.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import type { Decision } from './decide.ts';
import type { FoundPod, State } from './state.ts';

/** A database that is written to grows all the time, and its status is not to. */
const STEP_BYTES = 2 ** 20;

export function statusUpdateOf(state: State, decision: Decision): StatusUpdate<TakeoverStatus> {
  const { takeover, pods } = state;
  const { plan, trouble } = decision;
  return {
    status: {
      observedGeneration: takeover.generation,
      ...(plan === undefined ? {} : { plan }),
      ...(pods.length === 0 ? {} : { members: pods.map((pod) => memberOf(state, pod)) }),
    },
    conditions: [
      planned(decision),
      progressing(decision),
      trouble === undefined ? NOT_DEGRADED : condition('Degraded', 'True', trouble),
    ],
  };
}

function planned({ plan, trouble }: Decision): ConditionInput {
  if (trouble !== undefined) return condition('Planned', 'False', trouble);
  const message =
    plan?.id === undefined
      ? 'The Takeover is being deleted.'
      : `Plan ${plan.id} has ${plan.steps.length} steps. It is not carried out by this version: ` +
        'read status.plan, or npm run takeover.';
  const reason = plan?.id === undefined ? 'Deleted' : 'Planned';
  return condition('Planned', plan?.id === undefined ? 'False' : 'True', { reason, message });
}

function memberOf({ members }: State, { name, claim }: FoundPod): LegacyMember {
  const storage = claim === undefined ? 'EmptyDir' : 'Claim';
  const asked = members?.get(name) ?? { silent: 'It was not asked.' };
  if ('silent' in asked) return { pod: name, storage, silent: asked.silent };
  const { header, version, leaderId, dbSizeBytes } = asked.status;
  return {
    pod: name,
    id: hexOf(header.memberId),
    version,
    leads: leaderId === header.memberId,
    storage,
    databaseBytes: Math.ceil(dbSizeBytes / STEP_BYTES) * STEP_BYTES,
  };
}
