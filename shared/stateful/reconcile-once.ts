// One reconcile of an object with servers: it is observed, decided on, and moved on by one step.
// The reconciler does so with each object that an event or the sweep names.
import type { Clock } from '../clock.ts';
import type { Context } from '../function/define.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Reason } from '../kube/conditions.ts';
import { isKubeError } from '../kube/errors.ts';
import { type Attempt, holdBack, keepRefusal } from './attempts.ts';
import { type Decision, waitFor } from './decision.ts';
import type { Keeping, Kept, KeptMemory } from './keeping.ts';
import { isPolicy, type LookedAfter, policyRefusalOf, rightsMissing } from './missing-rights.ts';
import type { OwnerVersions } from './owner-versions.ts';
import { type Look, type Next, Reconciler, type ReconcilerDeps } from './reconciler.ts';
import type { StepResult } from './steps.ts';
import {
  recordEventOn,
  reportStatus,
  reportUnobserved,
  type StatusWriter,
} from './write-status.ts';

interface KeepingDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly owners?: OwnerVersions | undefined;
  memoryOf(uid: string): KeptMemory;
}

interface AnyStep {
  readonly type: string;
  readonly part?: { readonly key: string };
}

interface AnyState {
  readonly nowMs: number;
}

/** Binds how a function keeps its objects to the events and sweeps that name them. */
export function reconcilerOf<
  Object extends Kept,
  State extends AnyState,
  Step extends AnyStep,
  Records,
  Deps extends KeepingDeps & ReconcilerDeps,
>(how: Keeping<Object, State, Step, Records, Deps>): Reconciler<Deps> {
  const { ref, kind, label, logField, unobserved } = how;
  return new Reconciler({
    ref,
    kind,
    label,
    logField,
    reconcileOnce: (object, context, look) =>
      reconcileOnce(how, how.objectOf(object), context, look),
    rightsMissing: (object, error) => rightsMissing(lookedAfter(how, how.objectOf(object)), error),
    reportUnobserved: (object, reason, { deps, signal }) =>
      reportUnobserved(writerOf(how, deps), object, { ...reason, ...unobserved }, signal),
    partChanged: how.partChanged ?? (() => undefined),
  });
}

/** No event tells that a server is current again, so servers are polled while a step waits. */
const POLL_MS = 1_000;

async function reconcileOnce<
  Object extends Kept,
  State extends AnyState,
  Step extends AnyStep,
  Records,
  Deps extends KeepingDeps,
>(
  how: Keeping<Object, State, Step, Records, Deps>,
  object: Object,
  context: Context<Deps>,
  { isTimeOver, isListed }: Look,
): Promise<Next> {
  const { deps, signal, log } = context;
  const memory = deps.memoryOf(object.uid);
  const { state, isRemembered } = await how.observe(deps, object, signal);
  const decision = how.decide(state);
  const { step, next, waitsFor } = decision;
  const about = { [how.logField]: `${object.namespace}/${object.name}`, next };
  if (step !== undefined && (isRemembered || isListed)) {
    delete memory.parts;
    return 'ReadAnew';
  }
  if (step !== undefined && !isTimeOver) {
    const attempt = afterEdit(object, how.attemptOf(step, next, state));
    const held = holdBack(memory.attempts, attempt, state.nowMs);
    if (held !== undefined) {
      await updateStatus(how, { object, state }, waitFor(next, [held], held), deps, signal);
      await renewOwners(object, context, about);
      return undefined;
    }
    log.info({ ...about, step: step.type }, 'step');
    return applyOne(how, { object, state, decision, step, attempt }, deps, signal);
  }
  log.info({ ...about, waitsFor: waitsFor?.message }, 'no step');
  const isDone = isTimeOver || how.isConverged(state, decision);
  // The last write of a request is complete, also where those on the way were left out.
  if (isDone || hasChanged(object, decision)) {
    await updateStatus(how, { object, state }, decision, deps, signal);
  }
  if (!isTimeOver) await renewOwners(object, context, about);
  return isDone ? undefined : POLL_MS;
}

/** The last of a look that takes no step: where it is refused all else is done before. */
async function renewOwners(
  { uid }: Kept,
  { deps, signal, log }: Pick<Context<KeepingDeps>, 'deps' | 'signal' | 'log'>,
  about: object,
): Promise<void> {
  const { kube, clock, owners } = deps;
  const parts = (await owners?.renew({ kube, clock, signal }, uid)) ?? [];
  if (parts.length === 0) return;
  log.info({ ...about, parts }, 'they name their owner in the version that is stored');
  delete deps.memoryOf(uid).parts;
}

