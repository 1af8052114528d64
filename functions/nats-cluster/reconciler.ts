// One reconcile of a cluster: it is observed, decided on and moved on by one step. The reconciler
// does so with each cluster that an event or the sweep names.
import { NATS_CLUSTER_LABEL, NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import type { Context } from '../../shared/function/define.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { holdBack } from '../../shared/stateful/attempts.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { Reconciler } from '../../shared/stateful/reconciler.ts';
import type { StepResult } from '../../shared/stateful/steps.ts';
import { type Cluster, clusterOf } from './cluster.ts';
import { decide, isConverged } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Deps } from './deps.ts';
import { attemptOf } from './attempts.ts';
import { observe } from './observe.ts';
import { missingFor, refusedPolicy } from './missing-rights.ts';
import { recordStepEvent, updateStatus, updateStatusUnobserved } from './write-status.ts';
import { applyStep } from './steps.ts';
import type { State, Records } from './state.ts';

/** No event tells that a server is current again, so servers are polled while a step waits. */
const POLL_MS = 1_000;

export const reconciler = new Reconciler<Deps>({
  ref: NATS_CLUSTERS,
  kind: 'NatsCluster',
  label: NATS_CLUSTER_LABEL,
  logField: 'natsCluster',
  reconcileOnce: (object, context, isTimeOver) =>
    reconcileOnce(clusterOf(object), context, isTimeOver),
  rightsMissing: (object, error) => missingFor(clusterOf(object), error),
  reportUnobserved: (object, reason, { deps, signal }) =>
    updateStatusUnobserved(deps, clusterOf(object), reason, signal),
  // Pods are read by each observation.
  partChanged: (partKind, { metadata }, deps) => {
    if (partKind !== 'Pod') delete deps.memoryOf(metadata.uid).parts;
  },
});

/** How long to wait before the next reconcile; undefined when that is left to the next event. */
async function reconcileOnce(
  cluster: Cluster,
  context: Context<Deps>,
  isTimeOver: boolean,
): Promise<number | undefined> {
  const { deps, signal, log } = context;
  const memory = deps.memoryOf(cluster.uid);
  const { state, isRemembered } = await observe(deps, cluster, signal);
  const decision = decide(state);
  const { step, next, waitsFor } = decision;
  const natsCluster = `${cluster.namespace}/${cluster.name}`;
  if (step !== undefined && isRemembered) {
    delete memory.parts;
    return 0;
  }
  if (step !== undefined && !isTimeOver) {
    const held = holdBack(memory.attempts, attemptOf(step, next, state), state.nowMs);
    if (held !== undefined) {
      await updateStatus(deps, state, waitFor(next, [held], held), { signal });
      return undefined;
    }
    log.info({ natsCluster, step: step.type, next }, 'step');
    return step.type === 'write-records'
      ? writeRecords(state, decision, step.records, context)
      : apply(state, decision, step, context);
  }
  log.info({ natsCluster, next, waitsFor: waitsFor?.message }, 'no step');
  const isDone = isTimeOver || isConverged(state, decision);
  // The last write of a request is complete, also where those on the way were left out.
  if (isDone || hasChanged(cluster, decision)) {
    await updateStatus(deps, state, decision, { signal });
  }
  return isDone ? undefined : POLL_MS;
}

async function writeRecords(
  state: State,
  decision: Decision,
  records: Records,
  { deps, signal }: Context<Deps>,
): Promise<number> {
  await updateStatus(deps, state, decision, { signal, records });
  return 0;
}

async function apply(
  state: State,
  decision: Decision,
  step: Parameters<typeof applyStep>[2],
  { deps, signal }: Context<Deps>,
): Promise<number | undefined> {
  const { cluster } = state;
  const isPolicy = step.type === 'apply' && step.part.key === 'networkPolicy';
  const result = await orRefusal(applyStep(deps, state, step, signal), cluster, isPolicy);
  if ('reason' in result) {
    if (isPolicy) {
      const memory = deps.memoryOf(cluster.uid);
      memory.policyRefusal = { reason: result, atMs: deps.clock.nowMs() };
      delete memory.parts;
      return 0;
    }
    await updateStatus(deps, state, waitFor(decision.next, [result], result), { signal });
    return undefined;
  }
  const { event, isSlow } = result;
  delete deps.memoryOf(cluster.uid).parts;
  if (event !== undefined) await recordStepEvent(deps, cluster, event, signal);
  if (!isSlow) return 0;
  if (hasChanged(cluster, decision)) await updateStatus(deps, state, decision, { signal });
  return POLL_MS;
}

/** A quota, a policy, or a spec that makes no valid pod: only a person can change that. */
async function orRefusal(
  applying: Promise<StepResult | Reason>,
  cluster: Cluster,
  isPolicy: boolean,
): Promise<StepResult | Reason> {
  try {
    return await applying;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
    const refused = isPolicy ? refusedPolicy(cluster, error) : missingFor(cluster, error);
    return refused ?? { reason: 'ApiServerRefused', message: error.message };
  }
}

/** The message changes all the time; the status is written when the plan or reason differs. */
function hasChanged(
  { status, generation }: Cluster,
  { next, trouble, waitsFor }: Decision,
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
