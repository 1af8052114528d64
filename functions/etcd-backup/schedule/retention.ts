// Chooses the good backups that may go. The newest one, the newest one whose hash a member
// confirmed, and the newest one that was rehearsed never do, whatever the rule says. Pure.
import type {
  BackupRetention,
  ExponentialRetention,
} from '../../../shared/api/etcd-backup-schedule.ts';

export interface Good {
  readonly name: string;
  readonly takenAtMs: number;
  readonly isConfirmed: boolean;
  readonly isRehearsed: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** Weeks begin on Mondays, and the first day of Unix was a Thursday. */
const MONDAY_MS = 4 * DAY_MS;

/** The oldest one first. */
export function surplus<Backup extends Good>(
  good: readonly Backup[],
  retention: BackupRetention | undefined,
  nowMs: number,
): readonly Backup[] {
  if (retention === undefined) return [];
  const newestFirst = good.toSorted(newer);
  const kept = new Set([
    ...newestFirst.slice(0, 1),
    ...newestFirst.filter(({ isConfirmed }) => isConfirmed).slice(0, 1),
    ...newestFirst.filter(({ isRehearsed }) => isRehearsed).slice(0, 1),
    ...keptBy(newestFirst, retention, nowMs),
  ]);
  return newestFirst.filter((one) => !kept.has(one)).toReversed();
}

/** The order is the same whichever way they were listed. */
export const newer = (one: Good, other: Good): number =>
  other.takenAtMs - one.takenAtMs || (one.name < other.name ? 1 : -1);

function keptBy<Backup extends Good>(
  newestFirst: readonly Backup[],
  { count, ageSeconds, exponential }: BackupRetention,
  nowMs: number,
): readonly Backup[] {
  if (count !== undefined) return newestFirst.slice(0, count);
  if (ageSeconds !== undefined) return youngerThan(newestFirst, ageSeconds * 1_000, nowMs);
  return exponential === undefined ? newestFirst : thinned(newestFirst, exponential, nowMs);
}

const youngerThan = <Backup extends Good>(
  all: readonly Backup[],
  ageMs: number,
  nowMs: number,
): readonly Backup[] => all.filter(({ takenAtMs }) => nowMs - takenAtMs < ageMs);

/**
 * The newest of each hour, day and week (in UTC): the last one of a day is the last one of its
 * hour, too, so that none goes before its turn for a longer time comes.
 */
function thinned<Backup extends Good>(
  newestFirst: readonly Backup[],
  { hours, days, weeks }: ExponentialRetention,
  nowMs: number,
): readonly Backup[] {
  const oneOfEach = (spanMs: number, count: number, offsetMs = 0): readonly Backup[] => {
    const first = new Map<number, Backup>();
    for (const one of youngerThan(newestFirst, spanMs * count, nowMs)) {
      const span = Math.floor((one.takenAtMs - offsetMs) / spanMs);
      if (!first.has(span)) first.set(span, one);
    }
    return [...first.values()];
  };
  return [
    ...youngerThan(newestFirst, HOUR_MS, nowMs),
    ...oneOfEach(HOUR_MS, hours),
    ...oneOfEach(DAY_MS, days),
    ...oneOfEach(WEEK_MS, weeks, MONDAY_MS),
  ];
}
