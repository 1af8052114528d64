// Which backups go by each rule; and that, whatever the rule and whatever is there, the newest good
// one never does.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Good, surplus } from '../../../../functions/etcd-backup/schedule/retention.ts';
import type { BackupRetention } from '../../../../shared/api/etcd-backup-schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.parse('2026-11-25T05:30:00Z');
const EXPONENTIAL = { exponential: { hours: 24, days: 7, weeks: 4 } };

const good = (hoursAgo: number, isConfirmed = true, isRehearsed = false): Good => ({
  name: `${hoursAgo}`,
  takenAtMs: NOW_MS - hoursAgo * HOUR_MS,
  isConfirmed,
  isRehearsed,
});

const goneOf = (
  all: readonly Good[],
  retention: BackupRetention | undefined,
  nowMs = NOW_MS,
): readonly string[] => surplus(all, retention, nowMs).map(({ name }) => name);

test.each<[string, readonly Good[], BackupRetention | undefined, readonly string[]]>([
  ['none without a rule', [1, 2, 3].map((at) => good(at)), undefined, []],
  ['the oldest first', [1, 3, 2].map((at) => good(at)), { count: 1 }, ['3', '2']],
  ['none below the count', [1, 2].map((at) => good(at)), { count: 2 }, []],
  ['those that are too old', [1, 2, 3].map((at) => good(at)), { ageSeconds: 7_200 }, ['3', '2']],
  ['but the newest', [30, 20].map((at) => good(at)), { ageSeconds: 60 }, ['30']],
  [
    'but the newest that was confirmed',
    [good(1, false), good(2, false), good(3), good(4)],
    { count: 1 },
    ['4', '2'],
  ],
  [
    'but the newest that was rehearsed',
    [good(1), good(2), good(3, true, true), good(4, true, true)],
    { count: 1 },
    ['4', '2'],
  ],
  ['none that is younger than an hour', [0.9, 0.5, 0.1].map((at) => good(at)), EXPONENTIAL, []],
  // 05:30 less these: 04:06, 04:18, 04:24, 03:30.
  ['all but one of an hour', [1.4, 1.2, 1.1, 2].map((at) => good(at)), EXPONENTIAL, ['1.4', '1.2']],
  // The days before: 23:30, 22:30, 01:30, and 23:30 a day earlier.
  ['all but one of a day', [30, 31, 52, 54].map((at) => good(at)), EXPONENTIAL, ['52', '31']],
  [
    'all but one of a week, which begins on a Monday',
    // A Friday, and the Wednesday before it.
    [0, 12, 14].map((days) => good(days * 24)),
    EXPONENTIAL,
    [`${14 * 24}`],
  ],
  [
    'all but one of a week, and those of weeks ago',
    [8, 9, 15, 16, 22, 23, 40].map((days) => good(days * 24)),
    EXPONENTIAL,
    // Mondays are 2, 9, 16 and 23 days ago.
    [40, 23, 16, 9].map((days) => `${days * 24}`),
  ],
])('goes: %s', (_, all, retention, gone) => {
  expect(goneOf(all, retention)).toEqual(gone);
});

const rules: fc.Arbitrary<BackupRetention | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({ count: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ ageSeconds: fc.integer({ min: 1, max: 10_000_000 }) }),
  fc.record({
    exponential: fc.record({
      hours: fc.integer({ min: 0, max: 48 }),
      days: fc.integer({ min: 0, max: 31 }),
      weeks: fc.integer({ min: 0, max: 53 }),
    }),
  }),
);

const backups = fc.uniqueArray(
  fc.record({
    name: fc.string({ minLength: 1, maxLength: 4 }),
    // Clocks differ: some are of the future.
    takenAtMs: fc.integer({ min: -60 * DAY_MS, max: HOUR_MS }).map((ms) => NOW_MS + ms),
    isConfirmed: fc.boolean(),
    isRehearsed: fc.boolean(),
  }),
  { selector: ({ name }) => name },
);

test('the newest one never goes, nor the newest that was confirmed, nor rehearsed', () => {
  fc.assert(
    fc.property(backups, rules, fc.integer({ min: 0, max: 400 * DAY_MS }), (all, rule, laterMs) => {
      const gone = surplus(all, rule, NOW_MS + laterMs);
      const left = all.filter((one) => !gone.includes(one));
      const newest = (of: readonly Good[]): number =>
        Math.max(...of.map(({ takenAtMs }) => takenAtMs));
      expect(newest(left)).toBe(newest(all));
      const confirmed = (of: readonly Good[]) => of.filter(({ isConfirmed }) => isConfirmed);
      expect(newest(confirmed(left))).toBe(newest(confirmed(all)));
      const rehearsed = (of: readonly Good[]) => of.filter(({ isRehearsed }) => isRehearsed);
      expect(newest(rehearsed(left))).toBe(newest(rehearsed(all)));
    }),
  );
});

test('a month of hourly backups leaves one of each hour, day and week at any time', () => {
  let kept: readonly Good[] = [];
  const startMs = NOW_MS - (NOW_MS % DAY_MS);
  for (let hour = 0; hour < 24 * 40; hour += 1) {
    const takenAtMs = startMs + hour * HOUR_MS;
    kept = [...kept, { name: `${hour}`, takenAtMs, isConfirmed: true, isRehearsed: false }];
    const gone = surplus(kept, EXPONENTIAL, takenAtMs);
    kept = kept.filter((one) => !gone.includes(one));
    if (hour < 24 * 35) continue;
    const agesMs = kept.map((one) => takenAtMs - one.takenAtMs);
    const within = (fromMs: number, toMs: number): number =>
      agesMs.filter((ageMs) => ageMs >= fromMs && ageMs < toMs).length;
    expect(within(0, DAY_MS)).toBe(24);
    // The first and the last day or week are within in part.
    for (let day = 1; day < 6; day += 1) {
      expect(within(day * DAY_MS, (day + 2) * DAY_MS)).toBeGreaterThan(0);
    }
    for (let week = 1; week < 3; week += 1) {
      expect(within(week * 7 * DAY_MS, (week + 2) * 7 * DAY_MS)).toBeGreaterThan(0);
    }
    expect(kept.length).toBeLessThanOrEqual(24 + 7 + 5);
  }
});
