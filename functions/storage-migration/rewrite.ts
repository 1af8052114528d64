// One object, written anew as it is: the API server reads what is stored, and stores it again only
// when today's encoding differs. The resourceVersion tells which of the two it was.
import type { FailedObject } from '../../shared/api/storage-migration.ts';
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeError, isKubeError } from '../../shared/kube/errors.ts';
import {
  apiVersionOf,
  type KubeObject,
  type ObjectName,
  type ResourceRef,
} from '../../shared/kube/objects.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Pace } from './pace.ts';

export type Rewritten =
  | { readonly outcome: 'changed' | 'current' | 'gone' }
  /**
   * Somebody wrote it meanwhile, and it is `now` this. It may have been us, when an earlier write
   * got no answer.
   */
  | { readonly outcome: 'conflicts'; readonly now: KubeObject; readonly isMaybeOurs: boolean }
  /** `cause` when it was the server that failed, and maybe fails for all. */
  | { readonly outcome: 'failed'; readonly failed: FailedObject; readonly cause?: KubeError };

export interface WriteTask {
  readonly kube: KubeClient;
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly pace: Pace;
  readonly dryRun: boolean;
  readonly clock: Clock;
  /** From then on nothing is tried again: the rest of the request is for update how far it is. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
}

export interface RewriteTask extends WriteTask {
  /** Why this object must not be written, as far as that can be known before. */
  readonly lossOf: (
    object: KubeObject,
  ) => Promise<Omit<FailedObject, keyof ObjectName> | undefined>;
}

/** An API server that restarts is away for a few seconds; a conversion may fail once. */
const TRIES_MAX = 3;
const PAUSE_MS = 250;
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** A conversion webhook that hangs must not take the whole request with it. */
export const WRITE_TIMEOUT_MS = 8_000;

/** The object lost who owns what of it: nothing may be written any more. */
export class ManagedFieldsLost extends Error {}

/** Somebody may be just faster a few times, but not always. */
export const ATTEMPTS_MAX = 5;

/** `conflicts` is one that somebody writes all the time: how it is stored nobody has seen. */
export async function rewrite(task: RewriteTask, listed: KubeObject): Promise<Rewritten> {
  let object = listed;
  let isMaybeOurs = false;
  for (let attempt = 1; ; attempt += 1) {
    const before = object;
    const rewritten = await tryToWrite(task, before, () => rewriteOnce(task, before));
    const { outcome } = rewritten;
    // A change that nobody counts would make a pass a proof that is none.
    if (outcome === 'current' && isMaybeOurs) return { outcome: 'changed' };
    if (outcome !== 'conflicts' || attempt === ATTEMPTS_MAX) return rewritten;
    // The other writer may have used an API server that stores another version.
    object = rewritten.now;
    isMaybeOurs ||= rewritten.isMaybeOurs;
  }
}

async function rewriteOnce(task: RewriteTask, object: KubeObject): Promise<Rewritten> {
  const loss = await task.lossOf(object);
  if (loss !== undefined) {
    return { outcome: 'failed', failed: { ...placeOf(object.metadata), ...loss } };
  }
  const bounds = { dryRun: task.dryRun, timeoutMs: WRITE_TIMEOUT_MS };
  // A write that began is answered, also when the request is over: a change has to be counted.
  const { kube, ref, kind } = task;
  return judged(object, await applyAsItIs({ kube, ref, kind }, object, bounds));
}

/** Until it is written, or the object itself says why not. */
export async function tryToWrite(
  task: WriteTask,
  object: KubeObject,
  once: () => Promise<Rewritten>,
): Promise<Rewritten> {
  let isUnanswered = false;
  for (let attempt = 1; ; attempt += 1) {
    const startedMs = task.clock.nowMs();
    try {
      const written = await once();
      task.pace.note({ tookMs: task.clock.nowMs() - startedMs });
      return written;
    } catch (error) {
      if (!isKubeError(error) || isRbac(error)) throw error;
      const tookMs = task.clock.nowMs() - startedMs;
      const { code, retryAfterMs = DEFAULT_RETRY_AFTER_MS } = error;
      const isThrottled = code === 'KUBE_THROTTLED';
      task.pace.note({ tookMs, ...(isThrottled ? { throttled: { retryAfterMs } } : {}) });
      const isOver = task.clock.nowMs() > task.endsAtMs;
      // It says when that is over, and it is no fault of the object.
      const triesMax = isThrottled ? Infinity : TRIES_MAX;
      if (isThrottled && isOver) throw error;
      if (!MAY_PASS.has(code) || attempt >= triesMax || isOver) {
        return asItIs(task, object, error, isUnanswered);
      }
      isUnanswered ||= UNANSWERED.has(code);
      await task.clock.sleep(
        isThrottled ? Math.max(PAUSE_MS, retryAfterMs) : PAUSE_MS,
        task.signal,
      );
    }
  }
}

