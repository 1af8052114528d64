// The status of a schedule, case by case: whether its promise is kept, and what needs a person.
import { expect, test } from 'vitest';
import { decide } from '../../../../functions/etcd-backup/schedule/decide.ts';
import { statusUpdateOf } from '../../../../functions/etcd-backup/schedule/status.ts';
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
  NOW_MS,
  removal,
  rehearsed,
  removalEnded,
  state,
  unfit,
} from './samples.ts';

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

/** When the last one had ended. */
const ENDED = '2026-11-25T04:01:00Z';

const CONDITIONS: readonly [string, Said][] = [
  ['the promise is kept', { differences: {}, ready: 'True NewEnough' }],
  [
    'there is none yet, and one was promised by now',
    {
      // It was made on 2026-11-01, so by 2026-11-02T05:00:00Z.
      differences: { status: {}, made: [active(LAST)], nowMs: at('2026-11-02T05:00:01Z') },
      ready: 'False NoBackup',
      degraded: 'True NoBackup',
    },
  ],
  [
    'there is none yet, and that time has not come',
    {
      differences: { status: {}, made: [active(LAST)], nowMs: at('2026-11-02T05:00:00Z') },
      ready: 'False NoBackup',
    },
  ],
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
    'the last rehearsal failed, and a good one is new enough',
    {
      differences: { spec: { rehearsal: { every: 7 } }, made: [good(BEFORE), unfit(LAST)] },
      ready: 'False RehearsalFailed',
      degraded: 'True RehearsalFailed',
    },
  ],
  [
    'the one before it did',
    {
      differences: { spec: { rehearsal: { every: 7 } }, made: [unfit(BEFORE), rehearsed(LAST)] },
      ready: 'True NewEnough',
    },
  ],
  [
    'so many good ones have come that one of them had to be rehearsed',
    {
      differences: {
        spec: { rehearsal: { every: 2 } },
        status: { lastScheduleTime: LAST, rehearsals: { goodSince: 3, countedUntil: ENDED } },
      },
      ready: 'False RehearsalOverdue',
      degraded: 'True RehearsalOverdue',
    },
  ],
  [
    'not so many yet',
    {
      differences: {
        spec: { rehearsal: { every: 3 } },
        status: { lastScheduleTime: LAST, rehearsals: { goodSince: 3, countedUntil: ENDED } },
      },
      ready: 'True NewEnough',
    },
  ],
  [
    'one cannot be removed',
    {
      differences: { removals: [removal(good(BEFORE), job(removalEnded(false)))] },
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
];

test.each(CONDITIONS)(
  '%s: the conditions',
  (_, { differences, ready, degraded = 'False NotDegraded' }) => {
    expect(conditionsOf(differences)).toMatchObject({ Ready: ready, Degraded: degraded });
  },
);

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
      clusterId: 'cdf818194e3a8c32',
    },
    // The second run after it, and the hour that it may take.
    goodUntil: '2026-11-26T05:00:00Z',
    removing: [],
    kept: 1,
  });
});

test('while there is none the status has until when the first one is promised', () => {
  // It was made on 2026-11-01: the second run from then on, and the hour that it may take.
  const found = state({ status: {}, made: [active(LAST)] });
  const { status } = statusUpdateOf(found, decide(found));
  expect(status).toMatchObject({ goodUntil: '2026-11-02T05:00:00Z' });
  expect(status).not.toHaveProperty('newest');
});

test('one whose removal has begun is good no more', () => {
  const removing = [{ ...good(BEFORE), isRemoving: true }];
  const found = state({ made: removing });
  expect(statusUpdateOf(found, decide(found)).status).toMatchObject({
    removing: ['daily-202611240400'],
    kept: 0,
  });
  expect(conditionsOf({ made: removing })).toMatchObject({ Ready: 'False NoBackup' });
});

test('what happened stays in the status when its EtcdBackup is deleted', () => {
  const status = { lastScheduleTime: LAST, lastSuccessfulTime: LAST };
  const found = state({ status, made: [] });
  expect(statusUpdateOf(found, decide(found)).status).toMatchObject(status);
});