/** An edit of the object asks anew, also for what it had before: five, three, and five again. */
const afterEdit = ({ generation }: Kept, attempt: Attempt): Attempt => ({
  ...attempt,
  key: `${generation} ${attempt.key}`,
});

interface Observed<Object, State> {
  readonly object: Object;
  readonly state: State;
}

interface Decided<Object, State, Step> extends Observed<Object, State> {
  readonly decision: Decision<Step>;
  readonly step: Step;
  readonly attempt: Attempt;
}

async function applyOne<
  Object extends Kept,
  State extends AnyState,
  Step extends AnyStep,
  Records,
  Deps extends KeepingDeps,
>(
  how: Keeping<Object, State, Step, Records, Deps>,
  decided: Decided<Object, State, Step>,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { object, decision, step, attempt } = decided;
  const records = how.recordsIn(step);
  if (records !== undefined) {
    await updateStatus(how, decided, decision, deps, signal, records);
    return 0;
  }
  const memory = deps.memoryOf(object.uid);
  const result = await orRefusal(how, decided, deps, signal);
  if ('reason' in result) {
    // Servers run without a NetworkPolicy, so a refused one stops nothing else.
    if (!isPolicy(step)) {
      keepRefusal(memory.attempts, attempt, result);
      await updateStatus(how, decided, waitFor(decision.next, [result], result), deps, signal);
      return undefined;
    }
    memory.policyRefusal = { reason: result, atMs: deps.clock.nowMs() };
    delete memory.parts;
    return 0;
  }
  const { event, isSlow } = result;
  delete memory.parts;
  if (event !== undefined) await recordEventOn(writerOf(how, deps), object.object, event, signal);
  if (!isSlow) return 0;
  if (hasChanged(object, decision)) await updateStatus(how, decided, decision, deps, signal);
  return POLL_MS;
}

async function updateStatus<
  Object extends Kept,
  State extends AnyState,
  Step,
  Records,
  Deps extends KeepingDeps,
>(
  how: Keeping<Object, State, Step, Records, Deps>,
  { object, state }: Observed<Object, State>,
  decision: Decision<Step>,
  deps: Deps,
  signal: AbortSignal,
  records?: Records,
): Promise<void> {
  const update = how.statusOf(deps, state, decision, records);
  how.show?.(deps, state, { nowMs: state.nowMs, decision, conditions: update.conditions });
  await reportStatus(writerOf(how, deps), object.object, update, { nowMs: state.nowMs, signal });
}

const writerOf = (
  { ref, fieldManager }: Pick<StatusWriter, 'ref' | 'fieldManager'>,
  { kube, clock }: Pick<StatusWriter, 'kube' | 'clock'>,
): StatusWriter => ({ kube, clock, ref, fieldManager });

/** A quota, a policy, or a spec that makes no valid pod: only a person can change that. */
async function orRefusal<Object extends Kept, State, Step extends AnyStep, Records, Deps>(
  how: Keeping<Object, State, Step, Records, Deps>,
  { object, state, step }: Decided<Object, State, Step>,
  deps: Deps,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  try {
    return await how.applyStep(deps, state, step, signal);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
    const of = lookedAfter(how, object);
    const { exposed } = how;
    const refusal =
      exposed !== undefined && isPolicy(step)
        ? policyRefusalOf({ ...of, exposed }, error)
        : rightsMissing(of, error);
    return refusal ?? { reason: 'ApiServerRefused', message: error.message };
  }
}

const lookedAfter = (
  { kind, functionName, unattended }: Pick<LookedAfter, 'kind' | 'functionName' | 'unattended'>,
  { namespace, name }: Kept,
): LookedAfter => ({ kind, functionName, namespace, name, unattended });

/** The message changes all the time; the status is written when the plan or reason differs. */
function hasChanged(
  { status, generation }: Kept,
  { next, trouble, waitsFor }: Decision<unknown>,
): boolean {
  const degraded = status.conditions?.find(({ type }) => type === 'Degraded');
  const isWaiting = status.plan?.waitsFor !== undefined;
  return (
    status.observedGeneration !== generation ||
    status.plan?.next !== next ||
    isWaiting !== (waitsFor !== undefined) ||
    (trouble !== undefined && degraded?.reason !== trouble.reason)
  );
}
