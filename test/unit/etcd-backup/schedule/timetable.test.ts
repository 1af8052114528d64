// When schedules run: each expression with what comes after a time, across both changes of the
// clock, and the last run of any number that were missed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  lastRunMs,
  type Timetable,
  timetableOf,
} from '../../../../functions/etcd-backup/schedule/timetable.ts';

const at = (text: string): number => Date.parse(text);
const shown = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().replace(':00.000Z', 'Z');

function tableOf(schedule: string, timeZone = 'UTC'): Timetable {
  const found = timetableOf({ schedule, timeZone }, at('2026-01-01T00:00:00Z'));
  if ('reason' in found) throw new Error(found.message);
  return found;
}

function runsOf(schedule: string, timeZone: string, from: string, count: number) {
  const { nextMs } = tableOf(schedule, timeZone);
  const runs: (string | undefined)[] = [];
  for (let ms: number | undefined = at(from); runs.length < count && ms !== undefined;) {
    ms = nextMs(ms);
    runs.push(shown(ms));
  }
  return runs;
}

test.each<[string, readonly string[]]>([
  ['* * * * *', ['2026-10-01T00:01Z', '2026-10-01T00:02Z']],
  ['30 4 * * *', ['2026-10-01T04:30Z', '2026-10-02T04:30Z']],
  ['*/20 6-7 * * *', ['2026-10-01T06:00Z', '2026-10-01T06:20Z', '2026-10-01T06:40Z']],
  ['0 4 * * MON', ['2026-10-05T04:00Z', '2026-10-12T04:00Z']],
  ['0 4 * * 7', ['2026-10-04T04:00Z', '2026-10-11T04:00Z']],
  ['0 4 3 * *', ['2026-10-03T04:00Z', '2026-11-03T04:00Z']],
  // One of both is enough, as in every cron.
  ['0 4 7 * 1', ['2026-10-05T04:00Z', '2026-10-07T04:00Z', '2026-10-12T04:00Z']],
  ['0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
])('%s comes at %j', (schedule, runs) => {
  expect(runsOf(schedule, 'UTC', '2026-10-01T00:00:00Z', runs.length)).toEqual(runs);
});

test.each<[string, string, string, readonly string[]]>([
  // In Berlin there is no 02:30 on 2026-03-29: it comes when the clock has jumped, at 03:00.
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00:00Z',
    ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
  ],
  // Several minutes of the hour that is left out are left out with it.
  ['15,45 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-30T00:15Z']],
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:15:00Z',
    ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z'],
  ],
  // And 02:30 twice on 2026-10-25: one that names the hour comes once, at the first.
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00:00Z',
    ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  ],
  // One that comes all the time goes on all the time.
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-10-25T00:15:00Z',
    ['2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T01:30Z', '2026-10-25T02:00Z'],
  ],
  // Half an hour is left out.
  [
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-03T00:00:00Z',
    ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
  ],
])('%s in %s after %s comes at %j', (schedule, zone, from, runs) => {
  expect(runsOf(schedule, zone, from, runs.length)).toEqual(runs);
});

test.each<[string, string, string]>([
  ['0 0 30 2 *', 'UTC', 'ScheduleInvalid'],
  ['0 5-1 * * *', 'UTC', 'ScheduleInvalid'],
  ['99 * * * *', 'UTC', 'ScheduleInvalid'],
  ['* * * * * *', 'UTC', 'ScheduleInvalid'],
  ['0 4 * * *', 'Europe/Atlantis', 'TimeZoneUnknown'],
])('%s in %s is %s', (schedule, timeZone, reason) => {
  expect(timetableOf({ schedule, timeZone }, at('2026-01-01T00:00:00Z'))).toMatchObject({ reason });
});

test.each<[string, string, string, string | undefined]>([
  ['0 4 * * *', '2026-10-01T04:00:00Z', '2026-10-02T03:59:59Z', undefined],
  ['0 4 * * *', '2026-10-01T04:00:00Z', '2026-10-02T04:00:00Z', '2026-10-02T04:00Z'],
  ['0 4 * * *', '2026-10-01T04:00:00Z', '2026-10-09T05:00:00Z', '2026-10-09T04:00Z'],
  ['* * * * *', '2016-10-01T04:00:00Z', '2026-10-09T05:17:30Z', '2026-10-09T05:17Z'],
  ['* * * 1 *', '2016-10-01T04:00:00Z', '2026-12-09T05:17:30Z', '2026-01-31T23:59Z'],
  ['0 0 29 2 *', '1996-10-01T04:00:00Z', '2027-12-09T05:17:30Z', '2024-02-29T00:00Z'],
])('the last run of %s after %s and up to %s is %s', (schedule, after, until, run) => {
  expect(shown(lastRunMs(tableOf(schedule), at(after), at(until)))).toBe(run);
});

test('the last run is the one that is found by going through all of them', () => {
  const schedules = ['*/7 * * * *', '30 2 * * *', '15,45 2 * * *', '0 1-3 * * 0', '59 23 25 * *'];
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
  const changes = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-25', '2026-11-01'];
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.constantFrom(...zones),
      fc.constantFrom(...changes),
      fc.integer({ min: -2_880, max: 2_880 }),
      fc.integer({ min: 0, max: 2_880 }),
      (schedule, zone, day, startMinutes, spanMinutes) => {
        const table = tableOf(schedule, zone);
        const afterMs = at(`${day}T00:00:00Z`) + startMinutes * 60_000;
        const untilMs = afterMs + spanMinutes * 60_000;
        let last: number | undefined;
        for (let ms = table.nextMs(afterMs); ms !== undefined && ms <= untilMs;) {
          last = ms;
          ms = table.nextMs(ms);
        }
        expect(shown(lastRunMs(table, afterMs, untilMs))).toBe(shown(last));
      },
    ),
  );
});
