// Schedules of backups of a real etcd into a real S3: runs are made as time goes on, the oldest
// object goes from the bucket and then what knows of it, and what is not ours there stays. The
// function runs as its own account, Kubernetes' own controllers keep and collect its Jobs.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import {
  ETCD_BACKUP_SCHEDULES,
  type EtcdBackupScheduleStatus,
} from '../../../shared/api/etcd-backup-schedule.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { Bucket } from '../../../shared/s3/bucket.ts';
import type { Shipped } from '../../builders/shipped.ts';
import { until } from '../../builders/versioned-kind.ts';
import { BackupPlace, namespace } from './backup-place.ts';
import type { JobPods } from './job-pods.ts';
import { BUCKET, type S3Server } from './s3-server.ts';

const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;
const MINUTE_MS = 60_000;

let place: BackupPlace;
let shipped: Shipped;
let s3: S3Server;
let bucket: Bucket;
let pods: JobPods;
/** Its clock stands still but for the minutes of a test: on a busy machine another run came due. */
let nowMs = systemClock.nowMs();
const clock: Clock = { ...systemClock, nowMs: () => nowMs };

beforeAll(async () => {
  place = await BackupPlace.start(clock);
  ({ shipped, s3, bucket, pods } = place);
  await place.makeKeys('s3');
}, 120_000);

afterAll(async () => {
  await place?.stop();
});

afterEach(() => {
  const [error] = pods.errors.splice(0);
  if (error !== undefined) throw error;
});

let name = '';
let count = 0;

/** Every minute, and one backup is kept. */
beforeEach(async () => {
  count += 1;
  name = `often-${count}`;
  const s3Target = {
    bucket: BUCKET,
    endpoint: s3.url,
    credentials: { secretName: 's3' },
    certificateAuthority: { kind: 'ConfigMap', name: 's3-ca', key: 'root.pem' },
  };
  const source = { endpoints: [shipped.plane.part('etcd').url] };
  const template = { source, target: { s3: s3Target } };
  await shipped.kube.create(ETCD_BACKUP_SCHEDULES, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: { namespace, name },
    spec: { schedule: '* * * * *', retention: { count: 1 }, template },
  });
  nowMs = Math.max(nowMs, systemClock.nowMs());
});

afterEach(async () => {
  const found = await shipped.kube.get(ETCD_BACKUP_SCHEDULES, { namespace, name });
  if (found === null) return;
  const { uid } = found.metadata;
  await shipped.kube.delete(ETCD_BACKUP_SCHEDULES, { namespace, name }, { uid });
});

const statusOf = async (): Promise<EtcdBackupScheduleStatus> =>
  (await shipped.kube.get(ETCD_BACKUP_SCHEDULES, { namespace, name }))?.['status'] ?? {};

