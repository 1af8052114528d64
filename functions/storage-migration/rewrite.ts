// One object, written anew as it is: the API server reads what is stored, and stores it again only
// when today's encoding differs. The resourceVersion tells which of the two it was.
import type { FailedObject } from '../../shared/api/storage-migration.ts';
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeError, isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Pace } from './pace.ts';

export type Rewritten =
  | { readonly outcome: 'changed' | 'current' | 'conflicts' | 'gone' }
  /** `cause` when it was the server that failed, and maybe fails for all. */
  | { readonly outcome: 'failed'; readonly failed: FailedObject; readonly cause?: KubeError };

export interface RewriteTask {
  readonly kube: KubeClient;
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly pace: Pace;
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** An API server that restarts is away for a few seconds; a conversion may fail once. */
const TRIES_MAX = 3;
const PAUSE_MS = 250;
/** What it says of too much to do passes, however often it says it. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** The object lost who owns what of it: nothing may be written any more. */
export class ManagedFieldsLost extends Error {}

export async function rewrite(task: RewriteTask, seen: KubeObject): Promise<Rewritten> {
  for (let attempt = 1; ;) {
    const startedMs = task.clock.nowMs();
    try {
      const written = await writeOnce(task, seen);
      task.pace.note({ tookMs: task.clock.nowMs() - startedMs });
      return judged(seen, written);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      const tookMs = task.clock.nowMs() - startedMs;
      const verdict = verdictOn(error, seen);
      if (verdict === 'throttled') {
        const retryAfterMs = error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS;
        task.pace.note({ tookMs, throttled: { retryAfterMs } });
        await task.clock.sleep(retryAfterMs, task.signal);
        continue;
      }
      task.pace.note({ tookMs });
      if (typeof verdict === 'object') return verdict;
      if (isRbac(error)) throw error;
      if (attempt === TRIES_MAX) return { ...failure(error, seen), cause: error };
      attempt += 1;
      await task.clock.sleep(PAUSE_MS, task.signal);
    }
  }
}

function writeOnce(
  { kube, ref, kind, dryRun, signal }: RewriteTask,
  { metadata }: KubeObject,
): Promise<KubeObject> {
  const { name, namespace, uid, resourceVersion } = metadata;
  const manifest = {
    apiVersion: ref.group === '' ? ref.version : `${ref.group}/${ref.version}`,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion },
  };
  // An apply, because it fails when the conversion webhook does. A patch or a put may then succeed
  // and lose who owns what. With uid and resourceVersion it never makes an object, nor touches one
  // that somebody wrote meanwhile.
  return kube.apply(ref, manifest, {
    fieldManager: FIELD_MANAGER,
    force: false,
    dryRun,
    metadataOnly: true,
    isOnce: true,
    signal,
  });
}

function judged({ metadata: before }: KubeObject, { metadata: after }: KubeObject): Rewritten {
  if ((before.managedFields ?? []).length > 0 && (after.managedFields ?? []).length === 0) {
    const name = [before.namespace, before.name].filter((part) => part !== undefined).join('/');
    throw new ManagedFieldsLost(`${name} came back without its managedFields`);
  }
  return { outcome: before.resourceVersion === after.resourceVersion ? 'current' : 'changed' };
}

function verdictOn(error: KubeError, seen: KubeObject): Rewritten | 'throttled' | 'again' {
  switch (error.code) {
    case 'KUBE_CONFLICT':
      // Whoever wrote it stored it as it should be; and who deleted it left nothing to store.
      return { outcome: isGone(error) ? 'gone' : 'conflicts' };
    case 'KUBE_NOT_FOUND':
      return { outcome: 'gone' };
    case 'KUBE_THROTTLED':
      return 'throttled';
    case 'KUBE_UNAVAILABLE':
    case 'KUBE_TIMEOUT':
    case 'KUBE_UNAUTHORIZED':
      return 'again';
    case 'KUBE_FORBIDDEN':
      return isRbac(error) ? 'again' : failure(error, seen);
    default:
      return failure(error, seen);
  }
}

const failure = (error: KubeError, seen: KubeObject) =>
  ({ outcome: 'failed', failed: failedOf(error, seen) }) as const;

const isGone = ({ answer }: KubeError): boolean =>
  answer?.message.includes('no existing object was found') === true;

/** RBAC refuses all objects alike; admission and quota refuse this one. */
const isRbac = ({ answer }: KubeError): boolean =>
  answer?.message.includes('cannot patch resource') === true;

/** The first words say it; the API server may quote a whole object. */
const MESSAGE_MAX = 400;

function failedOf(error: KubeError, { metadata }: KubeObject): FailedObject {
  const { name, namespace } = metadata;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    reason: error.answer?.reason || error.code,
    message: (error.answer?.message ?? error.message).slice(0, MESSAGE_MAX).replace(/[^.]$/, '$&.'),
  };
}
