// The life of a schedule on a model of the API server: it is killed before and after every write,
// two look at once, reads are old. Each run is made once, and what is stored goes before what knows
// of it.
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { Deps } from '../../../../functions/etcd-backup/deps.ts';
import { reconciler } from '../../../../functions/etcd-backup/both.ts';
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../../shared/api/etcd-backup.ts';
import {
  ETCD_BACKUP_SCHEDULES,
  type EtcdBackupScheduleStatus,
} from '../../../../shared/api/etcd-backup-schedule.ts';
import { ETCD_CLUSTERS } from '../../../../shared/api/etcd-cluster.ts';
import type { Context, IncomingEvent } from '../../../../shared/function/define.ts';
import { JOBS } from '../../../../shared/jobs/observe.ts';
import { Metrics } from '../../../../shared/function/metrics.ts';
import type { StatefulOptions } from '../../../../shared/stateful/deps.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { KubeModel } from '../../stateful/kube-model.ts';
import { FACTS } from '../samples.ts';
import { at, SPEC } from './samples.ts';

const namespace = 'shop';
const DAILY = { namespace, name: 'daily' };
const apiVersion = 'ballast.dev/v1alpha1';

let kube: KubeModel;
let nowMs: number;
let deps: Deps;

beforeEach(() => {
  begin();
});

function begin(): void {
  kube = new KubeModel();
  kube.lingers = () => false;
  nowMs = at('2026-01-01T04:00:30Z');
  putSchedule();
  const born = { clusterId: 'cdf818194e3a8c32' };
  const metadata = { namespace, name: 'main' };
  const spec = { replicas: 1, tls: { clients: { mode: 'None' } } };
  kube.put(ETCD_CLUSTERS, { apiVersion, kind: 'EtcdCluster', metadata, spec, status: born });
  deps = depsOf();
}

const OPTIONS = (): StatefulOptions => ({
  kube: kube.client,
  clock: { nowMs: () => nowMs, sleep: async () => undefined },
  workMs: 10_000,
  lease: { namespace: 'ballast-system', name: 'ballast-etcd-backup', sweepSeconds: 60 },
});

const depsOf = (): Deps => new Deps(OPTIONS(), 'ours:1');

function putSchedule(changes: object = {}): void {
  const spec = { ...SPEC, retention: { count: 1 }, ...changes };
  kube.put(ETCD_BACKUP_SCHEDULES, {
    apiVersion,
    kind: 'EtcdBackupSchedule',
    metadata: DAILY,
    spec,
  });
}

/** As a request has them. */
const REQUEST = {
  get log() {
    return pino({ level: 'silent' });
  },
  get signal() {
    return new AbortController().signal;
  },
};

const contextOf = (by: Deps): Context<Deps> =>
  Object.assign(Object.create(REQUEST) as object, { deps: by }) as Context<Deps>;

/** The writes, but those of Events and Leases. */
async function sweep(by = deps): Promise<readonly string[]> {
  const before = kube.writes.length;
  await reconciler.sweepAll(contextOf(by));
  return kube.writes.slice(before).filter((one) => !one.startsWith('create events'));
}

const all = (resource: string): readonly KubeObject[] => [...kube.of(resource).values()];
const names = (resource: string): readonly string[] =>
  all(resource).map(({ metadata }) => metadata.name);
const statusOf = () =>
  (all('etcdbackupschedules')[0]?.['status'] ?? {}) as EtcdBackupScheduleStatus;
const conditionOf = (type: string): string => {
  const found = statusOf().conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
};

/** As its Job does in the end. */
function complete(name: string): void {
  const status: EtcdBackupStatus = {
    phase: 'Complete',
    location: `s3://backups/shop/${name}/x.db`,
    completedAt: new Date(nowMs).toISOString(),
    backup: { ...FACTS, takenAt: new Date(nowMs).toISOString() },
  };
  kube.change(ETCD_BACKUPS, { namespace, name }, { status });
}

