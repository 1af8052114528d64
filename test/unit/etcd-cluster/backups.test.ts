// BackupReady of an EtcdCluster, case by case: which schedules count, whether the newest good
// backup is as new as they promise, and what metrics and the status show of it.
import { expect, test } from 'vitest';
import { BackupGauges } from '../../../functions/etcd-cluster/backups/gauges.ts';
import { backupsOf } from '../../../functions/etcd-cluster/backups/ready.ts';
import { type Schedule, scheduleOf } from '../../../functions/etcd-cluster/backups/schedules.ts';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { recordsOf } from '../../../functions/etcd-cluster/state.ts';
import { statusUpdateOf } from '../../../functions/etcd-cluster/status.ts';
import type {
  EtcdBackupScheduleStatus,
  NewestBackup,
} from '../../../shared/api/etcd-backup-schedule.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import { NOW_MS, state } from './samples.ts';

/** An hour ago. */
const UNTOLD: NewestBackup = {
  name: 'daily-202601012300',
  location: 's3://backups/shop/daily-202601012300/x.db',
  revision: '6',
  takenAt: '2026-01-01T23:00:05Z',
  isHashConfirmed: true,
};
/** The cluster of the samples is c1. */
const NEWEST: NewestBackup = { ...UNTOLD, clusterId: 'c1' };
const NOW = '2026-01-02T00:00:00Z';
const SECOND_AGO = '2026-01-01T23:59:59Z';
const GOOD: EtcdBackupScheduleStatus = { newest: NEWEST, goodUntil: NOW };
const OLDER: NewestBackup = { ...NEWEST, name: 'older', takenAt: '2025-06-01T00:00:00Z' };
const OF_BEFORE: NewestBackup = { ...NEWEST, clusterId: 'c0' };

interface Written {
  readonly name?: string;
  readonly namespace?: string;
  readonly source?: object;
  readonly suspend?: boolean;
  readonly deletionTimestamp?: string;
  readonly status?: EtcdBackupScheduleStatus;
}

/** As it is read; undefined when it takes backups of something else. */
function read(written: Written): Schedule | undefined {
  const { name = 'daily', namespace = 'shop', suspend = false, status = GOOD } = written;
  const { source = { etcdCluster: { name: 'etcd' } }, deletionTimestamp } = written;
  return scheduleOf(state().cluster, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: {
      namespace,
      name,
      uid: name,
      resourceVersion: '1',
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { suspend, template: { source } },
    status,
  });
}

const all = (...written: readonly Written[]): readonly Schedule[] =>
  written.flatMap((one) => read(one) ?? []);

const unknown = (reason: string): EtcdBackupScheduleStatus => ({
  ...GOOD,
  conditions: [{ type: 'Ready', status: 'Unknown', reason, message: 'Nobody has looked.' }],
});

const CASES: readonly [string, readonly Written[], string, RegExp?][] = [
  ['nobody was asked for backups', [], 'Unknown NoSchedule', /etcdCluster\.name is etcd\.$/],
  ['the promise is kept', [{}], 'True NewEnough', /is daily-202601012300, of 2026-01-01T23:00:05Z/],
  [
    'no member confirmed its hash',
    [{ status: { ...GOOD, newest: { ...NEWEST, isHashConfirmed: false } } }],
    'True Unconfirmed',
    /No member confirmed its hash\./,
  ],
  [
    'the time is over, whatever the schedule says of itself',
    [{ status: { ...GOOD, goodUntil: SECOND_AGO } }],
    'False TooOld',
    /EtcdBackupSchedule daily promised a newer one by 2026-01-01T23:59:59Z\.$/,
  ],
  [
    'nobody has looked at the schedule yet',
    [{ status: {} }],
    'False NoBackup',
    /^There is no good backup of it\. EtcdBackupSchedule daily names no time for one\.$/,
  ],
  [
    'there is none yet, and one is promised',
    [{ status: { goodUntil: NOW } }],
    'False NoBackup',
    /daily promises its first one by 2026-01-02T00:00:00Z/,
  ],
  ['a time is promised no more', [{ status: { newest: NEWEST } }], 'False TooOld'],
  [
    'it is of a cluster that had this name before',
    [{ status: { ...GOOD, newest: OF_BEFORE } }],
    'False NoBackup',
    /Its newest one, daily-202601012300, is of another cluster/,
  ],
  [
    'the schedule does not say of which cluster it is',
    [{ status: { ...GOOD, newest: UNTOLD } }],
    'False NoBackup',
  ],
  [
    'its only schedule is suspended, and the newest one new enough',
    [{ suspend: true }],
    'False Suspended',
    /true: daily\. The newest good backup is daily-202601012300/,
  ],
  [
    'one of two is suspended',
    [{ name: 'weekly', suspend: true, status: { newest: OLDER, goodUntil: SECOND_AGO } }, {}],
    'True NewEnough',
  ],
  [
    'one of two is late',
    [{ name: 'hourly', status: { newest: OLDER, goodUntil: SECOND_AGO } }, {}],
    'False TooOld',
    /is daily-202601012300.* EtcdBackupSchedule hourly promised a newer one/,
  ],
  [
    'a second schedule has yet to take its first one',
    [{}, { name: 'weekly', status: { goodUntil: NOW } }],
    'True NewEnough',
    /weekly promises its first one by/,
  ],
  [
    'a second schedule never took its first one',
    [{}, { name: 'weekly', status: { goodUntil: SECOND_AGO } }],
    'False TooOld',
    /weekly promised its first one by/,
  ],
  [
    'a new schedule follows one that was suspended long ago',
    [
      { suspend: true, status: { newest: OLDER } },
      { name: 'new', status: { goodUntil: NOW } },
    ],
    'False NoBackup',
    /The newest good backup is older, .* new promises its first one/,
  ],
  [
    'the schedule is not swept',
    [{ status: unknown('NotSwept') }],
    'Unknown NotSwept',
    /^EtcdBackupSchedule daily: Nobody has looked\.$/,
  ],
  ['rights lack for its backups', [{ status: unknown('RightsMissing') }], 'Unknown RightsMissing'],
  [
    'it is not swept, and the time is over',
    [{ status: { ...unknown('NotSwept'), goodUntil: SECOND_AGO } }],
    'False TooOld',
  ],
  [
    'the schedule is of another etcd',
    [{ source: { etcdCluster: { name: 'other' } } }],
    'Unknown NoSchedule',
  ],
  [
    'the schedule names endpoints',
    [{ source: { endpoints: ['https://etcd.shop.svc:2379'] } }],
    'Unknown NoSchedule',
  ],
  ['the schedule is in another namespace', [{ namespace: 'other' }], 'Unknown NoSchedule'],
  ['the schedule is about to go', [{ deletionTimestamp: NOW }], 'Unknown NoSchedule'],
];

