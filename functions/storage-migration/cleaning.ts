// The phase in which managedFields are cleaned, before the first pass: when it comes, and what
// follows it. Pure.
import type { StorageMigrationStatus } from '../../shared/api/storage-migration.ts';
import { type Migration, NO_PROGRESS } from './migration.ts';
import {
  unchanged,
  blocked,
  objectsFailed,
  inProgress,
  ownStatus,
  type StatusUpdate,
  settled,
} from './status.ts';
import type { Crd } from './observe.ts';

/** Whatever was to follow: applies, ours and others', may fail on an object that is not clean. */
export function cleansFirst(
  status: StorageMigrationStatus,
  found: StatusUpdate,
  nowIso: string,
): StatusUpdate {
  const { target, pass, delegate } = status;
  const isFirst = pass === undefined && delegate === undefined;
  return isFirst && target?.cleansManagedFields === true ? cleaningPass(status, nowIso) : found;
}

/** From the first object on: those that are clean cost no write. */
export function cleaningPass(status: StorageMigrationStatus, nowIso: string): StatusUpdate {
  const { cursor: _cursor, failed: _failed, blockedIn: _blockedIn, ...rest } = ownStatus(status);
  const begins = { phase: 'Cleaning', passStartedAt: nowIso, progress: NO_PROGRESS } as const;
  return inProgress({ ...rest, cleaned: status.cleaned ?? 0, ...begins });
}

/** All objects were looked at, and `status` counts them. */
export function afterCleaning(
  { spec }: Migration,
  status: StorageMigrationStatus,
  nowIso: string,
  crd: Crd | undefined,
): StatusUpdate {
  const { progress = NO_PROGRESS, retriesLeft = 0 } = status;
  if (progress.failed > 0) {
    if (retriesLeft === 0) return blocked(status, objectsFailed(status));
    return cleaningPass({ ...status, retriesLeft: retriesLeft - 1 }, nowIso);
  }
  return settled({ ...status, retriesLeft: spec.retries }, nowIso, crd);
}

/** Nothing else has changed than that more versions are served. */
export function servesMore({ status }: Migration, servedVersions: readonly string[]): StatusUpdate {
  const same = unchanged(status);
  const target = status.target && { ...status.target, servedVersions };
  return { ...same, status: { ...same.status, ...(target === undefined ? {} : { target }) } };
}
