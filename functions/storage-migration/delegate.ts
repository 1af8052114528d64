// Hands the rewriting to another migrator, by an order that goes with our own object, and looks
// what became of it. Whatever it says proves nothing: our own pass over all objects follows.
import { createHash } from 'node:crypto';
import {
  type Delegate,
  type OtherMode,
  type StorageMigrationStatus,
} from '../../shared/api/storage-migration.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import {
  apiVersionOf,
  type KubeObject,
  type Manifest,
  type OwnerReference,
} from '../../shared/kube/objects.ts';
import type { Deps } from './deps.ts';
import type { Migration } from './migration.ts';
import { modeUnavailable, ORDER_KIND, orderedResource, servedMigrator } from './migrator.ts';
import { ownerOf } from './owner.ts';
import {
  blocked,
  delegating,
  MIGRATOR_REFUSED,
  MIGRATOR_SILENT,
  type StatusUpdate,
} from './status.ts';
import type { Target } from './observe.ts';

/** The in-tree one takes a minute and a half for an idle kind; the community's has a queue. */
const SILENT_MS = 600_000;
/** Length of the other migrator's message; its own object has it whole. */
const MESSAGE_MAX = 500;
/** With what is added it is a name still. */
const NAME_MAX = 240;

/** Observes the other migrator's object once and returns the next status; it never waits. */
export async function delegate(
  deps: Deps,
  migration: Migration,
  target: Target,
  mode: OtherMode,
  signal: AbortSignal,
): Promise<StatusUpdate> {
  try {
    return await observeMigrator(deps, migration, target, mode, signal);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST')) throw error;
    return blocked(migration.status, { reason: MIGRATOR_REFUSED, message: error.message });
  }
}

async function observeMigrator(
  { kube, clock }: Deps,
  migration: Migration,
  target: Target,
  mode: OtherMode,
  signal: AbortSignal,
): Promise<StatusUpdate> {
  const { status } = migration;
  const ref = await servedMigrator(kube, mode, signal);
  if (ref === undefined) return blocked(status, modeUnavailable(mode));
  const apiVersion = apiVersionOf(ref);
  if (status.delegate === undefined) {
    // An instance that died before it wrote the status created the object under the same name.
    const owner = await ownerOf(kube, migration, signal);
    const order = orderOf(migration, { target, mode, apiVersion, owner });
    const { object } = await kube.create(ref, order, { signal });
    const { name, uid } = object.metadata;
    return delegateStatus(status, { apiVersion, name, uid }, object, clock.nowMs());
  }
  const { name } = status.delegate;
  return delegateStatus(
    status,
    status.delegate,
    await kube.get(ref, { name }, { signal }),
    clock.nowMs(),
  );
}

interface OrderOf {
  readonly target: Target;
  readonly mode: OtherMode;
  readonly apiVersion: string;
  readonly owner: OwnerReference;
}

function orderOf(
  { object: { metadata }, generation }: Migration,
  { target: { ref, crd }, mode, apiVersion, owner }: OrderOf,
): Manifest {
  const { name, uid } = metadata;
  // Another one for each beginning: one that is over cannot be done again.
  const beginning = [uid, generation, crd?.uid, crd?.generation].join(' ');
  const suffix = createHash('sha256').update(beginning).digest('hex').slice(0, 8);
  return {
    apiVersion,
    kind: ORDER_KIND,
    metadata: {
      name: `${name.slice(0, NAME_MAX).replace(/[.-]+$/, '')}-${suffix}`,
      ownerReferences: [owner],
    },
    spec: { resource: orderedResource(mode, ref) },
  };
}

/**
 * The next status of a delegated migration, from the other migrator's object; null when it is gone.
 */
export function delegateStatus(
  status: StorageMigrationStatus,
  known: Delegate,
  order: KubeObject | null,
  nowMs: number,
): StatusUpdate {
  const name = `StorageVersionMigration ${known.name} (${known.apiVersion})`;
  if (order?.metadata.uid !== known.uid) return delegating(status, { ...known, result: 'Gone' });
  const conditions = conditionsOf(order).filter((one) => one['status'] === 'True');
  for (const result of ['Succeeded', 'Failed'] as const) {
    const end = conditions.find(({ type }) => type === result);
    if (end === undefined) continue;
    const message = textOf(end['message']).slice(0, MESSAGE_MAX);
    return delegating(status, { ...known, result, ...(message === '' ? {} : { message }) });
  }
  if (conditions.length > 0) return waiting(status, known, `Waits until ${name} ends; it runs.`);
  const since = order.metadata.creationTimestamp ?? '';
  if (nowMs - Date.parse(since) < SILENT_MS) {
    return waiting(status, known, `Waits until ${name} ends; it has not begun.`);
  }
  const message =
    `Nobody has begun ${name} since ${since}: look whether its controller runs, or set spec.mode ` +
    'to Ballast.';
  return blocked({ ...status, delegate: known }, { reason: MIGRATOR_SILENT, message });
}

function waiting(status: StorageMigrationStatus, known: Delegate, message: string): StatusUpdate {
  const update = delegating(status, known);
  return { ...update, progressing: { ...update.progressing, message } };
}

function conditionsOf({ status }: KubeObject): readonly Readonly<Record<string, unknown>>[] {
  const conditions = isRecord(status) ? status['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
}
