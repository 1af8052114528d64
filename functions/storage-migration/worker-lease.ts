// The lease of a migration: `status.worker` names the instance that works on it, and until when.
// Only its holder walks over objects. Two that walk at once would both write, and the status of
// one would not count the changes of the other: a pass could prove what it did not find.
import { conditionsOf, NOT_SWEPT } from '../../shared/kube/conditions.ts';
import type { Deps } from './deps.ts';
import type { Migration } from './migration.ts';
import { unchanged } from './status.ts';
import { updateStatus } from './write-status.ts';

/** The maximum of WORK_SECONDS, and a minute for clocks that differ. */
const LEASE_MAX_MS = 400_000;

/** Another instance holds the lease, and it has not expired. */
export function isHeldByOther({ status: { worker } }: Migration, { clock, id }: Deps): boolean {
  if (worker === undefined || worker.id === id) return false;
  const leftMs = Date.parse(worker.until) - clock.nowMs();
  return leftMs > 0 && leftMs <= LEASE_MAX_MS;
}

/** Every write of the status renews it. When two instances try at once, one gets a conflict. */
export function acquire(now: Migration, deps: Deps, signal: AbortSignal): Promise<Migration> {
  if (now.status.worker?.id === deps.id) return Promise.resolve(now);
  return updateStatus(deps, now, unchanged(now.status), { goesOn: true, signal });
}

/** The change of the status is the event that wakes the next request. */
export async function release(now: Migration, deps: Deps, signal: AbortSignal): Promise<void> {
  // dead-letters wrote that this function does not sweep; only a status of our own corrects that.
  const isCalledNotSwept = conditionsOf(now.object).some(({ reason }) => reason === NOT_SWEPT);
  if (now.status.worker === undefined && !isCalledNotSwept) return;
  await updateStatus(deps, now, unchanged(now.status), { goesOn: false, signal });
}
