// The next step of a schedule, case by case.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, removable } from '../../../../functions/etcd-backup/schedule/decide.ts';
import type { Made } from '../../../../functions/etcd-backup/schedule/object.ts';
import { newestOf } from '../../../../functions/etcd-backup/schedule/promise.ts';
import { job } from '../samples.ts';
import {
  active,
  at,
  BEFORE,
  BEFORE_THAT,
  type Differences,
  due,
  failed,
  good,
  LAST,
  noted,
  rehearsed,
  removal,
  removalEnded,
  state,
  unfit,
} from './samples.ts';

/** `step name`, or `next (reason)` where it waits. */
function plan(differences: Differences): string {
  const { step, next, waitsFor } = decide(state(differences));
  if (step === undefined) return waitsFor === undefined ? next : `${next} (${waitsFor.reason})`;
  if (step.type === 'make-backup') return `${step.type} ${step.name}`;
  return `${step.type} ${'stored' in step ? step.stored.name : step.made.name}`;
}

const STEPS: readonly [string, Differences, string][] = [
  ['rests when the last run is done', {}, 'Nothing'],
  ['makes the backup of a run that is due', due, 'make-backup daily-202611250400'],
  [
    'makes the first one, and none of before it was made',
    { status: {}, made: [], nowMs: at('2026-11-01T04:00:00Z') },
    'make-backup daily-202611010400',
  ],
  [
    'waits for the first run',
    { status: {}, made: [], nowMs: at('2026-11-01T03:00:00Z') },
    'Nothing',
  ],
  [
    'makes up the last of many that were missed',
    { ...noted('2026-11-02T04:00:00Z'), made: [] },
    'make-backup daily-202611250400',
  ],
  ['does not make again what is there', { ...noted(BEFORE) }, 'Nothing'],
  ['nor what was deleted since', { made: [] }, 'Nothing'],
  [
    'goes by no time that is yet to come',
    { ...noted('2036-01-01T00:00:00Z'), made: [good(BEFORE)] },
    'make-backup daily-202611250400',
  ],
  ['leaves out what is too late', { ...due, spec: { startingDeadlineSeconds: 600 } }, 'Nothing'],
  [
    'begins what is late, but not too late',
    { ...due, spec: { startingDeadlineSeconds: 3_600 } },
    'make-backup daily-202611250400',
  ],
  [
    'waits for the one before',
    { ...due, made: [active(BEFORE)] },
    'Begin the next run (BackupRunning)',
  ],
  [
    'does not wait for one that is being deleted',
    { ...due, made: [{ ...active(BEFORE), isEnding: true }] },
    'make-backup daily-202611250400',
  ],
  [
    'does not wait with Allow',
    { ...due, made: [active(BEFORE)], spec: { concurrencyPolicy: 'Allow' } },
    'make-backup daily-202611250400',
  ],
  [
    'but for five of them',
    {
      ...due,
      spec: { concurrencyPolicy: 'Allow' },
      made: [20, 21, 22, 23, 24].map((day) => active(`2026-11-${day}T04:00:00Z`)),
    },
    'Begin the next run (BackupRunning)',
  ],
  [
    'awaits the one under way',
    { made: [active(LAST)] },
    'Take EtcdBackup daily-202611250400 (BackupRunning)',
  ],
  ['rests while it is suspended', { ...due, spec: { suspend: true } }, 'Nothing (Suspended)'],
  ['does nothing while it is deleted', { ...due, isEnding: true }, 'Nothing'],
  [
    'does nothing by a wrong schedule',
    { spec: { schedule: '0 0 30 2 *' } },
    'Nothing (ScheduleInvalid)',
  ],
  ['does nothing in a wrong zone', { spec: { timeZone: 'Nowhere' } }, 'Nothing (TimeZoneUnknown)'],
  [
    'deletes the oldest that failed',
    { made: [good(LAST), failed(BEFORE), failed(BEFORE_THAT)] },
    'delete-backup daily-202611230400',
  ],
  [
    'keeps one in doubt',
    { made: [good(LAST), failed(BEFORE), failed(BEFORE_THAT, 'ResultLost')] },
    'Nothing',
  ],
  [
    'keeps one that was still to be rehearsed when its time was over',
    {
      made: [
        good(LAST),
        failed(BEFORE),
        { ...failed(BEFORE_THAT, 'DeadlineExceeded'), isToRehearse: true },
      ],
    },
    'Nothing',
  ],
  [
    'deletes none of what is stored although its rehearsal failed',
    { made: [good(LAST), unfit(BEFORE), unfit(BEFORE_THAT)], spec: { failedHistory: 0 } },
    'Nothing',
  ],
  [
    'deletes none whose run is not noted',
    { ...noted(BEFORE_THAT), made: [failed(LAST), failed(BEFORE)], spec: { failedHistory: 0 } },
    'Nothing',
  ],
  [
    'notes what is to be removed',
    { removals: [removal(good(BEFORE))] },
    'note-removal daily-202611240400',
  ],
  [
    'and then removes it',
    { removals: [removal({ ...good(BEFORE), isRemoving: true })] },
    'make-removal daily-202611240400',
  ],
  [
    'ends what was begun while it is suspended',
    {
      spec: { suspend: true },
      removals: [removal({ ...good(BEFORE), isRemoving: true }, job(removalEnded(true)))],
    },
    'delete-backup daily-202611240400',
  ],
  [
    'awaits that',
    { removals: [removal(good(BEFORE), job())] },
    'Remove s3://backups/shop/daily-202611240400/x.db (RemovalRunning)',
  ],
  [
    'deletes it afterwards',
    { removals: [removal(good(BEFORE), job(removalEnded(true)))] },
    'delete-backup daily-202611240400',
  ],
  [
    'passes over one that could not be removed',
    { removals: [removal(good(BEFORE_THAT), job(removalEnded(false))), removal(good(BEFORE))] },
    'note-removal daily-202611240400',
  ],
  [
    'believes no Job of another',
    { removals: [removal(good(BEFORE), { ...job(removalEnded(true)), isOurs: false })] },
    'Nothing',
  ],
  [
    'takes a backup before it removes one',
    { ...due, removals: [removal(good(BEFORE_THAT))] },
    'make-backup daily-202611250400',
  ],
];

