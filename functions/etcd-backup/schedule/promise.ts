// The promise of a schedule: how old its newest good backup may be. Pure.
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { type Made, type Schedule, type Stored, storedIn } from './object.ts';
import { newer } from './retention.ts';
import type { ScheduleState } from './state.ts';

type Judged = Pick<ScheduleState, 'schedule' | 'timetable' | 'made'>;

export const newestOf = (made: readonly Made[]): Stored | undefined =>
  storedIn(made).toSorted(newer)[0];

/** Until when the newest one is new enough; undefined when there is none, or no end. */
export function goodUntilMs(state: Judged): number | undefined {
  const newest = newestOf(state.made);
  if (newest === undefined) return undefined;
  const { maxAgeSeconds } = state.schedule.spec;
  if (maxAgeSeconds !== undefined) return newest.takenAtMs + maxAgeSeconds * 1_000;
  return bySchedule(state, newest.made.atMs);
}

/** Until when one is to be there that is new enough: the first one, while there is none. */
export function promisedMs(state: Judged): number | undefined {
  if (newestOf(state.made) !== undefined) return goodUntilMs(state);
  const { spec, object } = state.schedule;
  const sinceMs = Date.parse(object.metadata.creationTimestamp ?? '');
  const { maxAgeSeconds } = spec;
  return maxAgeSeconds === undefined ? bySchedule(state, sinceMs) : sinceMs + maxAgeSeconds * 1_000;
}

/** One run may fail: the next one has as long as it may take. */
function bySchedule({ schedule, timetable }: Judged, atMs: number): number | undefined {
  if ('reason' in timetable || Number.isNaN(atMs)) return undefined;
  const first = timetable.nextMs(atMs);
  const second = first === undefined ? undefined : timetable.nextMs(first);
  return second === undefined ? undefined : second + schedule.spec.template.deadlineSeconds * 1_000;
}

/** Then what is old may be all that there is. */
export function isKept(state: Judged & Pick<ScheduleState, 'nowMs'>): boolean {
  const untilMs = goodUntilMs(state);
  return untilMs !== undefined && state.nowMs <= untilMs;
}

/** The last time that a run was begun; one that is yet to come counts for nothing. */
export function lastRunKnownMs(
  { status, object }: Pick<Schedule, 'status' | 'object'>,
  made: readonly Made[],
  nowMs: number,
): number {
  const since = Date.parse(object.metadata.creationTimestamp ?? timestamp(nowMs));
  const known = [Date.parse(status.lastScheduleTime ?? ''), ...made.map(({ atMs }) => atMs)];
  return Math.max(since, ...known.filter((atMs) => atMs <= nowMs));
}
