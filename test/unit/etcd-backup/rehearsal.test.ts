// An EtcdBackup that is rehearsed, case by case: it counts when what was stored could be restored,
// and where it could not be, its status tells what is stored, and why.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-backup/decide.ts';
import { statusUpdateOf } from '../../../functions/etcd-backup/status.ts';
import type { State } from '../../../functions/etcd-backup/state.ts';
import type { EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import type { FoundPod } from '../../../shared/jobs/job.ts';
import {
  ended,
  FACTS,
  job,
  JOB_NAME,
  LOCATION,
  pod,
  podEnd,
  podEnded,
  REHEARSAL,
  said,
  saidError,
  saidRehearsed,
  state,
} from './samples.ts';

const NOTED = { job: { name: JOB_NAME, uid: 'j1' } };
const spec = { rehearsal: {} };
const CHANGED = saidError('BACKUP_CHANGED', 'It has another sha256. Restore another one.');

/** The backup was taken, and the part of this name ended last. */
const behind = (container: string, message: string, exitCode: number): FoundPod =>
  podEnded(message, exitCode, '2026-11-25T04:09:59Z', { container, before: [podEnd(said())] });

const rehearsed = behind('confirm', saidRehearsed(), 0);
const tooOften = ended(false, 'BackoffLimitExceeded', 'Too often.');
const refused = ended(false, 'PodFailurePolicy', 'Exit code 3.');

interface Said {
  readonly phase: EtcdBackupStatus['phase'];
  readonly complete: string;
  readonly isStored: boolean;
  readonly error?: string;
}

function saidOf(changes: Partial<State>, status: EtcdBackupStatus = NOTED): Said {
  const now = state(changes, { spec, status });
  const update = statusUpdateOf(now, decide(now));
  const found = update.conditions.find(({ type }) => type === 'Complete');
  const { phase, backup, error } = update.status;
  return {
    phase,
    complete: `${found?.status} ${found?.reason}`,
    isStored: backup !== undefined,
    ...(error && { error: error.code }),
  };
}

const RUNNING = { phase: 'Running', complete: 'False Running' } as const;
const UNFIT = {
  phase: 'Failed',
  complete: 'False RehearsalFailed',
  isStored: true,
  error: 'REHEARSAL_FAILED',
} as const;

const CASES: readonly [string, Partial<State>, Said, EtcdBackupStatus?][] = [
  ['it is being taken', { job: job(), pods: [pod()] }, { ...RUNNING, isStored: false }],
  [
    'it is stored, and its rehearsal goes on',
    { job: job(), pods: [pod({ ends: [podEnd(said())] })] },
    { ...RUNNING, isStored: true },
  ],
  [
    'it was rehearsed',
    { job: job(ended(true)), pods: [rehearsed] },
    { phase: 'Complete', complete: 'True Confirmed', isStored: true },
  ],
  [
    'it says that it is done, and not that it was rehearsed',
    { job: job(ended(true)), pods: [behind('confirm', said(), 0)] },
    { phase: 'Failed', complete: 'False ResultLost', isStored: true },
  ],
  [
    'it was not taken',
    { job: job(tooOften), pods: [podEnded(saidError('S3_REFUSED', 'No rights.'), 1)] },
    { phase: 'Failed', complete: 'False BackupFailed', isStored: false, error: 'S3_REFUSED' },
  ],
  ['it is not what was stored', { job: job(refused), pods: [behind('check', CHANGED, 3)] }, UNFIT],
  [
    'etcdutl does not restore it',
    { job: job(tooOften), pods: [behind('restore', 'Error: no such thing', 1)] },
    UNFIT,
  ],
  [
    'what was restored is not the same',
    { job: job(tooOften), pods: [behind('confirm', saidError('RESTORE_DIFFERS', 'So.'), 1)] },
    UNFIT,
  ],
  [
    'a pod of it takes too much memory',
    { job: job(tooOften), pods: [behind('confirm', '', 137)] },
    { phase: 'Failed', complete: 'False RehearsalFailed', isStored: true },
  ],
  [
    'its time is over, and its pod is gone',
    { job: job(ended(false, 'DeadlineExceeded')) },
    { phase: 'Failed', complete: 'False RehearsalFailed', isStored: true },
    { ...NOTED, backup: FACTS },
  ],
  [
    'its time is over, and nobody had heard that it is stored',
    { job: job(ended(false, 'DeadlineExceeded')) },
    { phase: 'Failed', complete: 'False DeadlineExceeded', isStored: false },
  ],
  [
    'the attempt after the one that stored it cannot reach the storage',
    {
      job: job(tooOften),
      pods: [
        behind('check', saidError('S3_UNAVAILABLE', 'Away.'), 1),
        podEnded(saidError('S3_UNAVAILABLE', 'Away.'), 1, '2026-11-25T04:10:00Z'),
      ],
    },
    { ...UNFIT, error: 'S3_UNAVAILABLE' },
  ],
  [
    'its Job is deleted',
    {},
    { phase: 'Failed', complete: 'False JobGone', isStored: true },
    { ...NOTED, backup: FACTS },
  ],
];

test.each(CASES)('when %s', (_, changes, expected, status) => {
  expect(saidOf(changes, status)).toEqual(expected);
});

test('the status has what was found, and the message says that it was', () => {
  const now = state({ job: job(ended(true)), pods: [rehearsed] }, { spec, status: NOTED });
  const { status, conditions } = statusUpdateOf(now, decide(now));
  expect(status).toMatchObject({ backup: FACTS, rehearsal: REHEARSAL });
  expect(conditions[0]?.message).toMatch(/^5 keys at revision 6, restored and read through; a /);
});

test('objects that no API server can read are told, and the backup counts', () => {
  const unreadable = { objects: 2, such: '/registry/pods/shop/b is cut off' };
  const pods = [behind('confirm', saidRehearsed({ unreadable }), 0)];
  const now = state({ job: job(ended(true)), pods }, { spec, status: NOTED });
  const { status, conditions } = statusUpdateOf(now, decide(now));
  expect([status.phase, status.rehearsal?.unreadable]).toEqual(['Complete', unreadable]);
  expect(conditions[2]).toMatchObject({ status: 'True', reason: 'ObjectsUnreadable' });
  expect(conditions[2]?.message).toContain('2 of the objects in both');
});

test.each([
  { objects: -1, such: '' },
  { objects: 1, such: 'x'.repeat(501) },
  { objects: 1 },
  'two',
])('no rehearsal of ours says %j of them', (unreadable) => {
  const pods = [behind('confirm', saidRehearsed({ unreadable }), 0)];
  const { complete } = saidOf({ job: job(ended(true)), pods });
  expect(complete).toBe('False ResultLost');
});

test('a rehearsal that failed says where it lies, what is wrong, and what to do', () => {
  const now = state({ job: job(refused), pods: [behind('check', CHANGED, 3)] }, { spec });
  expect(decide(now).trouble?.message).toBe(
    `The backup is stored at ${LOCATION}, and its rehearsal failed, so it counts for none. It ` +
      'stays there to be looked at. REHEARSAL_FAILED: BACKUP_CHANGED: It has another sha256. ' +
      'Restore another one.',
  );
  const words = state(
    { job: job(tooOften), pods: [behind('restore', 'Error: no such thing', 1)] },
    { spec },
  );
  expect(decide(words).trouble?.message).toMatch(
    /REHEARSAL_FAILED: RESTORE_FAILED: etcdutl ended with exit code 1, and said: Error: no such/,
  );
});

test('of two attempts the facts are those of the last', () => {
  const other = said({ keys: 6 });
  const first = podEnded(CHANGED, 1, '2026-11-25T04:05:00Z', {
    container: 'check',
    before: [podEnd(said(), 0, '2026-11-25T04:04:00Z')],
  });
  const second = podEnded(CHANGED, 3, '2026-11-25T04:09:00Z', {
    container: 'check',
    before: [podEnd(other, 0, '2026-11-25T04:08:00Z')],
  });
  for (const pods of [
    [first, second],
    [second, first],
  ]) {
    const now = state({ job: job(refused), pods }, { spec });
    expect(statusUpdateOf(now, decide(now)).status.backup?.keys).toBe(6);
  }
});

test.each<[string, object]>([
  ['a time', { rehearsedAt: 'now' }],
  ['a day that there is not', { rehearsedAt: '2026-02-30T25:00:00Z' }],
  ['a number', { durationSeconds: -1 }],
  ['a revision', { revision: '6x' }],
  ['a hash', { hashKv: '1' }],
  ['versions', { storedVersions: [] }],
  ['a version', { storedVersions: { objects: 1, total: 1, most: [{ resource: 'pods' }] } }],
  [
    'more versions than a program of ours says',
    {
      storedVersions: {
        objects: 1,
        total: 1,
        most: Array(21).fill(REHEARSAL.storedVersions.most[0]),
      },
    },
  ],
  [
    'a name that is none',
    {
      storedVersions: {
        objects: 1,
        total: 1,
        most: [{ resource: 'a b', version: 'v1', objects: 1 }],
      },
    },
  ],
])('what has not the form of our program in %s is not believed', (_, changes) => {
  const pods = [behind('confirm', saidRehearsed(changes), 0)];
  expect(saidOf({ job: job(ended(true)), pods }).complete).toBe('False ResultLost');
});
