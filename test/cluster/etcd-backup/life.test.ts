// Backups of an EtcdCluster in real pods, from the first to a new EtcdCluster out of the last: the
// images that ship run in pods of Jobs, with the Secrets that the kubelet mounts, against an object
// storage beside them and volumes of nodes. A client writes all the time, and is never turned away.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUCKET, KEYS } from '../../../knative/try/cluster/storage/objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import { CLIENT_PORT } from '../../../shared/api/etcd-names.ts';
import type { EtcdRestoreStatus } from '../../../shared/api/etcd-restore.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import {
  CLAIMS,
  type Named,
  PODS,
  SCENARIO_MS,
} from '../../integration/etcd-cluster/etcd-scene.ts';
import { processesOf } from '../support/pod-processes.ts';
import { timed } from '../support/timed.ts';
import { volumeDir } from '../support/volumes.ts';
import { BackupPlace } from './backup-place.ts';
import { KeyWriter } from './key-writer.ts';

const namespace = 'etcd-backups';
const OLD: Named = { namespace, name: 'etcd' };
const NEW: Named = { namespace, name: 'etcd-2' };
const DAY_MS = 86_400_000;
/** Pods go, then the claims that they hold. */
const LEFT_WITHIN_MS = 60_000;
const settings = { timeout: SCENARIO_MS };
const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const source = { etcdCluster: { name: OLD.name } };

let place: BackupPlace;
let client: EtcdAdmin;
let writer: KeyWriter;

beforeAll(async () => {
  place = await BackupPlace.open(namespace, OLD.name);
  client = (await place.etcd.access(OLD))();
  writer = await KeyWriter.start(client);
}, SCENARIO_MS);

afterAll(async () => {
  await writer?.stop();
  await client?.close();
  await place?.close();
}, SCENARIO_MS);

const inStorage = () => {
  const { endpoint } = place.storage;
  return { s3: { bucket: BUCKET, endpoint, credentials: { secretName: 's3' } } };
};

const backupStatusOf = (object: KubeObject): EtcdBackupStatus => object['status'] ?? {};
const restoreStatusOf = async (name: string): Promise<EtcdRestoreStatus> =>
  (await place.read('EtcdRestore', name))['status'] ?? {};
const keyIn = ({ location = '' }: EtcdBackupStatus): string =>
  location.slice(`s3://${BUCKET}/`.length);

const dirOf = (claim: string): Promise<string> => {
  const { kube, nodes } = place.etcd;
  return volumeDir({ kube, clusterDir: nodes.dir, namespace, claim });
};

const backupsOf = async (schedule: string): Promise<readonly KubeObject[]> => {
  const labelSelector = `ballast.dev/etcd-backup-schedule=${schedule}`;
  return (await place.etcd.kube.list(ETCD_BACKUPS, { namespace, labelSelector })).items;
};

const SCHEDULES = ['stored', 'filed'] as const;
const CREDENTIALS = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
};

const create = async (kind: string, resource: string, name: string, more: object) => {
  const metadata = { namespace, name };
  await place.etcd.kube.create(core(resource), { apiVersion: 'v1', kind, metadata, ...more });
};

/** Each schedule has a good one that is not among these, and no other. */
async function untilRenewed(before: readonly KubeObject[] = []): Promise<readonly KubeObject[]> {
  const old = new Set(before.map(({ metadata }) => metadata.uid));
  let found: readonly KubeObject[] = [];
  await place.untilSwept('each schedule to have a new one alone', async () => {
    found = (await Promise.all(SCHEDULES.map((name) => backupsOf(name)))).flat();
    const isNew = ({ metadata }: KubeObject): boolean => !old.has(metadata.uid);
    const isGood = (one: KubeObject): boolean => backupStatusOf(one).phase === 'Complete';
    return found.length === SCHEDULES.length && found.every((one) => isNew(one) && isGood(one));
  });
  return found;
}

const filesOnDisk = async (): Promise<readonly string[]> =>
  (await readdir(await dirOf('disk'))).toSorted();