test.each(CASES)('%s: %j', (_, written, expected, words = /./) => {
  const { condition } = backupsOf(state({ schedules: all(...written) }));
  const { type, status, reason, message } = condition;
  expect({ type, said: `${status} ${reason}` }).toEqual({ type: 'BackupReady', said: expected });
  expect(message).toMatch(words);
});

test('without an id of its own a cluster has no backup', () => {
  const untold = { ...GOOD, newest: UNTOLD };
  const one = state({ schedules: all({}, { status: untold }), without: ['clusterId'] });
  expect(backupsOf(one)).toMatchObject({ condition: { reason: 'NoBackup' }, backup: undefined });
});

test("what could not be read is told, and said to be nobody's fault", () => {
  const lacking = { reason: 'RightsMissing', message: 'It may not.' };
  const { condition } = backupsOf({
    ...state(),
    backups: { schedules: [], lacking },
  });
  expect(condition).toEqual({ type: 'BackupReady', status: 'Unknown', ...lacking });
});

test('the status has the newest good one of all schedules, and its condition', () => {
  const one = state({
    schedules: all({ name: 'weekly', status: { newest: OLDER, goodUntil: NOW } }, {}),
  });
  const { status, conditions } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  expect(status).toMatchObject({ backup: { ...UNTOLD, schedule: 'daily' } });
  expect(conditions.find(({ type }) => type === 'BackupReady')?.status).toBe('True');
  const without = state();
  const bare = statusUpdateOf(without, decide(without), recordsOf(without), new Map());
  expect(bare.status).not.toHaveProperty('backup');
});

test('however much others wrote, the status stays small', () => {
  const long = 'x'.repeat(1_000_000);
  const newest = { ...NEWEST, name: long, location: long, revision: long };
  const takenAt = `2026-01-01T23:00:05.${'1'.repeat(100_000)}Z`;
  const doubt = { ...unknown(long), newest: { ...newest, takenAt } };
  const verdict = backupsOf(state({ schedules: all({ name: 'a', status: doubt }) }));
  expect(JSON.stringify(verdict).length).toBeLessThan(3_000);
});

function shownBy(...written: readonly Written[]): readonly (readonly [string, unknown, number])[] {
  const metrics = new Metrics();
  const gauges = new BackupGauges(metrics);
  const { cluster } = state();
  // A schedule that is taken away leaves no time behind.
  gauges.show(cluster, backupsOf(state({ schedules: all({}) })));
  gauges.show(cluster, backupsOf(state({ schedules: all(...written) })));
  return [...metrics.all()].flatMap(({ name, cells }) =>
    [...cells].flatMap((cell) =>
      'value' in cell
        ? [[name.slice('ballast_etcd_cluster_backup_'.length), cell.labels, cell.value] as const]
        : [],
    ),
  );
}

const LABELS = { namespace: 'shop', etcdcluster: 'etcd' };
const NEWEST_S = Date.parse(NEWEST.takenAt) / 1_000;
const UNTIL = 'good_until_timestamp_seconds';

test.each<[string, readonly Written[], number, number | undefined]>([
  ['good ones', [{}], NEWEST_S, NOW_MS / 1_000],
  [
    'the first time that is promised',
    [{}, { name: 'b', status: { goodUntil: SECOND_AGO } }],
    NEWEST_S,
    NOW_MS / 1_000 - 1,
  ],
  ['none yet', [{ status: { goodUntil: NOW } }], 0, NOW_MS / 1_000],
  ['a schedule that promises no time', [{ status: {} }], 0, 0],
  ['a suspended one', [{ suspend: true }], NEWEST_S, 0],
  ['no schedule', [], 0, undefined],
])('metrics show %s', (_, written, newest, until) => {
  expect(shownBy(...written)).toEqual([
    ['newest_timestamp_seconds', LABELS, newest],
    ...(until === undefined ? [] : [[UNTIL, LABELS, until]]),
  ]);
});

test('metrics show nothing of a cluster that is gone', () => {
  const metrics = new Metrics();
  const gauges = new BackupGauges(metrics);
  const one = state({ schedules: all({}) });
  gauges.show(one.cluster, backupsOf(one));
  gauges.keepOnly(new Set([one.cluster.uid]));
  expect([...metrics.all()].map(({ cells }) => [...cells].length)).toEqual([1, 1]);
  gauges.keepOnly(new Set());
  expect([...metrics.all()].map(({ cells }) => [...cells].length)).toEqual([0, 0]);
});