/** Jobs that remove what is stored, as they end for the first time. */
function endRemovals(type = 'Complete'): void {
  for (const { metadata, ...job } of all('jobs')) {
    if (!metadata.name.endsWith('-rm') || job['status'] !== undefined) continue;
    const conditions = [{ type, status: 'True', reason: 'Ended' }];
    kube.change(JOBS, { namespace, name: metadata.name }, { status: { conditions } });
  }
}

const FIRST = 'daily-202601010400';
const isRemoval = (job: string): boolean => job.startsWith(FIRST) && job.endsWith('-rm');
const SECOND = 'daily-202601020400';

test('a run is made, noted, and not made again', async () => {
  const [made, ...more] = await sweep();
  expect(made).toBe(`create etcdbackups ${FIRST}`);
  expect(more).toEqual(['apply etcdbackupschedules/status daily']);
  expect(all('etcdbackups')[0]).toMatchObject({
    metadata: { labels: { 'ballast.dev/etcd-backup-schedule': 'daily' } },
    spec: {
      ...SPEC.template,
      scheduled: { schedule: 'daily', uid: 'u1', at: '2026-01-01T04:00:00Z' },
    },
  });
  expect(all('etcdbackups')[0]?.metadata.ownerReferences).toBeUndefined();
  expect(statusOf()).toMatchObject({ lastScheduleTime: '2026-01-01T04:00:00Z', active: [FIRST] });
  // The backup gets its Job by itself.
  await sweep();
  await sweep();
  expect(names('etcdbackups')).toEqual([FIRST]);
  complete(FIRST);
  expect(await sweep()).toContain('apply etcdbackupschedules/status daily');
  expect(conditionOf('Ready')).toBe('True NewEnough');
  expect(await sweep()).toEqual([]);
});

test('an event about a backup wakes its schedule, too', async () => {
  await sweep();
  complete(FIRST);
  const metadata = {
    namespace,
    name: FIRST,
    labels: { 'ballast.dev/etcd-backup-schedule': 'daily' },
  };
  const event = { data: { kind: 'EtcdBackup', metadata } } as unknown as IncomingEvent;
  await reconciler.takeChange(event, contextOf(deps));
  expect(conditionOf('Ready')).toBe('True NewEnough');
});

/** Two days, with the first backup removed on the second one. */
async function live(look: () => Promise<unknown>): Promise<void> {
  await look();
  await look();
  if (kube.of('etcdbackups').has(`etcdbackups/${namespace}/${FIRST}`)) complete(FIRST);
  await look();
  nowMs = at('2026-01-02T04:00:30Z');
  await look();
  await look();
  complete(SECOND);
  await look();
  await look();
  endRemovals();
  await look();
  await look();
}

test('what is stored is removed before its EtcdBackup is, and that is noted before', async () => {
  const noted: unknown[] = [];
  kube.aroundWrite = () => {
    const isMade = all('jobs').some(({ metadata }) => isRemoval(metadata.name));
    if (isMade && names('etcdbackups').includes(FIRST)) noted.push(statusOf().removing);
  };
  await live(() => sweep());
  expect(noted.length).toBeGreaterThan(2);
  expect(noted).toEqual(noted.map(() => [FIRST]));
  expect(statusOf().removing).toEqual([]);
  const order = kube.writes.filter((one) => /-rm$|delete/.test(one));
  expect(order).toEqual([
    expect.stringMatching(new RegExp(`^create jobs ${FIRST}-.*-rm$`)),
    `delete etcdbackups ${FIRST}`,
  ]);
  expect(names('etcdbackups')).toEqual([SECOND]);
  expect(statusOf()).toMatchObject({ newest: { name: SECOND }, kept: 1, active: [] });
});