test(
  'a run takes one into a storage, when the Secret with its keys is there, and one onto a volume',
  settings,
  async () => {
    const common = { schedule: '0 0 * * *', retention: { count: 1 }, maxAgeSeconds: 2_592_000 };
    const targets = { stored: inStorage(), filed: { claim: { name: 'disk' } } };
    for (const name of SCHEDULES) {
      const template = { source, target: targets[name] };
      await place.create('EtcdBackupSchedule', name, { ...common, template });
    }
    const resources = { requests: { storage: '1Gi' } };
    const spec = { accessModes: ['ReadWriteOnce'], resources };
    await create('PersistentVolumeClaim', 'persistentvolumeclaims', 'disk', { spec });
    place.letPass(DAY_MS);
    await place.untilSwept('a run', async () => (await backupsOf('stored')).length === 1);
    const name = (await backupsOf('stored'))[0]?.metadata.name ?? '';
    const waits = /^False CreateContainerError: Pod stored-\S+: .*secret "s3" not found/;
    await place.untilSays('EtcdBackup', name, waits);
    await create('Secret', 'secrets', 's3', { stringData: CREDENTIALS });
    const [stored] = await timed('Secret to Complete', () => untilRenewed());
    if (stored === undefined) throw new Error('there is none');
    expect(await place.condition('EtcdBackup', name, 'Complete')).toMatch(/^True Confirmed: /);
    const { backup, ...status } = backupStatusOf(stored);
    expect(backup?.etcdVersion).toBe('3.6.16');
    const key = keyIn(status);
    const { bucket } = place.storage;
    expect(await bucket.head(key)).toMatchObject({ sizeBytes: backup?.sizeBytes });
    expect((await bucket.list(`${namespace}/`)).keys).toEqual([key, `${key}.json`]);
    expect(await bucket.uploads('')).toEqual([]);
  },
);

test(
  'with the next run the one before goes, from the storage and from the volume',
  settings,
  async () => {
    const before = (await Promise.all(SCHEDULES.map((name) => backupsOf(name)))).flat();
    expect(await filesOnDisk()).toHaveLength(2);
    place.letPass(DAY_MS);
    const [stored, filed] = await timed('a run, and removals', () => untilRenewed(before));
    if (stored === undefined || filed === undefined) throw new Error('there is none');
    const key = keyIn(backupStatusOf(stored));
    expect((await place.storage.bucket.list(`${namespace}/`)).keys).toEqual([key, `${key}.json`]);
    const { location = '', backup } = backupStatusOf(filed);
    const name = location.slice('claim://disk/'.length);
    expect(await filesOnDisk()).toEqual([name, `${name}.json`]);
    const bytes = await readFile(join(await dirOf('disk'), name));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(backup?.sha256);
  },
);

const into = (name: string) => ({ name, spec: { storage: { size: '10Gi' } } });

/** While it has the backup before it, and the volume of the first member. */
async function killPodOf(restore: string): Promise<void> {
  const { kube, kubectl } = place.etcd;
  let pod = '';
  await place.untilSwept('the first attempt to be on the volume', async () => {
    const labelSelector = `ballast.dev/etcd-restore=${restore}`;
    const [found] = (await kube.list(PODS, { namespace, labelSelector })).items;
    pod = found?.metadata.name ?? '';
    const [check] = Object(found?.['status']).initContainerStatuses ?? [];
    if (Object(check).state?.running === undefined) return false;
    return (await readdir(await dirOf(`data-${NEW.name}-0`))).includes('restore');
  });
  const now = ['--grace-period=0', '--force', '--wait=false'];
  await kubectl.run('delete', 'pod', pod, `-n=${namespace}`, ...now);
  await until(
    'it to be gone',
    async () => (await kube.get(PODS, { namespace, name: pod })) === null,
  );
}

/** The storage answers nobody meanwhile. */
async function withoutStorage(work: () => Promise<void>): Promise<void> {
  const pids = await processesOf('versitygw', place.storage.podUid);
  expect(pids).toHaveLength(1);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
}

const named = (of: readonly KubeObject[]): readonly string[] =>
  of.map(({ metadata }) => metadata.name).toSorted();

/** Jobs of restores go, those of backups stay for a day. */
async function leftOf(restore: string): Promise<readonly string[]> {
  const labelSelector = `ballast.dev/etcd-restore=${restore}`;
  const lists = [JOBS, PODS, CLAIMS].map((ref) =>
    place.etcd.kube.list(ref, { namespace, labelSelector }),
  );
  return named((await Promise.all(lists)).flatMap(({ items }) => items));
}

