// When a schedule runs: its five fields of cron, in a time zone. The first run after a time and the
// last one up to a time; minutes alone count. Pure.
import { Cron } from 'croner';
import type { Reason } from '../../../shared/kube/conditions.ts';

export interface Timetable {
  /** The first run after this time; undefined when there is none any more. */
  readonly nextMs: (afterMs: number) => number | undefined;
}

const MINUTE_MS = 60_000;

/** Or the reason why it has no run. */
export function timetableOf(
  { schedule, timeZone }: { readonly schedule: string; readonly timeZone: string },
  nowMs: number,
): Timetable | Reason {
  if (!isZone(timeZone)) {
    const message = `There is no time zone ${timeZone}; write one as Europe/Berlin, or UTC.`;
    return { reason: 'TimeZoneUnknown', message };
  }
  let cron: Cron;
  try {
    cron = new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { reason: 'ScheduleInvalid', message: `The schedule ${schedule} is none: ${why}.` };
  }
  const nextMs = (afterMs: number): number | undefined =>
    cron.nextRun(new Date(afterMs))?.getTime();
  if (nextMs(nowMs) !== undefined) return { nextMs };
  const message = `The schedule ${schedule} names no day that there is.`;
  return { reason: 'ScheduleInvalid', message };
}

function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * The last run after one time and up to another; undefined when there is none. However many were
 * missed between them, it takes some twenty steps.
 */
export function lastRunMs(
  { nextMs }: Timetable,
  afterMs: number,
  untilMs: number,
): number | undefined {
  const isBy = (runMs: number | undefined): runMs is number =>
    runMs !== undefined && runMs <= untilMs;
  let found = nextMs(afterMs);
  if (!isBy(found)) return undefined;
  for (let [low, high] = [found, untilMs]; high - low >= MINUTE_MS;) {
    const middle = low + Math.floor((high - low) / 2);
    const run = nextMs(middle);
    if (isBy(run)) [found, low] = [run, run];
    else high = middle;
  }
  return found;
}
