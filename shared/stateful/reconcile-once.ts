// One reconcile of an object with servers: it is observed, decided on, and moved on by one step.
// The reconciler does so with each object that an event or the sweep names.
import type { Context } from '../function/define.ts';
import type { ObjectEvent } from '../kube/event-recorder.ts';
import type { Reason } from '../kube/conditions.ts';
import { isKubeError } from '../kube/errors.ts';
import { type Attempt, type AttemptLog, holdBack } from './attempts.ts';
import { type Decision, waitFor } from './decision.ts';
import type { StepResult } from './steps.ts';

/** An object as its function knows it, with the status of the last reconcile. */
export interface Kept {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly status: {
    readonly observedGeneration?: number;
    readonly plan?: { readonly next: string; readonly waitsFor?: string };
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
  };
}

interface KeepingDeps {
  memoryOf(uid: string): { readonly attempts: AttemptLog; parts?: unknown };
}

export interface Observation<State> {
  readonly state: State;
  /** Some of it is from an earlier reconcile: it is read again before any step is applied. */
  readonly isRemembered: boolean;
}

/** How a function keeps its objects. */
export interface Keeping<Object extends Kept, State, Step, Records, Deps> {
  /** The field of log lines that names the object. */
  readonly logField: string;
  readonly observe: (
    deps: Deps,
    object: Object,
    signal: AbortSignal,
  ) => Promise<Observation<State>>;
  readonly decide: (state: State) => Decision<Step>;
  /** True when the object is as its spec says and nothing is missing. */
  readonly isConverged: (state: State, decision: Decision<Step>) => boolean;
  readonly attemptOf: (step: Step, next: string, state: State) => Attempt;
  /** Set for a step that changes the records in the status alone. */
  readonly recordsIn: (step: Step) => Records | undefined;
  readonly applyStep: (
    deps: Deps,
    state: State,
    step: Step,
    signal: AbortSignal,
  ) => Promise<StepResult | Reason>;
  /** A refusal of the API server in words for people; undefined where its own will do. */
  readonly refusalOf: (object: Object, step: Step, error: unknown) => Reason | undefined;
  /** True when all else goes on without this step, and the refusal is told with the rest. */
  readonly setAside: (deps: Deps, object: Object, step: Step, refusal: Reason) => boolean;
  /** Records stay as they are when none are given. */
  readonly updateStatus: (
    deps: Deps,
    state: State,
    decision: Decision<Step>,
    options: { readonly signal: AbortSignal; readonly records?: Records },
  ) => Promise<void>;
  readonly recordEvent: (
    deps: Deps,
    object: Object,
    event: ObjectEvent,
    signal: AbortSignal,
  ) => Promise<void>;
}

/** No event tells that a server is current again, so servers are polled while a step waits. */
const POLL_MS = 1_000;

/** How long to wait before the next reconcile; undefined when that is left to the next event. */
export async function reconcileOnce<
  Object extends Kept,
  State extends { readonly nowMs: number },
  Step extends { readonly type: string },
  Records,
  Deps extends KeepingDeps,
>(
  how: Keeping<Object, State, Step, Records, Deps>,
  object: Object,
  { deps, signal, log }: Context<Deps>,
  isTimeOver: boolean,
): Promise<number | undefined> {
  const memory = deps.memoryOf(object.uid);
  const { state, isRemembered } = await how.observe(deps, object, signal);
  const decision = how.decide(state);
  const { step, next, waitsFor } = decision;
  const about = { [how.logField]: `${object.namespace}/${object.name}`, next };
  if (step !== undefined && isRemembered) {
    delete memory.parts;
    return 0;
  }
  if (step !== undefined && !isTimeOver) {
    const held = holdBack(memory.attempts, how.attemptOf(step, next, state), state.nowMs);
    if (held !== undefined) {
      await how.updateStatus(deps, state, waitFor(next, [held], held), { signal });
      return undefined;
    }
    log.info({ ...about, step: step.type }, 'step');
    return applyOne(how, { object, state, decision, step }, deps, signal);
  }
  log.info({ ...about, waitsFor: waitsFor?.message }, 'no step');
  const isDone = isTimeOver || how.isConverged(state, decision);
  // The last write of a request is complete, also where those on the way were left out.
  if (isDone || hasChanged(object, decision)) {
    await how.updateStatus(deps, state, decision, { signal });
  }
  return isDone ? undefined : POLL_MS;
}

interface Decided<Object, State, Step> {
  readonly object: Object;
  readonly state: State;
  readonly decision: Decision<Step>;
  readonly step: Step;
}

async function applyOne<Object extends Kept, State, Step, Records, Deps extends KeepingDeps>(
  how: Keeping<Object, State, Step, Records, Deps>,
  decided: Decided<Object, State, Step>,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { object, state, decision, step } = decided;
  const records = how.recordsIn(step);
  if (records !== undefined) {
    await how.updateStatus(deps, state, decision, { signal, records });
    return 0;
  }
  const result = await orRefusal(how, decided, deps, signal);
  if ('reason' in result) {
    if (!how.setAside(deps, object, step, result)) {
      await how.updateStatus(deps, state, waitFor(decision.next, [result], result), { signal });
      return undefined;
    }
    delete deps.memoryOf(object.uid).parts;
    return 0;
  }
  const { event, isSlow } = result;
  delete deps.memoryOf(object.uid).parts;
  if (event !== undefined) await how.recordEvent(deps, object, event, signal);
  if (!isSlow) return 0;
  if (hasChanged(object, decision)) await how.updateStatus(deps, state, decision, { signal });
  return POLL_MS;
}

/** A quota, a policy, or a spec that makes no valid pod: only a person can change that. */
async function orRefusal<Object extends Kept, State, Step, Records, Deps>(
  how: Keeping<Object, State, Step, Records, Deps>,
  { object, state, step }: Decided<Object, State, Step>,
  deps: Deps,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  try {
    return await how.applyStep(deps, state, step, signal);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
    const refusal = how.refusalOf(object, step, error);
    return refusal ?? { reason: 'ApiServerRefused', message: error.message };
  }
}

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
