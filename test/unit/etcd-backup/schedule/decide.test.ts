// What a schedule does next, case by case, and what its status says.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, removable } from '../../../../functions/etcd-backup/schedule/decide.ts';
import type { Made } from '../../../../functions/etcd-backup/schedule/object.ts';
import { newestOf } from '../../../../functions/etcd-backup/schedule/promise.ts';
import { statusUpdateOf } from '../../../../functions/etcd-backup/schedule/status.ts';
import { job } from '../samples.ts';
import { active, at, type Differences, failed, good, LAST, NOW_MS, state } from './samples.ts';

/** `step name`, or `next (reason)` where it waits. */
function plan(differences: Differences): string {
  const { step, next, waitsFor } = decide(state(differences));
  if (step === undefined) return waitsFor === undefined ? next : `${next} (${waitsFor.reason})`;
  if (step.type === 'make-backup') return `${step.type} ${step.name}`;
  return `${step.type} ${step.type === 'make-removal' ? step.stored.name : step.made.name}`;
}

const BEFORE = '2026-11-24T04:00:00Z';
const BEFORE_THAT = '2026-11-23T04:00:00Z';
const noted = (lastScheduleTime: string): Pick<Differences, 'status'> => ({
  status: { lastScheduleTime },
});
const due = { ...noted(BEFORE), made: [good(BEFORE)] };
const stored = (made: Made) => {
  if (made.good === undefined) throw new Error('it is not good');
  const { takenAtMs, isConfirmed } = made.good;
  return { name: made.name, takenAtMs, isConfirmed, made, good: made.good };
};
const removal = (made: Made, found?: ReturnType<typeof job>) => ({
  stored: stored(made),
  job: found,
  pods: [],
});
const ended = (isComplete: boolean) => ({
  end: { isComplete, reason: 'Ended', message: 'So it was', at: LAST },
});

test.each<[string, Differences, string]>([
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
    'deletes none whose run is not noted',
    { ...noted(BEFORE_THAT), made: [failed(LAST), failed(BEFORE)], spec: { failedHistory: 0 } },
    'Nothing',
  ],
  [
    'removes what is stored',
    { removals: [removal(good(BEFORE))] },
    'make-removal daily-202611240400',
  ],
  [
    'awaits that',
    { removals: [removal(good(BEFORE), job())] },
    'Remove s3://backups/shop/daily-202611240400/x.db (RemovalRunning)',
  ],
  [
    'deletes it afterwards',
    { removals: [removal(good(BEFORE), job(ended(true)))] },
    'delete-backup daily-202611240400',
  ],
  [
    'passes over one that could not be removed',
    { removals: [removal(good(BEFORE_THAT), job(ended(false))), removal(good(BEFORE))] },
    'make-removal daily-202611240400',
  ],
  [
    'believes no Job of another',
    { removals: [removal(good(BEFORE), { ...job(ended(true)), isOurs: false })] },
    'Nothing',
  ],
  [
    'takes a backup before it removes one',
    { ...due, removals: [removal(good(BEFORE_THAT))] },
    'make-backup daily-202611250400',
  ],
])('%s', (_, differences, planned) => {
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
    'none that is being deleted',
    { ...one, made: [good(LAST), { ...good(BEFORE), isEnding: true }] },
    [],
  ],
])('may be removed: %s', (_, differences, names) => {
  expect(removable(state(differences)).map(({ name }) => name)).toEqual(names);
});

test('whatever is there, the newest good one is never among those to remove', () => {
  const kinds = { good, failed, active };
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

interface Said {
  readonly differences: Differences;
  readonly ready: string;
  readonly degraded?: string;
}

function conditionsOf(differences: Differences): Readonly<Record<string, string>> {
  const found = state(differences);
  const { conditions } = statusUpdateOf(found, decide(found));
  return Object.fromEntries(
    conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
}

test.each<[string, Said]>([
  ['the promise is kept', { differences: {}, ready: 'True NewEnough' }],
  ['there is none yet', { differences: { status: {}, made: [] }, ready: 'False NoBackup' }],
  [
    'one run has failed',
    {
      differences: { made: [good(BEFORE), failed(LAST)] },
      ready: 'True NewEnough',
      degraded: 'True BackupFailed',
    },
  ],
  [
    'two have, and the time of the second is over',
    {
      differences: { made: [good(BEFORE_THAT), failed(BEFORE), failed(LAST)], nowMs: NOW_MS + 1 },
      ready: 'False TooOld',
      degraded: 'True TooOld',
    },
  ],
  [
    'it is older than was said',
    {
      differences: { spec: { maxAgeSeconds: 3_000 } },
      ready: 'False TooOld',
      degraded: 'True TooOld',
    },
  ],
  [
    'it is as old as was said',
    { differences: { spec: { maxAgeSeconds: 3_595 } }, ready: 'True NewEnough' },
  ],
  [
    'it is suspended for long',
    {
      differences: { spec: { suspend: true }, nowMs: at('2026-12-01T00:00:00Z') },
      ready: 'False TooOld',
      degraded: 'True TooOld',
    },
  ],
  [
    'the schedule is wrong',
    {
      differences: { spec: { schedule: '0 0 30 2 *' } },
      ready: 'False ScheduleInvalid',
      degraded: 'True ScheduleInvalid',
    },
  ],
  [
    'a run is left out',
    {
      differences: { ...due, spec: { startingDeadlineSeconds: 600 } },
      ready: 'True NewEnough',
      degraded: 'True RunMissed',
    },
  ],
  [
    'one cannot be removed',
    {
      differences: { removals: [removal(good(BEFORE), job(ended(false)))] },
      ready: 'True NewEnough',
      degraded: 'True RemovalFailed',
    },
  ],
  [
    'the name of a removal is taken',
    {
      differences: { removals: [removal(good(BEFORE), job({ isOurs: false }))] },
      ready: 'True NewEnough',
      degraded: 'True NameTaken',
    },
  ],
])('%s: the conditions', (_, { differences, ready, degraded = 'False NotDegraded' }) => {
  expect(conditionsOf(differences)).toMatchObject({ Ready: ready, Degraded: degraded });
});

test('the status has the times, the newest good one, and what is under way', () => {
  const found = state({ made: [good(BEFORE), failed(BEFORE_THAT), active(LAST)] });
  expect(statusUpdateOf(found, decide(found)).status).toEqual({
    observedGeneration: 1,
    lastScheduleTime: LAST,
    lastSuccessfulTime: '2026-11-24T04:01:00Z',
    nextScheduleTime: '2026-11-26T04:00:00Z',
    active: ['daily-202611250400'],
    newest: {
      name: 'daily-202611240400',
      location: 's3://backups/shop/daily-202611240400/x.db',
      revision: '6',
      takenAt: '2026-11-24T04:00:05Z',
      isHashConfirmed: true,
    },
    // The second run after it, and the hour that it may take.
    goodUntil: '2026-11-26T05:00:00Z',
    kept: 1,
  });
});

test('what happened stays in the status when its EtcdBackup is deleted', () => {
  const status = { lastScheduleTime: LAST, lastSuccessfulTime: LAST };
  const found = state({ status, made: [] });
  expect(statusUpdateOf(found, decide(found)).status).toMatchObject(status);
});
