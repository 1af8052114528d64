// Says in the status of a migration what was found. The status is also the function's memory, and
// its change the event that wakes it again; so each write rests on the object as it was read.
import {
  STORAGE_MIGRATIONS,
  type StorageMigrationStatus,
} from '../../shared/api/storage-migration.ts';
import { type ConditionInput, setConditions } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { StatusUpdate } from './status.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { type Migration, migrationOf } from './migration.ts';

/** The API's conventions allow 32,768 characters; a person reads less. */
const MESSAGE_MAX = 2_000;

/**
 * A step that began just before the end of WORK_SECONDS takes one page more. If an instance takes
 * even longer, another one may begin beside it: then a page is done twice, and nothing is lost.
 */
const WORKER_SLACK_MS = 15_000;

export interface UpdateOptions {
  /** Whether this instance goes on; otherwise the next look is anybody's. */
  readonly goesOn: boolean;
  readonly signal: AbortSignal;
}

/** More edits than that between a read and a write are a fight. */
const EDITS_MAX = 5;

/**
 * An instance with the lease writes its counts also when somebody has edited the object since: the
 * next pass over its page finds the objects current, and would count them for nobody.
 */
export async function updateStatus(
  deps: Deps,
  migration: Migration,
  update: StatusUpdate,
  options: UpdateOptions,
): Promise<Migration> {
  let now = migration;
  for (let edits = 0; ; edits += 1) {
    try {
      return await writeOnce(deps, now, update, options);
    } catch (error) {
      if (edits === EDITS_MAX || !isKubeError(error, 'KUBE_CONFLICT')) throw error;
      const edited = await ownedAfterEdit(deps, now, options.signal);
      if (edited === undefined) throw error;
      now = edited;
    }
  }
}

/** The object as it is now, as long as it is the same and the lease is ours. */
async function ownedAfterEdit(
  { kube, id }: Deps,
  { name, object }: Migration,
  signal: AbortSignal,
): Promise<Migration | undefined> {
  const found = await kube.get(STORAGE_MIGRATIONS, { name }, { signal });
  if (found === null || found.metadata.uid !== object.metadata.uid) return undefined;
  const now = migrationOf(found);
  return now.status.worker?.id === id ? now : undefined;
}

async function writeOnce(
  { kube, clock, id, workMs }: Deps,
  { object, generation }: Migration,
  { status, progressing, blocked }: StatusUpdate,
  { goesOn, signal }: UpdateOptions,
): Promise<Migration> {
  const nowMs = clock.nowMs();
  const moment = { fieldManager: FIELD_MANAGER, observedGeneration: generation, nowMs };
  const worker = { id, until: timestamp(nowMs + workMs + WORKER_SLACK_MS) };
  const conditions = [
    proved(status),
    condition('Progressing', !RESTING.has(progressing.reason), progressing),
    condition('Blocked', blocked !== undefined, blocked ?? NOT_BLOCKED),
  ];
  const written = await writeStatus(kube, {
    ref: STORAGE_MIGRATIONS,
    object,
    status: {
      ...status,
      observedGeneration: generation,
      ...(goesOn ? { worker } : {}),
      conditions: setConditions(object, conditions, moment),
    },
    fieldManager: FIELD_MANAGER,
    // Two instances at once: the one without the lease begins from the new state.
    ifUnmoved: true,
    signal,
  });
  return migrationOf(written.object);
}

const NOT_BLOCKED = { reason: 'NotBlocked', message: 'Nothing keeps it from going on.' };

/** Reasons that say that nothing is being done. */
const RESTING: ReadonlySet<string> = new Set(['Done', 'Blocked', 'Paused']);

function condition(
  type: string,
  isSo: boolean,
  { reason, message }: { readonly reason: string; readonly message: string },
): ConditionInput {
  return { type, status: isSo ? 'True' : 'False', reason, message: message.slice(0, MESSAGE_MAX) };
}

function proved({ proof, target }: StorageMigrationStatus): ConditionInput {
  if (proof === undefined) {
    const message = 'Some objects may be stored in another version.';
    return condition('Proved', false, { reason: 'NotProved', message });
  }
  const { etcdValues, etcdRevision } = proof;
  const inEtcd =
    etcdValues === undefined
      ? ''
      : ` etcd had ${etcdValues} values of them at revision ${etcdRevision}, all in this version.`;
  const message =
    `All ${proof.objects} objects listed at resourceVersion ${proof.resourceVersion} were found ` +
    `stored as ${target?.version ?? proof.version}: none changed when it was written once ` +
    `more.${inEtcd}`;
  return condition('Proved', true, { reason: proof.oracle, message });
}
