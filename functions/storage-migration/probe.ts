// Whether objects that could not be written can be by now: asked of the API server without writing.
import type { FailedObject } from '../../shared/api/storage-migration.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../shared/kube/objects.ts';
import { wouldBeClean } from './clean.ts';
import type { Deps } from './deps.ts';
import { applyAsItIs, placeOf } from './rewrite.ts';
import { lossOf } from './round-trip.ts';
import type { Target } from './observe.ts';

/** For each object; at most twenty are named. */
const TIMEOUT_MS = 5_000;

interface ProbeTask {
  readonly deps: Deps;
  readonly target: Target;
  readonly acceptedLoss: readonly string[];
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
}

type Failed = readonly FailedObject[];

/** True as soon as one of them would be taken, or is no more. */
export const probeFailed = (task: ProbeTask, failed: Failed): Promise<boolean> =>
  probe(task, failed, rewriteDryly);

/** The same of those that could not be cleaned: an apply may fail on these in any case. */
export const probeUnclean = (task: ProbeTask, failed: Failed): Promise<boolean> =>
  probe(task, failed, cleanDryly);

async function probe(task: ProbeTask, failed: Failed, write: DryWrite): Promise<boolean> {
  for (const one of failed) {
    if (await canBeWritten(task, one, write)) return true;
    // An object that hangs now is tried again by the next sweep.
    if (task.deps.clock.nowMs() > task.endsAtMs) return false;
  }
  return failed.length === 0;
}

/** An object that is no more keeps nobody from going on. */
async function canBeWritten(task: ProbeTask, name: ObjectName, write: DryWrite): Promise<boolean> {
  try {
    const object = await read(task, name);
    return object === null || (await isWritten(task, object, write));
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return false;
  }
}

const read = ({ deps: { kube }, target, signal }: ProbeTask, name: ObjectName) =>
  kube.get(target.ref, placeOf(name), { signal, isOnce: true, timeoutMs: TIMEOUT_MS });

/**
 * A conflict because somebody wrote the object just now shows that it can be written. A webhook
 * that refuses with the same code shows nothing, so the version tells the two apart.
 */
async function isWritten(task: ProbeTask, object: KubeObject, write: DryWrite): Promise<boolean> {
  try {
    return await write(task, object);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_CONFLICT')) throw error;
    const now = await read(task, object.metadata);
    return now?.metadata.resourceVersion !== object.metadata.resourceVersion;
  }
}

type DryWrite = (task: ProbeTask, object: KubeObject) => Promise<boolean>;

const rewriteDryly: DryWrite = async ({ deps: { kube }, ...task }, object) => {
  const { target, signal } = task;
  if ((await lossOf({ kube, ...task }, object)) !== undefined) return false;
  await applyAsItIs({ kube, ...target, signal }, object, { dryRun: true, timeoutMs: TIMEOUT_MS });
  return true;
};

const cleanDryly: DryWrite = async ({ deps: { kube, clock }, target, signal }, object) =>
  wouldBeClean({ kube, clock, target, signal }, object);
