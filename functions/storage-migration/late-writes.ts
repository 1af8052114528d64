// Writes that began while another version was the stored one, and have not ended: they store that
// version, whenever they end. Until when there may be any, and so no pass can be a proof. Pure.
import type { StorageMigrationStatus } from '../../shared/api/storage-migration.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Crd } from './observe.ts';

/** The time of the change was noted by an API server, and is held against our own. */
const CLOCKS_DIFFER_MS = 15_000;

export interface Settlement {
  readonly crd: Crd | undefined;
  /** How long an API server lets a write take. */
  readonly longestWriteMs: number;
  /** Every API server stores the current version by now. */
  readonly nowMs: number;
  /** Whether one of them was seen to lack it: then it may have heard of it only just now. */
  readonly isNews: boolean;
}

/** Undefined when all such writes have ended. */
export function writesEndAt(settlement: Settlement): string | undefined {
  const { crd, longestWriteMs, nowMs, isNews } = settlement;
  // Built-in kinds change their version only with a restart of the API server, which waits for
  // writes.
  if (crd === undefined || longestWriteMs === 0) return undefined;
  const changedMs = Date.parse(crd.changedAt ?? '') + CLOCKS_DIFFER_MS;
  const isKnown = !isNews && Number.isFinite(changedMs);
  const endMs = (isKnown ? Math.min(changedMs, nowMs) : nowMs) + longestWriteMs;
  return endMs > nowMs ? timestamp(endMs + ROUNDED_MS) : undefined;
}

/** A timestamp is cut to the second. */
const ROUNDED_MS = 1_000;

/** When the pass may begin that is about to; undefined when it need not wait. */
export function passBeginsMs(status: StorageMigrationStatus, nowMs: number): number | undefined {
  const { phase, cursor, writesEndAt: end } = status;
  if (phase !== 'Verifying' || cursor !== undefined || end === undefined) return undefined;
  const endMs = Date.parse(end);
  return endMs > nowMs ? endMs : undefined;
}
