// The next status of a migration, from the one before and the result of a step. Every transition
// from one phase to another is here. Pure.
import type {
  Delegate,
  Phase,
  StorageMigrationStatus,
} from '../../shared/api/storage-migration.ts';
import { NOT_SWEPT, type Reason } from '../../shared/kube/conditions.ts';
import { type Migration, NO_PROGRESS } from './migration.ts';
import { nameOf } from './rewrite.ts';
import { type Crd, type Target, begunWith } from './observe.ts';

/** The next status, without conditions. */
export interface StatusUpdate {
  readonly status: Omit<StorageMigrationStatus, 'conditions' | 'observedGeneration' | 'worker'>;
  /** The reason of condition Progressing. */
  readonly progressing: Reason;
  readonly blocked?: Reason;
}

/** More passes than this, and somebody writes old versions as fast as they are rewritten. */
const PASSES_MAX = 20;

/** From the beginning, wherever it was: what it saw of another CRD proves nothing of this one. */
export function begun(migration: Migration, found: Target): StatusUpdate {
  const { spec, status } = migration;
  const { crd } = found;
  const listed = crd?.storedVersions ?? [];
  const storedVersions = [...new Set([...storedBefore(status, crd), ...listed])];
  return inProgress({
    phase: 'Preflight',
    target: begunWith(migration, found),
    ...(crd === undefined ? {} : { storedVersions }),
    retriesLeft: spec.retries,
  });
}

/** Versions that may still be stored, whatever the CRD lists by now. */
function storedBefore({ target, proof, storedVersions = [] }: StorageMigrationStatus, crd?: Crd) {
  if (crd === undefined || target?.crdUid !== crd.uid) return [];
  if (proof === undefined) return storedVersions;
  // All objects were stored in that version; a CRD that no longer defines it was edited since.
  return crd.versions.some(({ name }) => name === proof.version) ? [proof.version] : [];
}

export const paused = ({ status }: Migration): StatusUpdate => ({
  status: ownStatus(status),
  progressing: { reason: 'Paused', message: 'spec.pause is true; it goes on when that is false.' },
});

/** The status without fields that are computed anew at each write. */
export function ownStatus({
  conditions: _conditions,
  observedGeneration: _generation,
  worker: _worker,
  ...rest
}: StorageMigrationStatus): StatusUpdate['status'] {
  return rest;
}

export function blocked(status: StorageMigrationStatus, why: Reason): StatusUpdate {
  const { phase = 'Pending', blockedIn = 'Pending' } = status;
  return {
    status: {
      ...ownStatus(status),
      phase: 'Blocked',
      blockedIn: phase === 'Blocked' ? blockedIn : phase,
    },
    // The wide output of kubectl shows this one.
    progressing: { reason: 'Blocked', message: `${why.reason}: ${why.message}` },
    blocked: why,
  };
}

export const OBJECTS_FAILED = 'ObjectsFailed';
export const RIGHTS_MISSING = 'RightsMissing';
/** Waits for a person: to look again is to lose more. */
export const MANAGED_FIELDS_LOST = 'ManagedFieldsLost';
/** Only the other migrator, or its administrator, can end these. */
export const MIGRATOR_SILENT = 'MigratorSilent';
export const MIGRATOR_REFUSED = 'MigratorRefused';
/** Waits for a person, too: encrypted values do not open by themselves. */
export const ETCD_CANNOT_TELL = 'EtcdCannotTell';

/** To the phase it was blocked in, or from the preflight on. */
export function cleared(status: StorageMigrationStatus, nowIso: string, crd?: Crd): StatusUpdate {
  const { phase, blockedIn, cursor } = status;
  const isUnderWay = blockedIn === 'Rewriting' || blockedIn === 'Verifying';
  if (phase !== 'Blocked' || !isUnderWay) return under(unproved(status), 'Settling', {});
  // Without a place to go on from, it had ended a pass.
  return cursor === undefined
    ? nextPass(status, blockedIn, nowIso, crd)
    : under(status, blockedIn, {});
}

/** While it looks anew, nothing is proved. */
function unproved({ proof: _proof, ...rest }: StorageMigrationStatus): StorageMigrationStatus {
  return rest;
}