const MAY_PASS: ReadonlySet<string> = new Set([
  'KUBE_THROTTLED',
  'KUBE_UNAVAILABLE',
  'KUBE_TIMEOUT',
  'KUBE_UNAUTHORIZED',
]);

/** It may have been written all the same. */
const UNANSWERED: ReadonlySet<string> = new Set(['KUBE_UNAVAILABLE', 'KUBE_TIMEOUT']);

export const placeOf = ({ name, namespace }: ObjectName): ObjectName =>
  namespace === undefined ? { name } : { name, namespace };

/** The name of an object for people: `namespace/name`. */
export const nameOf = ({ name, namespace }: ObjectName): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export type Apply = Pick<WriteTask, 'kube' | 'ref' | 'kind'> & { readonly signal?: AbortSignal };

/** Applies an object as it is: the API server stores it anew, and nothing in it changes. */
export function applyAsItIs(
  { kube, ref, kind, signal }: Apply,
  { metadata }: KubeObject,
  bounds: {
    readonly dryRun: boolean;
    readonly timeoutMs: number;
    /** False for an answer that is the whole object. */
    readonly metadataOnly?: boolean;
  },
): Promise<KubeObject> {
  const { uid, resourceVersion } = metadata;
  const manifest = {
    apiVersion: apiVersionOf(ref),
    kind,
    metadata: { ...placeOf(metadata), uid, resourceVersion },
  };
  // An apply, because it fails when the conversion webhook does. A patch or a put may then succeed
  // and lose who owns what. With uid and resourceVersion it never makes an object, nor touches one
  // that somebody wrote meanwhile.
  const how = { fieldManager: FIELD_MANAGER, force: false, metadataOnly: true, isOnce: true };
  return kube.apply(ref, manifest, { ...how, ...bounds, ...(signal && { signal }) });
}

function judged({ metadata: before }: KubeObject, { metadata: after }: KubeObject): Rewritten {
  if ((before.managedFields ?? []).length > 0 && (after.managedFields ?? []).length === 0) {
    throw new ManagedFieldsLost(`${nameOf(before)} came back without its managedFields`);
  }
  return { outcome: before.resourceVersion === after.resourceVersion ? 'current' : 'changed' };
}

/**
 * Why it was not written the object itself tells. The words and the number of a refusal do not:
 * an admission webhook may refuse with a conflict, or with "not found".
 */
async function asItIs(
  { kube, ref, signal }: WriteTask,
  object: KubeObject,
  error: KubeError,
  isMaybeOurs: boolean,
): Promise<Rewritten> {
  const refused = { outcome: 'failed', failed: failedOf(error, object) } as const;
  // A server that fails is not asked more than it must be.
  if (MAY_PASS.has(error.code)) return { ...refused, cause: error };
  try {
    const options = { signal, isOnce: true, timeoutMs: WRITE_TIMEOUT_MS };
    const now = await kube.get(ref, placeOf(object.metadata), options);
    if (now?.metadata.uid !== object.metadata.uid) return { outcome: 'gone' };
    const isSame = now.metadata.resourceVersion === object.metadata.resourceVersion;
    return isSame ? refused : { outcome: 'conflicts', now, isMaybeOurs };
  } catch (again) {
    if (!isKubeError(again)) throw again;
    return refused;
  }
}

/** RBAC refuses all objects alike; admission and quota refuse this one. */
const isRbac = ({ code, answer }: KubeError): boolean =>
  code === 'KUBE_FORBIDDEN' && answer?.message.includes('cannot patch resource') === true;

/** The first words say it; the API server may quote a whole object. */
const MESSAGE_MAX = 400;

function failedOf(error: KubeError, { metadata }: KubeObject): FailedObject {
  return {
    ...placeOf(metadata),
    reason: error.answer?.reason || error.code,
    message: (error.answer?.message ?? error.message).slice(0, MESSAGE_MAX).replace(/[^.]$/, '$&.'),
  };
}
