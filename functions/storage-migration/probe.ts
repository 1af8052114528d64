// Whether objects that could not be written can be by now: asked of the API server without writing.
import type { FailedObject } from '../../shared/api/storage-migration.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../shared/kube/objects.ts';
import { wouldBeClean } from './clean.ts';
import type { Doors } from './doors.ts';
import { applyAsItIs, placeOf } from './rewrite.ts';
import type { Target } from './target.ts';

/** Of each object; twenty are named at most. */
const TIMEOUT_MS = 5_000;

interface ProbeTask {
  readonly doors: Doors;
  readonly target: Target;
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
    // Who hangs today is asked for again by the next sweep.
    if (task.doors.clock.nowMs() > task.endsAtMs) return false;
  }
  return failed.length === 0;
}

/** An object that is no more keeps nobody from going on. */
async function canBeWritten(task: ProbeTask, name: ObjectName, write: DryWrite): Promise<boolean> {
  const { doors, target, signal } = task;
  try {
    const options = { signal, isOnce: true, timeoutMs: TIMEOUT_MS };
    const object = await doors.kube.get(target.ref, placeOf(name), options);
    return object === null || (await write(task, object));
  } catch (error) {
    if (!isKubeError(error)) throw error;
    // Somebody writes it at this very moment, so it can be written.
    return error.code === 'KUBE_CONFLICT' && error.answer?.reason === 'Conflict';
  }
}

type DryWrite = (task: ProbeTask, object: KubeObject) => Promise<boolean>;

const rewriteDryly: DryWrite = async ({ doors: { kube }, target, signal }, object) => {
  await applyAsItIs({ kube, ...target, signal }, object, { dryRun: true, timeoutMs: TIMEOUT_MS });
  return true;
};

const cleanDryly: DryWrite = async ({ doors: { kube, clock }, target, signal }, object) =>
  wouldBeClean({ kube, clock, target, signal }, object);