async function conditionOf(type: string): Promise<string> {
  const { conditions = [] } = await statusOf();
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

const backups = async (): Promise<readonly KubeObject[]> => {
  const labelSelector = `ballast.dev/etcd-backup-schedule=${name}`;
  return (await shipped.kube.list(ETCD_BACKUPS, { namespace, labelSelector })).items;
};

const backupStatusOf = (object: KubeObject | undefined): EtcdBackupStatus =>
  object?.['status'] ?? {};

/** Swept as often as it takes. */
async function untilSwept(awaited: string, isSo: () => Promise<boolean>): Promise<void> {
  await until(awaited, async () => {
    return (await place.sweep()) && (await isSo());
  }).catch(async (cause: unknown) => {
    const said = JSON.stringify(await statusOf());
    throw new Error(`it says ${said}; ${pods.errors.map(String).join('; ')}`, { cause });
  });
}

/** A minute passes, and its run is done. */
async function nextBackup(): Promise<KubeObject> {
  const before = new Set((await backups()).map(({ metadata }) => metadata.uid));
  nowMs += MINUTE_MS;
  let made: KubeObject | undefined;
  await untilSwept('a new backup to be complete', async () => {
    made = (await backups()).find(({ metadata }) => !before.has(metadata.uid));
    return backupStatusOf(made).phase === 'Complete';
  });
  if (made === undefined) throw new Error('there is none');
  return made;
}

const keyOf = (object: KubeObject): string =>
  (backupStatusOf(object).location ?? '').slice(`s3://${BUCKET}/`.length);

/** The files of a backup that are in the bucket. */
const storedOf = async (object: KubeObject): Promise<readonly string[]> =>
  (await bucket.list(keyOf(object))).keys;

const isGone = async ({ metadata }: KubeObject): Promise<boolean> =>
  (await backups()).every((other) => other.metadata.uid !== metadata.uid);

test('the oldest one goes from the bucket, then its EtcdBackup, and the newest stays', async () => {
  const first = await nextBackup();
  expect(await storedOf(first)).toEqual([keyOf(first), `${keyOf(first)}.json`]);
  await untilSwept('it to be told', async () => (await conditionOf('Ready')).startsWith('True'));
  const { location, backup } = backupStatusOf(first);
  const { newest } = await statusOf();
  expect(newest).toMatchObject({ location, clusterId: backup?.clusterId });
  expect(newest?.clusterId).toMatch(/^[0-9a-f]{1,16}$/);
  const second = await nextBackup();
  await untilSwept('the first one to go', () => isGone(first));
  expect(await storedOf(first)).toEqual([]);
  expect(await storedOf(second)).toHaveLength(2);
  await untilSwept('that to be told', async () => (await statusOf()).kept === 1);
  expect(await statusOf()).toMatchObject({ newest: { name: second.metadata.name }, active: [] });
  expect(await conditionOf('Ready')).toMatch(/^True NewEnough/);
  await until('its Jobs to be collected', async () => {
    const { items } = await shipped.kube.list(JOBS, { namespace });
    return items.every(({ metadata }) => !metadata.name.endsWith(first.metadata.uid));
  });
});

test('without its facts it is known by its bytes, and what is not ours stays', async () => {
  const first = await nextBackup();
  const path = (of: KubeObject): string => join(shipped.plane.dir, 's3/objects', BUCKET, keyOf(of));
  // As a program leaves it that was killed in between.
  await rm(`${path(first)}.json`);
  const second = await nextBackup();
  await untilSwept('the first one to go', () => isGone(first));
  expect(await storedOf(first)).toEqual([]);
  const bytes = await readFile(path(second));
  await rm(`${path(second)}.json`);
  await writeFile(path(second), bytes.with(0, (bytes[0] ?? 0) ^ 1));
  await nextBackup();
  await untilSwept('it to be told', async () =>
    /^True RemovalFailed: .*BACKUP_IS_OTHER/.test(await conditionOf('Degraded')),
  );
  expect(await storedOf(second)).toEqual([keyOf(second)]);
  expect(await isGone(second)).toBe(false);
});

test('each second good one is rehearsed, though one is kept, and it is told which', async () => {
  const rehearsal = { every: 2, image: 'quay.io/coreos/etcd:v3.6.16' };
  const body = { spec: { rehearsal } };
  await shipped.kube.patch(ETCD_BACKUP_SCHEDULES, { namespace, name }, { type: 'merge', body });
  await untilSwept('it to be seen', async () => (await statusOf()).rehearsals !== undefined);
  // All that were ever complete, by their minutes: the oldest ones go.
  const seen = new Map<string, boolean>();
  const fromMs = nowMs;
  await untilSwept('three of them to be complete', async () => {
    for (const object of await backups()) {
      const { phase, rehearsal: found } = backupStatusOf(object);
      if (phase === 'Complete') seen.set(object.metadata.name, found !== undefined);
    }
    nowMs = fromMs + MINUTE_MS * (seen.size + 1);
    return seen.size >= 3;
  });
  const [first, second, third] = [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect([first?.[1], second?.[1], third?.[1]]).toEqual([true, false, true]);
  await untilSwept('the last one to be told', async () => {
    const { last } = (await statusOf()).rehearsals ?? {};
    return last !== undefined && last.name >= (third?.[0] ?? '');
  });
  expect(await conditionOf('Ready')).toMatch(/^True NewEnough/);
});

test('deleting it leaves its backups, and what is stored', async () => {
  const first = await nextBackup();
  const found = await shipped.kube.get(ETCD_BACKUP_SCHEDULES, { namespace, name });
  const { uid = '' } = found?.metadata ?? {};
  const foreground = { propagationPolicy: 'Foreground' } as const;
  await shipped.kube.delete(ETCD_BACKUP_SCHEDULES, { namespace, name }, { uid }, foreground);
  await until('it to be gone', async () => {
    return (await shipped.kube.get(ETCD_BACKUP_SCHEDULES, { namespace, name })) === null;
  });
  nowMs += 10 * MINUTE_MS;
  await place.sweep();
  expect(await isGone(first)).toBe(false);
  expect(await storedOf(first)).toHaveLength(2);
});
