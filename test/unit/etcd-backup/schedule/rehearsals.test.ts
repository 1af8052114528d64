// Which backups of a schedule are rehearsed, in life after life: the first, and from then on each
// good one that is the n-th, whatever is deleted meanwhile; and a rehearsal that failed is
// repeated.
import { expect, test } from 'vitest';
import { decide } from '../../../../functions/etcd-backup/schedule/decide.ts';
import type { Made } from '../../../../functions/etcd-backup/schedule/object.ts';
import { backupManifest } from '../../../../functions/etcd-backup/schedule/render/backup.ts';
import { statusUpdateOf } from '../../../../functions/etcd-backup/schedule/status.ts';
import type { EtcdBackupScheduleStatus } from '../../../../shared/api/etcd-backup-schedule.ts';
import {
  active,
  at,
  BEFORE,
  due,
  failed,
  good,
  LAST,
  noted,
  rehearsed,
  state,
  unfit,
} from './samples.ts';

const DAY_MS = 86_400_000;
const FIRST_MS = at('2026-11-25T04:00:00Z');

/** How a backup ends: well, before anything is stored, or with a rehearsal that fails. */
type End = 'good' | 'failed' | 'unfit';

/** One day after the other; `R` for a backup that was made to be rehearsed, `.` for another. */
function live(every: number, ends: readonly End[], forget: (made: readonly Made[]) => Made[]) {
  let status: EtcdBackupScheduleStatus = {};
  let made: readonly Made[] = [];
  let told = '';
  const look = (nowMs: number, failedHistory = 100) => {
    const found = state({
      spec: { rehearsal: { every }, failedHistory },
      status,
      made,
      nowMs,
    });
    const decision = decide(found);
    ({ status } = statusUpdateOf(found, decision));
    return decision.step;
  };
  // Rehearsals are asked for the day before.
  status = { lastScheduleTime: new Date(FIRST_MS - DAY_MS).toISOString() };
  look(FIRST_MS - DAY_MS / 2);
  for (const [day, end] of ends.entries()) {
    const nowMs = FIRST_MS + day * DAY_MS;
    const time = new Date(nowMs).toISOString();
    const step = look(nowMs);
    if (step?.type !== 'make-backup') throw new Error(`it makes none on day ${day}`);
    told += step.isToRehearse ? 'R' : '.';
    const isWell = step.isToRehearse ? rehearsed(time) : good(time);
    const bad = step.isToRehearse && end === 'unfit' ? unfit(time) : failed(time);
    made = forget([...made, end === 'good' ? isWell : bad]);
    // Twice: what was counted is not counted again.
    for (const laterMs of [70_000, 130_000]) look(nowMs + laterMs);
  }
  return told;
}

const keepAll = (made: readonly Made[]) => [...made];
const keepLast = (made: readonly Made[]) => made.slice(-1);
const all = (count: number): readonly End[] => Array.from({ length: count }, () => 'good');

test.each([
  ['each one', 1, all(4), 'RRRR'],
  ['the first, and each third after it', 3, all(10), 'R..R..R..R'],
  [
    'those that failed do not count',
    3,
    ['good', 'good', 'failed', 'failed', 'good', 'good'],
    'R....R',
  ],
  ['one that failed to be taken is repeated', 3, ['failed', 'good', 'good', 'good'], 'RR..'],
  [
    'a rehearsal that failed is repeated with the next one',
    3,
    ['good', 'good', 'good', 'unfit', 'unfit', 'good', 'good', 'good'],
    'R..RRR..',
  ],
] as const)('%s', (_, every, ends, told) => {
  expect(live(every, ends, keepAll)).toBe(told);
});

test('it goes on counting when all EtcdBackups but the last are deleted', () => {
  expect(live(4, all(10), keepLast)).toBe('R...R...R.');
});

test('none is rehearsed beside one that is under way, nor where none is asked for', () => {
  const isMadeSo = (differences: Parameters<typeof state>[0]): boolean | undefined => {
    const { step } = decide(state(differences));
    return step?.type === 'make-backup' ? step.isToRehearse : undefined;
  };
  const spec = { rehearsal: { every: 1 }, concurrencyPolicy: 'Allow' } as const;
  const under = { ...active(BEFORE), isToRehearse: true };
  expect(isMadeSo({ ...due, spec })).toBe(true);
  expect(isMadeSo({ ...due, made: [under], spec })).toBe(false);
  expect(isMadeSo({ ...due, made: [{ ...under, isEnding: true }], spec })).toBe(true);
  expect(isMadeSo(due)).toBe(false);
});

test('good ones from before rehearsals were asked for are not counted', () => {
  const found = state({ spec: { rehearsal: { every: 1 } }, made: [good(BEFORE), good(LAST)] });
  const { status } = statusUpdateOf(found, decide(found));
  expect(status.rehearsals).toEqual({ goodSince: 0, countedUntil: '2026-11-25T04:01:00Z' });
});

test('the last one that was rehearsed well is told, and goes with the question', () => {
  const before = { rehearsals: { goodSince: 5, countedUntil: BEFORE } };
  const status = { ...noted(LAST).status, ...before };
  const made = [rehearsed(LAST)];
  const found = state({ spec: { rehearsal: { every: 6 } }, status, made });
  expect(statusUpdateOf(found, decide(found)).status.rehearsals).toEqual({
    goodSince: 0,
    countedUntil: '2026-11-25T04:01:00Z',
    last: { name: 'daily-202611250400', rehearsedAt: '2026-11-25T04:00:50.000Z' },
  });
  const without = state({ status, made });
  expect(statusUpdateOf(without, decide(without)).status.rehearsals).toBeUndefined();
});

test('objects that no API server can read are told, and the promise is kept', () => {
  const backup = rehearsed(LAST);
  const made = [{ ...backup, good: backup.good && { ...backup.good, unreadable: 3 } }];
  const spec = { rehearsal: { every: 6 } };
  const counted = { rehearsals: { goodSince: 5, countedUntil: BEFORE } };
  const found = state({ spec, status: { ...noted(LAST).status, ...counted }, made });
  const { status, conditions } = statusUpdateOf(found, decide(found));
  const [ready, , degraded] = conditions;
  expect([ready?.status, degraded?.reason]).toEqual(['True', 'ObjectsUnreadable']);
  // Its EtcdBackup goes, and the objects stay.
  const later = state({ spec, status, made: [] });
  expect(statusUpdateOf(later, decide(later)).status.rehearsals?.last?.unreadable).toBe(3);
});

test('its EtcdBackup is told how it is rehearsed, and no other one is', () => {
  const disk = { medium: 'Node', size: '5Gi' } as const;
  const image = 'quay.io/coreos/etcd:v3.6.16';
  const { schedule } = state({ spec: { rehearsal: { every: 7, image, disk } } });
  const specOf = (isToRehearse: boolean) => backupManifest(schedule, FIRST_MS, isToRehearse);
  expect(specOf(true)['spec']).toMatchObject({ rehearsal: { image, disk } });
  expect(specOf(true)['spec']).not.toHaveProperty('rehearsal.every');
  expect(specOf(false)['spec']).not.toHaveProperty('rehearsal');
});