test('the Job that removes is told what lies where, and has no more than it needs', async () => {
  await live(() => sweep());
  const job = all('jobs').find(({ metadata }) => metadata.name.endsWith('-rm'));
  const { containers, volumes } = Object(job?.['spec']).template.spec;
  expect(containers[0].args).toEqual([
    expect.stringMatching(
      new RegExp(`^--remove=s3://backups/shop/${FIRST}/\\d{8}T\\d{6}Z-u\\d+\\.db$`),
    ),
    `--sha256=${FACTS.sha256}`,
    `--size=${FACTS.sizeBytes}`,
    '--result=/dev/termination-log',
  ]);
  expect(volumes).toEqual([]);
  expect(job?.metadata.labels).toMatchObject({
    'ballast.dev/etcd-backup': FIRST,
    'ballast.dev/etcd-backup-schedule': 'daily',
  });
});

/** Dozens of lives, on a machine that does something else as well. */
const LIVES_TIMEOUT_MS = 60_000;

test(
  'killed before and after each write, it makes the same writes and ends the same',
  async () => {
    const ends = new Set<string>();
    let kills = 0;
    for (let point = 0; point < 40; point += 1) {
      begin();
      let left = point;
      kube.aroundWrite = () => {
        left -= 1;
        if (left !== -1) return;
        kills += 1;
        throw new Error('killed');
      };
      await live(() => sweep(depsOf()).catch(() => sweep(depsOf())));
      const done = kube.writes.filter((one) => /^(create|delete) (etcdbackups|jobs)/.test(one));
      ends.add(
        JSON.stringify([done.length, new Set(done).size, names('etcdbackups'), statusOf().kept]),
      );
    }
    // Made twice, their Jobs twice, one removal, one deletion: each once.
    expect([...ends]).toEqual([JSON.stringify([6, 6, [SECOND], 1])]);
    expect(kills).toBeGreaterThan(20);
  },
  LIVES_TIMEOUT_MS,
);

test('two at once make one backup of a run, and remove one', async () => {
  await live(() => Promise.all([sweep(deps), sweep(depsOf())]));
  expect(kube.writes.filter((one) => one.startsWith('create etcdbackups'))).toHaveLength(2);
  expect(names('etcdbackups')).toEqual([SECOND]);
});

test('old reads make no second backup', async () => {
  let reads = 0;
  kube.staleness = () => {
    reads += 1;
    return reads % 3;
  };
  await live(() => sweep(depsOf()).catch(() => undefined));
  kube.staleness = () => 0;
  for (let times = 0; times < 3; times += 1) await sweep(depsOf());
  endRemovals();
  await sweep(depsOf());
  expect(kube.writes.filter((one) => one.startsWith('create etcdbackups'))).toHaveLength(2);
  expect(names('etcdbackups')).toEqual([SECOND]);
});

test('a backup that changed since it was seen is not deleted', async () => {
  const labels = { 'ballast.dev/etcd-backup-schedule': 'none' };
  kube.beforeDelete = (resource, name) => {
    kube.beforeDelete = () => undefined;
    kube.change(
      { group: '', version: '', resource },
      { namespace, name },
      { metadata: { labels } },
    );
  };
  await live(() => sweep().catch(() => undefined));
  // It has another label now, and stays.
  expect(names('etcdbackups')).toEqual([FIRST, SECOND]);
});

test('one that a person made under its label is no part of it', async () => {
  const metadata = {
    namespace,
    name: 'mine',
    labels: { 'ballast.dev/etcd-backup-schedule': 'daily' },
  };
  kube.put(ETCD_BACKUPS, { apiVersion, kind: 'EtcdBackup', metadata, spec: SPEC.template });
  complete('mine');
  await live(() => sweep());
  expect(names('etcdbackups')).toEqual(['mine', SECOND]);
});

test('the name of a run that is taken is told, and left alone', async () => {
  const metadata = { namespace, name: FIRST };
  kube.put(ETCD_BACKUPS, { apiVersion, kind: 'EtcdBackup', metadata, spec: SPEC.template });
  complete(FIRST);
  await sweep();
  expect(conditionOf('Degraded')).toBe('True NameTaken');
  nowMs = at('2026-01-02T04:00:30Z');
  await sweep();
  expect(names('etcdbackups')).toEqual([FIRST, SECOND]);
});

/** As they are shown. */
const pageOf = (metrics: Metrics): readonly string[] =>
  [...metrics.all()].flatMap(({ name, cells }) =>
    [...cells].map((cell) => `${name} ${JSON.stringify(cell.labels)} ${Object(cell).value}`),
  );

