// One object, relieved of the entries of its managedFields that name versions which its CRD does
// not serve. Whatever happens it keeps every other entry, and always one at least.
import type { Patch } from '../../shared/kube/writes.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import {
  LOOKS_MAX,
  ManagedFieldsLost,
  type Rewritten,
  WRITE_TIMEOUT_MS,
  type WriteTask,
  nameOf,
  placeOf,
  tryToWrite,
} from './rewrite.ts';
import { hasEntries, hasStaleFields, withoutStale } from './stale-fields.ts';
import type { Target } from './target.ts';

export interface CleanTask extends WriteTask {
  readonly target: Target;
}

/** `changed` is one that was cleaned, `current` one in which there was nothing to clean. */
export async function clean(task: CleanTask, listed: KubeObject): Promise<Rewritten> {
  let seen = listed;
  for (let look = 1; ; look += 1) {
    if (!hasStaleFields(task.target, seen)) return { outcome: 'current' };
    const now = seen;
    const cleaned = await tryToWrite(task, now, () => cleanOnce(task, now));
    if (cleaned.outcome !== 'conflicts') return cleaned;
    // Who wrote it meanwhile has not taken the entries away.
    if (look === LOOKS_MAX) return restless(now);
    seen = cleaned.now;
  }
}

async function cleanOnce(task: CleanTask, seen: KubeObject): Promise<Rewritten> {
  // Asked first: where a version cannot be converted just now, as while a conversion webhook is
  // away, the API server may take the patch and drop all managedFields.
  if (!(await wouldBeClean(task, seen))) return wouldLose(seen);
  if (await isCleanedBy(task, seen, false)) return { outcome: 'changed' };
  throw new ManagedFieldsLost(`${nameOf(seen.metadata)} came back without its managedFields`);
}

export type Question = Pick<CleanTask, 'kube' | 'clock' | 'target' | 'signal'>;

/** Asked without writing: every entry that is to stay would, and nobody refuses. */
export const wouldBeClean = async (question: Question, object: KubeObject): Promise<boolean> =>
  !hasStaleFields(question.target, object) || isCleanedBy(question, object, true);

async function isCleanedBy(
  { kube, clock, target, signal }: Question,
  seen: KubeObject,
  dryRun: boolean,
): Promise<boolean> {
  const { metadata } = seen;
  const meant = withoutStale(target, seen, timestamp(clock.nowMs()));
  const patch: Patch = {
    type: 'json',
    body: [
      { op: 'test', path: '/metadata/uid', value: metadata.uid },
      { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
      { op: 'replace', path: '/metadata/managedFields', value: meant },
    ],
  };
  const answer = await kube.patch(target.ref, placeOf(metadata), patch, {
    fieldManager: FIELD_MANAGER,
    dryRun,
    metadataOnly: true,
    isOnce: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    signal,
  });
  return hasEntries(answer, meant);
}

const failed = ({ metadata }: KubeObject, reason: string, message: string): Rewritten => ({
  outcome: 'failed',
  failed: { ...placeOf(metadata), reason, message },
});

const restless = (seen: KubeObject): Rewritten =>
  failed(seen, 'Conflict', 'Somebody writes it all the time.');

function wouldLose(seen: KubeObject): Rewritten {
  const message =
    'The API server would drop managedFields that are to stay: can it convert the object?';
  return failed(seen, 'ManagedFieldsWouldBeLost', message);
}