test.each(STEPS)('%s', (_, differences, planned) => {
  expect(plan(differences)).toBe(planned);
});

const three = [good(LAST), good(BEFORE), good(BEFORE_THAT)];
const one = { spec: { retention: { count: 1 } } };

test.each<[string, Differences, readonly string[]]>([
  ['the oldest first', { ...one, made: three }, ['daily-202611230400', 'daily-202611240400']],
  ['none without a retention', { made: three }, []],
  ['none while it is suspended', { spec: { ...one.spec, suspend: true }, made: three }, []],
  [
    'none while the promise is broken',
    { ...one, made: three, nowMs: at('2026-11-27T05:00:01Z') },
    [],
  ],
  [
    'one until then',
    { ...one, made: three.slice(0, 2), nowMs: at('2026-11-27T05:00:00Z') },
    ['daily-202611240400'],
  ],
  [
    'none whose run is not noted',
    { ...one, ...noted(BEFORE_THAT), made: three },
    ['daily-202611230400'],
  ],
  [
    'what was begun, whatever the spec says now',
    {
      spec: { suspend: true },
      made: [good(LAST), { ...good(BEFORE), isRemoving: true }, good(BEFORE_THAT)],
    },
    ['daily-202611240400'],
  ],
  [
    'none that is being deleted',
    { ...one, made: [good(LAST), { ...good(BEFORE), isEnding: true }] },
    [],
  ],
])('may be removed: %s', (_, differences, names) => {
  expect(removable(state(differences)).map(({ name }) => name)).toEqual(names);
});

test.each<[string, Differences, readonly string[]]>([
  [
    'all but the last ones',
    { ...one, made: [good(LAST), unfit(BEFORE), unfit(BEFORE_THAT)] },
    ['daily-202611230400'],
  ],
  [
    'one stays in any case',
    {
      spec: { ...one.spec, failedHistory: 0 },
      made: [good(LAST), unfit(BEFORE), unfit(BEFORE_THAT)],
    },
    ['daily-202611230400'],
  ],
  ['none without a retention', { made: [unfit(BEFORE), unfit(BEFORE_THAT)] }, []],
  [
    'no good one while the last rehearsal failed',
    {
      spec: { ...one.spec, rehearsal: { every: 2 } },
      made: [unfit(LAST), good(BEFORE), good(BEFORE_THAT), unfit('2026-11-22T04:00:00Z')],
    },
    ['daily-202611220400'],
  ],
])('of what could not be rehearsed may be removed: %s', (_, differences, names) => {
  expect(removable(state(differences)).map(({ name }) => name)).toEqual(names);
});

test('whatever is there, the newest good one is never among those to remove', () => {
  const kinds = { good, failed, active, rehearsed, unfit };
  const some = fc.uniqueArray(
    fc.record({
      day: fc.integer({ min: 1, max: 25 }),
      kind: fc.constantFrom('good', 'failed', 'active'),
      isConfirmed: fc.boolean(),
      isEnding: fc.boolean(),
    }),
    { selector: ({ day }) => day },
  );
  const rules = fc.oneof(
    fc.record({ count: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ ageSeconds: fc.integer({ min: 1, max: 2_000_000 }) }),
    fc.constant({ exponential: { hours: 0, days: 1, weeks: 0 } }),
  );
  fc.assert(
    fc.property(some, rules, fc.integer({ min: 60, max: 10_000_000 }), (all, retention, maxAge) => {
      const made = all.map(({ day, kind, isConfirmed, isEnding }): Made => {
        const time = `2026-11-${`${day}`.padStart(2, '0')}T04:00:00Z`;
        const found = kind === 'good' ? good(time, isConfirmed) : kinds[kind](time);
        return { ...found, isEnding };
      });
      const differences = { made, spec: { retention, maxAgeSeconds: maxAge, failedHistory: 0 } };
      const found = state(differences);
      const gone = removable(found).map(({ name }) => name);
      expect(gone).not.toContain(newestOf(made.filter(({ isEnding }) => !isEnding))?.name ?? '');
      const { step } = decide(found);
      const deleted = step?.type === 'delete-backup' ? step.made.good : undefined;
      expect(deleted).toBeUndefined();
    }),
  );
});
