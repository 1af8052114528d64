// One object, relieved of the entries of its managedFields that name versions which its CRD does
// not serve. Whatever happens it keeps every other entry, and always one at least.
import type { Patch } from '../../shared/kube/writes.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import {
  ATTEMPTS_MAX,
  ManagedFieldsLost,
  type Rewritten,
  WRITE_TIMEOUT_MS,
  type WriteTask,
  nameOf,
  placeOf,
  tryToWrite,
} from './rewrite.ts';
import { hasEntries, hasStaleFields, withoutStale } from './stale-fields.ts';
import type { Target } from './observe.ts';

export interface CleanTask extends WriteTask {
  readonly target: Target;
}

/** `changed` is one that was cleaned, `current` one in which there was nothing to clean. */
export async function clean(task: CleanTask, listed: KubeObject): Promise<Rewritten> {
  let object = listed;
  for (let attempt = 1; ; attempt += 1) {
    if (!hasStaleFields(task.target, object)) return { outcome: 'current' };
    const now = object;
    const cleaned = await tryToWrite(task, now, () => cleanOnce(task, now));
    if (cleaned.outcome !== 'conflicts') return cleaned;
    // The other writer has not removed the stale entries.
    if (attempt === ATTEMPTS_MAX) return restless(now);
    object = cleaned.now;
  }
}

async function cleanOnce(task: CleanTask, object: KubeObject): Promise<Rewritten> {
  // Asked first: where a version cannot be converted just now, as while a conversion webhook is
  // away, the API server may take the patch and drop all managedFields.
  if (!(await wouldBeClean(task, object))) return wouldLose(object);
  if (await isCleanedBy(task, object, false)) return { outcome: 'changed' };
  throw new ManagedFieldsLost(`${nameOf(object.metadata)} came back without its managedFields`);
}

export type Question = Pick<CleanTask, 'kube' | 'clock' | 'target' | 'signal'>;

/** Asked without writing: every entry that is to stay would, and nobody refuses. */
export const wouldBeClean = async (question: Question, object: KubeObject): Promise<boolean> =>
  !hasStaleFields(question.target, object) || isCleanedBy(question, object, true);

async function isCleanedBy(
  { kube, clock, target, signal }: Question,
  object: KubeObject,
  dryRun: boolean,
): Promise<boolean> {
  const { metadata } = object;
  const meant = withoutStale(target, object, timestamp(clock.nowMs()));
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

const restless = (object: KubeObject): Rewritten =>
  failed(object, 'Conflict', 'Somebody writes it all the time.');

function wouldLose(object: KubeObject): Rewritten {
  const message =
    'The API server would drop managedFields that are to stay: can it convert the object?';
  return failed(object, 'ManagedFieldsWouldBeLost', message);
}
