// What the function does when it wakes: looks at each cluster that the event may be about, takes
// one step after the other while its time lasts, and leaves the rest to the next event.
import { NATS_CLUSTER_LABEL, NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { sweepEach } from '../../shared/kube/sweep-lease.ts';
import { announceOn } from './announce.ts';
import { type Cluster, clusterOf } from './cluster.ts';
import { decide, isConverged } from './decide.ts';
import { type Decision, waitFor } from './decision.ts';
import type { Deps } from './deps.ts';
import { tryAgain } from './effort.ts';
import { observe } from './observe.ts';
import { fenceRefused, rightsMissing } from './rights.ts';
import { write, writeUnseen } from './say.ts';
import { take, type Taken } from './steps.ts';
import type { Word, World, Records } from './world.ts';

/** Servers tell nobody that they are current again: they are asked, as long as somebody waits. */
const POLL_MS = 1_000;

/** Of clusters nothing but their names is held: tenants write them, as large as may be. */
const CLUSTERS_PER_PAGE = 500;

/** The tick of each minute: every cluster. */
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
  const lookAt = ({ metadata }: { readonly metadata: Place }) => look(metadata, context);
  await sweepEach(found, lookAt, { kube, lease, nowMs, log, signal });
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

const placeOf = ({ namespace = '', name }: KubeObject['metadata']): Place => ({ namespace, name });

/** An event names an object; what it says of it is read anew. */
export async function takeChange({ data }: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const { kind, metadata } = isRecord(data) ? data : {};
  const { namespace: space, name: own, labels } = isRecord(metadata) ? metadata : {};
  const label = isRecord(labels) ? textOf(labels[NATS_CLUSTER_LABEL]) : '';
  const [namespace, name] = [textOf(space), kind === 'NatsCluster' ? textOf(own) : label];
  if (namespace === '' || name === '') return;
  const object = await deps.kube.get(NATS_CLUSTERS, { namespace, name }, { signal });
  if (object === null) return;
  // Of what it is made of something changed, and we may not have done it.
  if (kind !== 'NatsCluster' && kind !== 'Pod') delete deps.memoryOf(object.metadata.uid).parts;
  await look({ namespace, name }, context, object);
}

async function look(place: Place, context: Context<Deps>, first?: KubeObject): Promise<void> {
  const { deps, log } = context;
  const natsCluster = `${place.namespace}/${place.name}`;
  await deps.serialized(natsCluster, async (hasWaited) => {
    try {
      // Others were answered because this look is of a moment after their changes.
      await workOn(place, context, hasWaited ? undefined : first);
    } catch (error) {
      // Another instance, or a person, was first, or it is deleted: their change is an event of its
      // own.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
      log.info({ natsCluster }, 'somebody else was first');
    }
  });
}

async function workOn(
  { namespace, name }: Place,
  context: Context<Deps>,
  first: KubeObject | undefined,
): Promise<void> {
  const { deps, signal } = context;
  const { clock, kube, workMs } = deps;
  const endsAtMs = clock.nowMs() + workMs;
  let known = first;
  const lookNow = async (): Promise<number | undefined> => {
    const object = known ?? (await kube.get(NATS_CLUSTERS, { namespace, name }, { signal }));
    known = undefined;
    if (object === null) return undefined;
    const cluster = clusterOf(object);
    const looking = lookOnce(cluster, context, clock.nowMs() > endsAtMs);
    return orLackOfRights(looking, cluster, context);
  };
  for (;;) {
    const pauseMs = await deps.atMost(lookNow);
    if (pauseMs === undefined) return;
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
  }
}

/** A namespace that grants nothing is told so, and holds up no other. */
async function orLackOfRights<Result>(
  looking: Promise<Result>,
  cluster: Cluster,
  { deps, signal, log }: Context<Deps>,
): Promise<Result | undefined> {
  try {
    return await looking;
  } catch (error) {
    const word = rightsMissing(cluster, error);
    if (word === undefined) throw error;
    log.warn({ natsCluster: `${cluster.namespace}/${cluster.name}` }, word.message);
    await writeUnseen(deps, cluster, word, signal);
    return undefined;
  }
}

/** How long to wait before the next look; undefined when that is left to the next event. */
async function lookOnce(
  cluster: Cluster,
  context: Context<Deps>,
  isOver: boolean,
): Promise<number | undefined> {
  const { deps, signal, log } = context;
  const memory = deps.memoryOf(cluster.uid);
  const { world, isRemembered } = await observe(deps, cluster, signal);
  const decision = decide(world);
  const { step, next, waitsFor } = decision;
  const natsCluster = `${cluster.namespace}/${cluster.name}`;
  if (step !== undefined && isRemembered) {
    delete memory.parts;
    return 0;
  }
  if (step !== undefined && !isOver) {
    const held = tryAgain(memory.efforts, step, next, world);
    if (held !== undefined) {
      await write(deps, world, waitFor(next, [held], held), { signal });
      return undefined;
    }
    log.info({ natsCluster, step: step.take, next }, 'step');
    return step.take === 'remember'
      ? remember(world, decision, step.records, context)
      : act(world, decision, step, context);
  }
  log.info({ natsCluster, next, waitsFor: waitsFor?.message }, 'no step');
  const isDone = isOver || isConverged(world, decision);
  // At the end all is said, whatever was left out on the way.
  if (isDone || isNews(cluster, decision)) await write(deps, world, decision, { signal });
  return isDone ? undefined : POLL_MS;
}

async function remember(
  world: World,
  decision: Decision,
  records: Records,
  { deps, signal }: Context<Deps>,
): Promise<number> {
  await write(deps, world, decision, { signal, records });
  return 0;
}

async function act(
  world: World,
  decision: Decision,
  step: Parameters<typeof take>[2],
  { deps, signal }: Context<Deps>,
): Promise<number | undefined> {
  const { cluster } = world;
  const isFence = step.take === 'apply' && step.part.key === 'networkPolicy';
  const taken = await orRefusal(take(deps, world, step, signal), cluster, isFence);
  if ('reason' in taken) {
    if (isFence) {
      const memory = deps.memoryOf(cluster.uid);
      memory.unfenced = { word: taken, atMs: deps.clock.nowMs() };
      delete memory.parts;
      return 0;
    }
    await write(deps, world, waitFor(decision.next, [taken], taken), { signal });
    return undefined;
  }
  const { said, isSlow } = taken;
  delete deps.memoryOf(cluster.uid).parts;
  if (said !== undefined) await announceOn(cluster, said, deps, signal);
  if (!isSlow) return 0;
  if (isNews(cluster, decision)) await write(deps, world, decision, { signal });
  return POLL_MS;
}

/** A quota, a policy, or a spec that makes no valid pod: nobody but a person can change that. */
async function orRefusal(
  taking: Promise<Taken | Word>,
  cluster: Cluster,
  isFence: boolean,
): Promise<Taken | Word> {
  try {
    return await taking;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
    const refused = isFence ? fenceRefused(cluster, error) : rightsMissing(cluster, error);
    return refused ?? { reason: 'ApiServerRefused', message: error.message };
  }
}

/** What it waits for changes all the time in words; it is written when it is another matter. */
function isNews({ status, generation }: Cluster, { next, trouble, waitsFor }: Decision): boolean {
  const degraded = status.conditions?.find(({ type }) => type === 'Degraded');
  const isWaiting = status.plan?.waitsFor !== undefined;
  return (
    status.observedGeneration !== generation ||
    status.plan?.next !== next ||
    isWaiting !== (waitsFor !== undefined) ||
    (trouble !== undefined && degraded?.reason !== trouble.reason)
  );
}