function under(
  status: StorageMigrationStatus,
  phase: Phase,
  changes: Partial<StatusUpdate['status']>,
): StatusUpdate {
  const { blockedIn: _blockedIn, ...rest } = ownStatus(status);
  return inProgress({ ...rest, ...changes, phase });
}

/** In the phase that it is in, nothing but numbers moved. */
export function inProgress(status: StatusUpdate['status']): StatusUpdate {
  const { phase = 'Pending' } = status;
  const message = `${MESSAGES[phase](status)}${failureOf(status)}`;
  return { status, progressing: { reason: phase, message } };
}

/** That another migrator did not do what it was asked to; ours does it then. */
function failureOf({ delegate }: StorageMigrationStatus): string {
  const { result, name = '', message = 'it did not say why' } = delegate ?? {};
  const migrator = ` StorageVersionMigration ${name}`;
  if (result === 'Failed') return `${migrator} failed: ${message}`.replace(/[.]?$/, '.');
  return result === 'Gone' ? `${migrator} was deleted before its end.` : '';
}

const MESSAGES: Readonly<Record<Phase, (status: StorageMigrationStatus) => string>> = {
  Pending: () => 'It has not begun.',
  Preflight: ({ target }) =>
    `Looks whether every ${target?.kind ?? 'object'} can be written as ${target?.version ?? ''}.`,
  Settling: ({ target }) => `Waits until every API server stores ${target?.version ?? ''}.`,
  Cleaning: () => 'Takes entries of versions that are not served out of managedFields.',
  Delegating: () => 'Hands the rewriting to another migrator.',
  Rewriting: ({ target }) => `Writes every object anew as ${target?.version ?? ''}.`,
  Verifying: ({ writesEndAt }) =>
    writesEndAt === undefined
      ? 'Writes every object once more: none may change.'
      : `Waits until ${writesEndAt}, when no write is left that began under another version, and ` +
        'writes every object once more then: none may change.',
  Confirming: () => 'Reads in etcd in which version each object is stored.',
  Trimming: () => 'Takes the versions that are proved unused off the list of stored ones.',
  Done: () => 'There is nothing left to do.',
  Blocked: () => 'It waits.',
};

/** Every API server stores the current version: the objects are next. */
export function settled(status: StorageMigrationStatus, nowIso: string, crd?: Crd): StatusUpdate {
  const { pass, target, delegate } = status;
  const isOurs = target?.mode === undefined;
  if (pass === undefined && !isOurs && delegate?.result === undefined) {
    return under(status, 'Delegating', {});
  }
  return nextPass(status, pass === undefined && isOurs ? 'Rewriting' : 'Verifying', nowIso, crd);
}

/** Another migrator is at it; once it has ended, what every API server stores is asked again. */
export const delegating = (status: StorageMigrationStatus, delegate: Delegate): StatusUpdate =>
  under(status, delegate.result === undefined ? 'Delegating' : 'Settling', { delegate });

export function nextPass(
  status: StorageMigrationStatus,
  phase: 'Rewriting' | 'Verifying',
  nowIso: string,
  crd?: Crd,
): StatusUpdate {
  const { cursor: _cursor, failed: _failed, ...rest } = unproved(status);
  const { target } = rest;
  const isAnchored = phase === 'Verifying' && target !== undefined && crd !== undefined;
  return under(rest, phase, {
    pass: (rest.pass ?? 0) + 1,
    passStartedAt: nowIso,
    progress: NO_PROGRESS,
    ...(isAnchored ? { target: { ...target, crdResourceVersion: crd.resourceVersion } } : {}),
  });
}

/** Somebody took these versions off the list without proof, and they are on it again. */
export function restored(
  status: StorageMigrationStatus,
  versions: readonly string[],
  message: string,
): StatusUpdate {
  const all = new Set([...(status.restored ?? []), ...versions]);
  const same = unchanged(status);
  return {
    ...same,
    status: { ...same.status, restored: [...all] },
    progressing: { reason: status.phase ?? 'Pending', message },
  };
}

/** Reason for word what it says, but not what others say of it. */
export function unchanged(status: StorageMigrationStatus): StatusUpdate {
  const { conditions = [] } = status;
  const said = conditions.find((one) => one.type === 'Progressing' && one.reason !== NOT_SWEPT);
  const blocking = conditions.find((one) => one.type === 'Blocked' && one.status === 'True');
  return {
    status: ownStatus(status),
    progressing: said ?? inProgress(ownStatus(status)).progressing,
    ...(blocking === undefined ? {} : { blocked: blocking }),
  };
}

