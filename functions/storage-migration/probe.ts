// Whether objects that could not be written can be by now: asked of the API server without writing.
import type { FailedObject } from '../../shared/api/storage-migration.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { ObjectName } from '../../shared/kube/objects.ts';
import type { Doors } from './doors.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { placeOf, rewriting } from './rewrite.ts';
import type { Target } from './target.ts';

/** Of each object; twenty are named at most. */
const TIMEOUT_MS = 5_000;

interface ProbeTask {
  readonly doors: Doors;
  readonly target: Target;
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
}

/** True as soon as one of them would be taken, or is no more. */
export async function probeFailed(
  { doors: { kube, clock }, target, endsAtMs, signal }: ProbeTask,
  failed: readonly FailedObject[],
): Promise<boolean> {
  for (const one of failed) {
    if (await canBeWritten(kube, target, one, signal)) return true;
    // Who hangs today is asked for again by the next sweep.
    if (clock.nowMs() > endsAtMs) return false;
  }
  return failed.length === 0;
}

/** An object that is no more keeps nobody from going on. */
async function canBeWritten(
  kube: KubeClient,
  { ref, kind }: Target,
  name: ObjectName,
  signal: AbortSignal,
): Promise<boolean> {
  const options = { signal, isOnce: true, timeoutMs: TIMEOUT_MS };
  try {
    const object = await kube.get(ref, placeOf(name), options);
    if (object === null) return true;
    const apply = { fieldManager: FIELD_MANAGER, force: false, dryRun: true, metadataOnly: true };
    await kube.apply(ref, rewriting(ref, kind, object), { ...apply, ...options });
    return true;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    // Somebody writes it at this very moment, so it can be written.
    return error.code === 'KUBE_CONFLICT' && error.answer?.reason === 'Conflict';
  }
}
