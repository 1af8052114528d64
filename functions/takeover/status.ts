// Computes the status of a takeover from the state and the decision: the plan, and the members as
// they answered. Pure; equal input gives an equal status, so that nothing is written twice.
import type {
  LegacyMember,
  TakeoverPlan,
  TakeoverStatus,
  TakeoverWork,
} from '../../shared/api/takeover.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { ConditionInput } from '../../shared/kube/conditions.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { condition, NOT_DEGRADED, progressing } from '../../shared/stateful/conditions.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import { type AnyDecision, type AnyState, anyPlanOf, isOfNats } from './any-state.ts';
import { joins } from './join/mode.ts';
import type { NatsState } from './nats/state.ts';
import { isOver, type Records } from './records.ts';
import type { FoundPod, State } from './state.ts';
import { lostOperators } from './stop-operators.ts';
import { wipes } from './wipe/mode.ts';

/** A database that is written to grows all the time, and its status is not to. */
const STEP_BYTES = 2 ** 20;

export function statusUpdateOf(
  state: AnyState,
  decision: AnyDecision,
  records: Records | undefined,
): StatusUpdate<TakeoverStatus> {
  const { takeover } = state;
  const { conditions: _, ...before } = takeover.status;
  if (isOver(takeover)) return { status: before, conditions: [] };
  const { trouble } = decision;
  const plan = planTold(state, decision);
  const found = isOfNats(state) ? serversOf(state) : membersOf(state);
  const members = found.length === 0 ? before.members : found;
  return {
    status: {
      observedGeneration: takeover.generation,
      ...(plan === undefined ? {} : { plan }),
      phase: phaseOf(records?.work),
      ...records,
      ...(members === undefined ? {} : { members }),
    },
    conditions: [
      planned(state, decision, plan),
      complete(state, decision, records),
      progressing(decision),
      trouble === undefined ? NOT_DEGRADED : condition('Degraded', 'True', trouble),
    ],
  };
}

/** The one that was confirmed stays as it was confirmed. */
function planTold(state: AnyState, { next, waitsFor }: AnyDecision): TakeoverPlan | undefined {
  const { takeover } = state;
  if (isEnding(takeover.object)) return undefined;
  const { plan, work } = takeover.status;
  if (work === undefined || plan === undefined) return anyPlanOf(state);
  const { next: _, waitsFor: __, ...rest } = plan;
  return { next, ...(waitsFor === undefined ? {} : { waitsFor: waitsFor.message }), ...rest };
}

type Phase = NonNullable<TakeoverStatus['phase']>;

function phaseOf(work: TakeoverWork | undefined): Phase {
  if (work === undefined) return 'Planned';
  const isBack = work.rollingBackAt !== undefined;
  if (work.endedAt !== undefined) return isBack ? 'RolledBack' : 'Done';
  return isBack ? 'RollingBack' : 'Running';
}

function planned(
  { takeover }: AnyState,
  { trouble }: AnyDecision,
  plan: TakeoverPlan | undefined,
): ConditionInput {
  if (takeover.status.work !== undefined) {
    const message = `Plan ${takeover.status.work.plan} was confirmed.`;
    return condition('Planned', 'True', { reason: 'Confirmed', message });
  }
  if (plan === undefined) {
    const message = 'The Takeover is being deleted.';
    return condition('Planned', 'False', { reason: 'Deleted', message });
  }
  if (plan.refusals.length > 0 && trouble !== undefined) {
    return condition('Planned', 'False', trouble);
  }
  const message =
    `Plan ${plan.id ?? ''} has ${plan.steps.length} steps. Read status.plan, or npm run ` +
    'takeover. ' +
    (plan.waitsFor ?? '');
  return condition('Planned', 'True', { reason: 'Planned', message: message.trim() });
}

function complete(
  state: AnyState,
  { next, waitsFor, trouble }: AnyDecision,
  records: Records | undefined,
): ConditionInput {
  const { work } = records ?? {};
  const phase = phaseOf(work);
  if (phase === 'Done') {
    return condition('Complete', 'True', { reason: 'TakenOver', message: takenOver(state, work) });
  }
  if (phase === 'RolledBack') {
    const kept = isOfNats(state) ? ' Claims of the new servers are kept: delete them.' : '';
    const lost = work === undefined ? [] : lostOperators(state, work);
    const unstarted =
      lost.length === 0
        ? ''
        : ` Deployment ${listed(lost)}, which was stopped, is not there any more to be started.`;
    const message =
      `What was made is deleted, and the old cluster is left as it is.${kept}` + unstarted;
    return condition('Complete', 'False', { reason: 'RolledBack', message });
  }
  if (phase === 'Planned') {
    const waiting = { reason: 'NotConfirmed', message: 'Nothing is carried out yet.' };
    return condition('Complete', 'False', trouble ?? waiting);
  }
  const doing = { reason: phase, message: `${next}.` };
  return condition('Complete', 'False', trouble ?? waitsFor ?? doing);
}

function takenOver(state: AnyState, work: TakeoverWork | undefined): string {
  const { into, legacy } = state.takeover.spec;
  if (isOfNats(state)) return `NatsCluster ${into.name} has the clients of ${legacy.name}.`;
  if (wipes(state)) return wiped(into.name, legacy.name, work);
  if (joins(state))
    return `EtcdCluster ${into.name} has the data and the clients of ${legacy.name}.`;
  return (
    `EtcdCluster ${into.name} has the ${work?.compared?.keys ?? 0} keys of ${legacy.name} as ` +
    `of revision ${work?.frozen?.revision ?? ''}, and its clients.`
  );
}

function wiped(name: string, legacy: string, work: TakeoverWork | undefined): string {
  const claims = (work?.claims ?? []).map((claim) => claim.name);
  const kept = claims.length === 0 ? '' : ` Kept, without an owner: claims ${listed(claims)}.`;
  return `EtcdCluster ${name} was born empty, and has the clients of ${legacy}.${kept}`;
}

const serversOf = ({ pods, servers }: NatsState): readonly LegacyMember[] =>
  pods.map(({ name: pod }) => {
    const asked = servers?.get(pod) ?? UNASKED;
    return { pod, ...('silent' in asked ? asked : { version: asked.version }) };
  });

/** Where none was asked they are as they were. */
const membersOf = (state: State): readonly LegacyMember[] =>
  state.members === undefined ? [] : state.pods.map((pod) => memberOf(state, pod));

const UNASKED = { silent: 'It was not asked.' };

function memberOf({ members }: State, { name, claim }: FoundPod): LegacyMember {
  const storage = claim === undefined ? 'EmptyDir' : 'Claim';
  const asked = members?.get(name) ?? UNASKED;
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