/** All objects were looked at: `status` counts this pass whole, `resourceVersion` is its moment. */
export function afterPass(
  status: StorageMigrationStatus,
  resourceVersion: string,
  nowIso: string,
  crd: Crd | undefined,
): StatusUpdate {
  const { progress = NO_PROGRESS, pass = 1, retriesLeft = 0, phase, target } = status;
  if (target?.dryRun === true) return dryRunDone(status);
  if (progress.failed > 0) {
    if (retriesLeft === 0) return blocked(status, objectsFailed(status));
    return nextPass({ ...status, retriesLeft: retriesLeft - 1 }, 'Rewriting', nowIso, crd);
  }
  if (phase === 'Verifying' && progress.changed + progress.conflicts === 0) {
    return proved(status, resourceVersion, nowIso, crd);
  }
  if (phase === 'Verifying' && pass >= PASSES_MAX) return blocked(status, restless(status));
  if (isSuspicious(status)) return settlesAgain(status);
  return nextPass(status, 'Verifying', nowIso, crd);
}

/**
 * Old versions are listed and not one object was stored in any: they may all be current, or the API
 * server we speak with has not heard of the current version and finds everything as it would be.
 */
const isSuspicious = ({ pass, progress, storedVersions = [] }: StorageMigrationStatus): boolean =>
  pass === 1 && progress?.changed === 0 && progress.done > 0 && storedVersions.length > 1;

export function settlesAgain(status: StorageMigrationStatus): StatusUpdate {
  const { settledAt: _settledAt, cursor: _cursor, ...rest } = status;
  return under(rest, 'Settling', {});
}

export function proved(
  status: StorageMigrationStatus,
  resourceVersion: string,
  nowIso: string,
  crd: Crd | undefined,
): StatusUpdate {
  const { target, progress } = status;
  const proof = {
    oracle: 'SecondPass',
    version: target?.version ?? '',
    objects: progress?.done ?? 0,
    resourceVersion,
    ...(crd === undefined ? {} : { crdGeneration: crd.generation }),
    at: nowIso,
  } as const;
  const { cursor: _cursor, ...rest } = status;
  return under(rest, 'Trimming', { proof });
}

/** The end, after the list was trimmed or left alone. */
export function done(
  status: StorageMigrationStatus,
  ended: { readonly message: string; readonly trimmed?: readonly string[] },
): StatusUpdate {
  const { trimmed = [] } = ended;
  const { storedVersions = [] } = status;
  const left = storedVersions.filter((one) => !trimmed.includes(one));
  const { blockedIn: _blockedIn, ...rest } = ownStatus(status);
  return {
    status: {
      ...rest,
      phase: 'Done',
      ...(status.storedVersions === undefined ? {} : { storedVersions: left }),
      ...(trimmed.length === 0 ? {} : { trimmed }),
    },
    progressing: { reason: 'Done', message: `${ended.message}${failureOf(status)}` },
  };
}

function dryRunDone(status: StorageMigrationStatus): StatusUpdate {
  const { done: count = 0, failed = 0 } = status.progress ?? {};
  const message = `A dry run: of ${count} objects ${failed} would be refused; nothing was written.`;
  const { cursor: _cursor, ...rest } = status;
  return done(rest, { message });
}

export function objectsFailed({ progress, failed = [] }: StorageMigrationStatus): Reason {
  const [first] = failed;
  const such = first === undefined ? '' : `, such as ${nameOf(first)}: ${first.message}`;
  const message =
    `${progress?.failed ?? 0} objects cannot be written${such} ` +
    'Their old versions stay listed until they can; status.failed names the first of them.';
  return { reason: OBJECTS_FAILED, message };
}

function restless({ pass, progress }: StorageMigrationStatus): Reason {
  const message =
    `In pass ${pass} still ${progress?.changed} objects were stored otherwise, and ` +
    `${progress?.conflicts} were written whenever we did: somebody writes them all the time. Is ` +
    'every API server of one release?';
  return { reason: 'NeverSettles', message };
}
