// The reconciler: an event or the sweep names clusters. Each is observed, decided on and moved on
// by one step, again and again until WORK_SECONDS are over. The rest is left to the next event.
import { NATS_CLUSTER_LABEL, NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { sweepEach } from '../../shared/kube/sweep-lease.ts';
import { holdBack } from '../../shared/stateful/attempts.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { announceOn } from './announce.ts';
import { type Cluster, clusterOf } from './cluster.ts';
import { decide, isConverged } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Deps } from './deps.ts';
import { attemptOf } from './attempts.ts';
import { observe } from './observe.ts';
import { policyRefusalOf, rightsMissing } from './missing-rights.ts';
import { updateStatus, updateStatusUnobserved } from './write-status.ts';
import { applyStep, type StepResult } from './steps.ts';
import type { State, Records } from './state.ts';

/** No event tells that a server is current again, so servers are polled while a step waits. */
const POLL_MS = 1_000;

/** Only names are held in memory: tenants may write objects of any size. */
const CLUSTERS_PER_PAGE = 500;

/** Reconciles every cluster, once a minute. */
export async function sweepAll(context: Context<Deps>): Promise<void> {
  const { deps, log, signal } = context;
  const { kube, lease, clock } = deps;
  const found: { readonly metadata: Place }[] = [];
  const uids = new Set<string>();
  const options = { limit: CLUSTERS_PER_PAGE, metadataOnly: true, signal };
  for await (const { items } of kube.pages(NATS_CLUSTERS, options)) {
    for (const { metadata } of items) {
      found.push({ metadata: placeOf(metadata) });
      uids.add(metadata.uid);
    }
  }
  deps.keepOnly(uids);
  const nowMs = (): number => clock.nowMs();
  const reconcileOne = ({ metadata }: { readonly metadata: Place }) => reconcile(metadata, context);
  await sweepEach(found, reconcileOne, { kube, lease, nowMs, log, signal });
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

const placeOf = ({ namespace = '', name }: KubeObject['metadata']): Place => ({ namespace, name });

/** An event only names an object; its state is read again: events come late, twice or forged. */
export async function takeChange({ data }: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const { kind, metadata } = isRecord(data) ? data : {};
  const { namespace: space, name: own, labels } = isRecord(metadata) ? metadata : {};
  const label = isRecord(labels) ? textOf(labels[NATS_CLUSTER_LABEL]) : '';
  const [namespace, name] = [textOf(space), kind === 'NatsCluster' ? textOf(own) : label];
  if (namespace === '' || name === '') return;
  const object = await deps.kube.get(NATS_CLUSTERS, { namespace, name }, { signal });
  if (object === null) return;
  // A part of the cluster changed, perhaps by somebody else: the cached parts are no longer true.
  if (kind !== 'NatsCluster' && kind !== 'Pod') delete deps.memoryOf(object.metadata.uid).parts;
  await reconcile({ namespace, name }, context, object);
}

async function reconcile(place: Place, context: Context<Deps>, first?: KubeObject): Promise<void> {
  const { deps, log } = context;
  const natsCluster = `${place.namespace}/${place.name}`;
  await deps.serialized(natsCluster, async (hasWaited) => {
    try {
      // Events that waited together are answered by one reconcile, so it has to read the object
      // after all of them arrived.
      await reconcileUntilDone(place, context, hasWaited ? undefined : first);
    } catch (error) {
      // Another instance or a person changed or deleted the cluster. That change is an event of
      // its own, which begins from the new state.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
      log.info({ natsCluster }, 'somebody else was first');
    }
  });
}

async function reconcileUntilDone(
  { namespace, name }: Place,
  context: Context<Deps>,
  first: KubeObject | undefined,
): Promise<void> {
  const { deps, signal } = context;
  const { clock, kube, workMs } = deps;
  const endsAtMs = clock.nowMs() + workMs;
  let unused = first;
  const reconcileNow = async (): Promise<number | undefined> => {
    const object = unused ?? (await kube.get(NATS_CLUSTERS, { namespace, name }, { signal }));
    unused = undefined;
    if (object === null) return undefined;
    const cluster = clusterOf(object);
    const reconciling = reconcileOnce(cluster, context, clock.nowMs() > endsAtMs);
    return orMissingRights(reconciling, cluster, context);
  };
  for (;;) {
    const pauseMs = await deps.inTurn(reconcileNow);
    if (pauseMs === undefined) return;
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
  }
}

/** Missing rights in one namespace are written to its status, and hold up no other namespace. */
async function orMissingRights<Result>(
  reconciling: Promise<Result>,
  cluster: Cluster,
  { deps, signal, log }: Context<Deps>,
): Promise<Result | undefined> {
  try {
    return await reconciling;
  } catch (error) {
    const reason = rightsMissing(cluster, error);
    if (reason === undefined) throw error;
    log.warn({ natsCluster: `${cluster.namespace}/${cluster.name}` }, reason.message);
    await updateStatusUnobserved(deps, cluster, reason, signal);
    return undefined;
  }
}

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
  if (event !== undefined) await announceOn(cluster, event, deps, signal);
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
    const refused = isPolicy ? policyRefusalOf(cluster, error) : rightsMissing(cluster, error);
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