test('of rehearsals they have the last good one, and whether something is wrong', async () => {
  const metrics = new Metrics();
  const by = new Deps(OPTIONS(), 'ours:1', metrics);
  const shown = (): readonly string[] =>
    pageOf(metrics)
      .filter((line) => line.includes('rehears'))
      .map((line) => line.replace(/^ballast_etcd_backup_(\w+) .* (\d+)$/, '$1 $2'));
  putSchedule({ rehearsal: { every: 1 } });
  await sweep(by);
  expect(shown()).toEqual(['rehearsed_timestamp_seconds 0', 'rehearsal_wrong 0']);
  const backup = { ...FACTS, takenAt: new Date(nowMs).toISOString() };
  const conditions = [{ type: 'Complete', status: 'False', reason: 'RehearsalFailed' }];
  const failed = { phase: 'Failed', backup, conditions };
  kube.change(ETCD_BACKUPS, { namespace, name: FIRST }, { status: failed });
  await sweep(by);
  expect(shown()).toEqual(['rehearsed_timestamp_seconds 0', 'rehearsal_wrong 1']);
  const rehearsal = { rehearsedAt: new Date(nowMs).toISOString() };
  const completedAt = new Date(nowMs).toISOString();
  const well = { phase: 'Complete', backup, completedAt, rehearsal };
  kube.change(ETCD_BACKUPS, { namespace, name: FIRST }, { status: well });
  await sweep(by);
  expect(shown()).toEqual([`rehearsed_timestamp_seconds ${nowMs / 1_000}`, 'rehearsal_wrong 0']);
  putSchedule();
  await sweep(by);
  expect(shown()).toEqual([]);
});

test('metrics have the time of the newest one, and nothing of what is gone', async () => {
  const metrics = new Metrics();
  const page = (): readonly string[] => pageOf(metrics);
  const by = new Deps(OPTIONS(), 'ours:1', metrics);
  await sweep(by);
  const labels = JSON.stringify({ namespace, schedule: 'daily' });
  const [newest, until] = ['newest', 'good_until'].map((one) => `ballast_etcd_backup_${one}`);
  expect(page()).toEqual([
    `${newest}_timestamp_seconds ${labels} 0`,
    `${until}_timestamp_seconds ${labels} ${at('2026-01-02T05:00:00Z') / 1_000}`,
  ]);
  complete(FIRST);
  await sweep(by);
  expect(page()).toEqual([
    `${newest}_timestamp_seconds ${labels} ${nowMs / 1_000}`,
    `${until}_timestamp_seconds ${labels} ${at('2026-01-03T05:00:00Z') / 1_000}`,
  ]);
  kube.remove(ETCD_BACKUP_SCHEDULES, DAILY);
  await sweep(by);
  expect(page()).toEqual([]);
});

test('a removal that has begun is ended, whatever becomes of the schedule', async () => {
  let days = 0;
  await live(async () => {
    await sweep();
    days += 1;
    if (names('jobs').some((name) => name.endsWith('-rm'))) putSchedule({ suspend: true });
  });
  expect(days).toBeGreaterThan(1);
  expect(names('etcdbackups')).toEqual([SECOND]);
});

test('deleting a schedule deletes no backup', async () => {
  await sweep();
  complete(FIRST);
  kube.remove(ETCD_BACKUP_SCHEDULES, DAILY);
  await sweep();
  expect(names('etcdbackups')).toEqual([FIRST]);
});

test('one whose removal has failed is kept, told, and holds up no other', async () => {
  await live(async () => {
    await sweep();
    endRemovals('Failed');
  });
  await sweep();
  expect(conditionOf('Degraded')).toBe('True RemovalFailed');
  nowMs = at('2026-01-03T04:00:30Z');
  await sweep();
  complete('daily-202601030400');
  await sweep();
  endRemovals();
  expect(names('jobs').filter((one) => one.endsWith('-rm'))).toHaveLength(2);
});
