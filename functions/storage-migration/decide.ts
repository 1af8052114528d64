// Which step a migration takes next, from what it said last and what the API server has now. Pure.
// One step per look: each leaves a status from which the next look goes on, whoever takes it.
import type { OtherMode, StorageMigrationStatus } from '../../shared/api/storage-migration.ts';
import { servesMore } from './cleaning.ts';
import { cleansFields, type Migration } from './migration.ts';
import {
  ETCD_CANNOT_TELL,
  MANAGED_FIELDS_LOST,
  MIGRATOR_REFUSED,
  MIGRATOR_SILENT,
  OBJECTS_FAILED,
  RIGHTS_MISSING,
  type StatusUpdate,
  begun,
  blocked,
  paused,
} from './status.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { type Crd, type NoTarget, type Target, isTarget, servedBy } from './observe.ts';

export type Step =
  | { readonly type: 'nothing' }
  /** No work of its own: only the status changes. */
  | { readonly type: 'status'; readonly update: StatusUpdate }
  | { readonly type: 'preflight' | 'settle' | 'pass' | 'confirm' | 'trim' | 'probe' }
  /** Another migrator is to rewrite, or is at it. */
  | { readonly type: 'delegate'; readonly mode: OtherMode }
  /** Somebody took versions off the CRD's list that are not proved to be unused. */
  | { readonly type: 'restore'; readonly lacking: readonly string[] };

export function decide(migration: Migration, found: Target | NoTarget): Step {
  const { spec, status, object, generation } = migration;
  if (object.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (spec.pause) return isPaused(migration) ? NOTHING : writeStatusStep(paused(migration));
  const isEdited = status.observedGeneration !== generation;
  if (!isTarget(found)) {
    // A proof about a kind stays true when the kind is deleted.
    return status.phase === 'Done' && !isEdited ? NOTHING : block(migration, found);
  }
  if (isDone(migration, found) && !isEdited) return afterUnserving(migration, found);
  const isOver = status.phase === 'Done' || (status.phase === 'Blocked' && isEdited);
  if (isOver || !isOfTarget(migration, found)) return writeStatusStep(begun(migration, found));
  const lacking = lackingVersions(migration, found.crd);
  if (lacking.length > 0) return { type: 'restore', lacking };
  return stepOf(status);
}

const NOTHING: Step = { type: 'nothing' };
const writeStatusStep = (update: StatusUpdate): Step => ({ type: 'status', update });

function stepOf({ phase, blockedIn, conditions, target, proof }: StorageMigrationStatus): Step {
  const mode = target?.mode;
  switch (phase) {
    case 'Preflight':
      return { type: 'preflight' };
    case 'Settling':
      return { type: 'settle' };
    case 'Delegating':
      return mode === undefined ? NOTHING : { type: 'delegate', mode };
    case 'Cleaning':
    case 'Rewriting':
    case 'Verifying':
      return { type: 'pass' };
    case 'Confirming':
      return { type: 'confirm' };
    case 'Trimming':
      return { type: 'trim' };
    case 'Blocked': {
      const why = conditions?.find(({ type }) => type === 'Blocked')?.reason;
      if (why === MANAGED_FIELDS_LOST || why === ETCD_CANNOT_TELL) return NOTHING;
      const isOthers = why === MIGRATOR_SILENT || why === MIGRATOR_REFUSED;
      if (isOthers && mode !== undefined) return { type: 'delegate', mode };
      // Nothing is written then, and etcd is asked again without a word about it.
      if (blockedIn === 'Confirming') return { type: 'confirm' };
      // No preflight asks for these rights; to try them without a word before is quiet.
      if (blockedIn === 'Settling' && why === RIGHTS_MISSING) return { type: 'settle' };
      if (blockedIn === 'Trimming' && proof !== undefined) return { type: 'trim' };
      return { type: why === OBJECTS_FAILED ? 'probe' : 'preflight' };
    }
    default:
      return NOTHING;
  }
}

/** The proof holds as long as nothing else is stored, or listed as stored. */
function isDone({ status }: Migration, { crd, version }: Target): boolean {
  if (status.phase !== 'Done') return false;
  if (status.target?.version !== version || status.target.crdUid !== crd?.uid) return false;
  const { proof } = status;
  if (proof === undefined || crd === undefined) return true;
  if (crd.storedVersions.every((one) => one === version)) return true;
  // Where others stay listed, one of them may have been the stored one again for a while.
  const known = status.storedVersions ?? [];
  return (
    proof.crdGeneration === crd.generation && crd.storedVersions.every((one) => known.includes(one))
  );
}

/**
 * When a version is no longer served, managedFields that name it may be stale, and it may be the
 * next version that somebody removes. So cleaning begins again; after an edit of the CRD, too: one
 * that is not served may have been for a while, between two looks.
 */
function afterUnserving(migration: Migration, found: Target): Step {
  const { crd } = found;
  if (crd === undefined || !cleansFields(migration, crd)) return NOTHING;
  const served = servedBy(crd);
  // A migration of an earlier release kept none.
  const known = migration.status.target?.servedVersions ?? crd.versions.map(({ name }) => name);
  const isEdited = migration.status.target?.crdGeneration !== crd.generation;
  const wasServed = isEdited && crd.versions.length > served.length;
  if (wasServed || known.some((version) => !served.includes(version))) {
    return writeStatusStep(begun(migration, found));
  }
  const isMore = served.some((version) => !known.includes(version));
  return isMore ? writeStatusStep(servesMore(migration, served)) : NOTHING;
}

/** The migration began under just this CRD. */
function isOfTarget(migration: Migration, found: Target): boolean {
  const { spec, status } = migration;
  const { target } = status;
  return (
    target !== undefined &&
    target.version === found.version &&
    target.dryRun === spec.dryRun &&
    (target.mode ?? 'Ballast') === spec.mode &&
    (target.cleansManagedFields ?? false) === cleansFields(migration, found.crd) &&
    target.crdUid === found.crd?.uid &&
    target.crdGeneration === found.crd?.generation
  );
}

function lackingVersions({ status }: Migration, crd: Crd | undefined): readonly string[] {
  // Once it is proved, they may go: we take them off ourselves.
  if (crd === undefined || status.proof !== undefined) return [];
  return (status.storedVersions ?? []).filter((one) => !crd.storedVersions.includes(one));
}

const isPaused = ({ generation, status }: Migration): boolean =>
  status.observedGeneration === generation &&
  status.conditions?.find(({ type }) => type === 'Progressing')?.reason === 'Paused';

function block(migration: Migration, why: Reason): Step {
  const { status } = migration;
  const update = blocked(status, why);
  const known = status.conditions?.find(({ type }) => type === 'Blocked');
  const isWritten =
    status.phase === 'Blocked' &&
    status.observedGeneration === migration.generation &&
    known?.reason === why.reason &&
    known.message === why.message;
  return isWritten ? NOTHING : writeStatusStep(update);
}