test(
  'what cannot be restored leaves nothing, and a try neither, while the pod of another is killed',
  settings,
  async () => {
    const [stored] = await backupsOf('stored');
    const from = { etcdBackup: { name: stored?.metadata.name } };
    await withoutStorage(async () => {
      await place.create('EtcdRestore', 'back', { source: from, etcdCluster: into(NEW.name) });
      await timed('created to killed', () => killPodOf('back'));
    });
    const [filed] = await backupsOf('filed');
    const onVolume = { etcdBackup: { name: filed?.metadata.name } };
    const nobodys = { claim: { name: 'disk', path: 'nobodys.db' } };
    await place.create('EtcdRestore', 'over', { source: onVolume, etcdCluster: into(OLD.name) });
    await place.create('EtcdRestore', 'lost', { source: nobodys, etcdCluster: into('lost') });
    const tried = { source: onVolume, etcdCluster: into('tried'), dryRun: true };
    await place.create('EtcdRestore', 'tried', tried);
    await place.untilSays('EtcdRestore', 'over', /^False NameTaken: .*EtcdCluster etcd, /);
    await place.untilSays('EtcdRestore', 'lost', /^False RestoreFailed: BACKUP_MISSING: /);
    await place.untilSays('EtcdRestore', 'tried', /^True DryRun: The backup is whole/);
    for (const name of ['over', 'lost', 'tried']) {
      await place.untilSwept(`${name} to be over`, async () => {
        const { phase } = await restoreStatusOf(name);
        return phase === 'Failed' || phase === 'Complete';
      });
      await expect.poll(() => leftOf(name), { timeout: LEFT_WITHIN_MS }).toEqual([]);
    }
  },
);

test(
  'the newest becomes three members, though its first pod was killed, and the old one goes on',
  settings,
  async () => {
    await timed('to restored', () =>
      place.untilSays('EtcdRestore', 'back', /^False EtcdClusterStarting/),
    );
    await timed('restored to Ready', () => place.etcd.wakeUntilReady(NEW));
    await place.untilSays('EtcdRestore', 'back', /^True Restored: EtcdCluster etcd-2 has /);
    const { backup, revision = '', clusterId } = await restoreStatusOf('back');
    if (backup === undefined) throw new Error('it has no facts');
    expect(BigInt(revision)).toBe(BigInt(backup.revision) + 1_000_000_000n);
    expect(await place.etcd.status(NEW)).toMatchObject({ voters: '3/3', clusterId });
    expect(await leftOf('back')).toEqual([`data-${NEW.name}-0`]);
    const found = await keysOf(NEW);
    expect(backup.keys).toBeGreaterThan(0);
    expect(found).toHaveLength(backup.keys);
    expect(found).toEqual(await keysOf(OLD, backup.revision));
    expect(writer.writtenBy(backup.revision)).toBe(backup.keys);
    expect(await hashesOf(NEW)).toHaveLength(1);
    const late = etcdctl(NEW, 'watch', '--rev', backup.revision, '--prefix', 'written/');
    await expect(late).rejects.toThrow('required revision has been compacted');
    await writer.untilItWrites();
    await writer.stop();
    expect(await KeyWriter.foundIn(client)).toBe(writer.acknowledged);
  },
);

interface EtcdKeys {
  readonly kvs: readonly object[];
}

/** With their values and their revisions, at one or now. */
async function keysOf(cluster: Named, revision = '0'): Promise<readonly object[]> {
  const args = ['get', '', '--prefix', '--rev', revision, '--write-out=json'];
  return (JSON.parse(await etcdctl(cluster, ...args)) as EtcdKeys).kvs;
}

/** The different ones that its members have. */
async function hashesOf(cluster: Named): Promise<readonly string[]> {
  const pods = await place.etcd.pods(cluster);
  const urls = pods.map(({ status }) => `https://${Object(status).podIP}:${CLIENT_PORT}`);
  const told = await etcdctl(cluster, `--endpoints=${urls.join(',')}`, 'endpoint', 'hashkv');
  const lines = told.trim().split('\n');
  expect(lines).toHaveLength(urls.length);
  return [...new Set(lines.map((line) => line.split(', ')[1] ?? ''))];
}

/** etcd's own client, which reaches the Service by its address. */
async function etcdctl(cluster: Named, ...args: readonly string[]): Promise<string> {
  const { cert = '', key = '' } = (await place.etcd.clientTls(cluster)) ?? {};
  const { kube } = place.etcd;
  const service = await kube.get(core('services'), cluster);
  const url = `https://${String(Object(service?.['spec']).clusterIP)}:${CLIENT_PORT}`;
  const dir = await mkdtemp(join(tmpdir(), 'ballast-etcdctl-'));
  try {
    const files = { cert, key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    const tls = Object.keys(files).map((name) => `--${name}=${join(dir, name)}`);
    const at = args.some((arg) => arg.startsWith('--endpoints=')) ? [] : [`--endpoints=${url}`];
    const all = [...at, ...tls, '--insecure-skip-tls-verify', ...args];
    return (await promisify(execFile)(await resolvePart('etcdctl'), all)).stdout;
  } finally {
    await rm(dir, { recursive: true });
  }
}
