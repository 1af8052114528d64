// EtcdRestores on real parts: an EtcdCluster is backed up into a real S3, and its backup becomes a
// new EtcdCluster of three members, whose clients find every key and are told that the past is
// gone. A backup that is not what it says becomes nothing.
import { withChangedByte } from '../../builders/changed-byte.ts';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Backup, type BackupOptions, backUp } from '../../../functions/etcd-backup/backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import type { BackupFacts } from '../../../shared/api/etcd-backup.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { EtcdCluster } from '../etcd/cluster.ts';
import { type Named, SCENARIO_MS } from '../etcd-cluster/etcd-scene.ts';
import { RestorePlace } from './restore-place.ts';

const OLD: Named = { namespace: 'shop', name: 'old' };
const { namespace } = OLD;
const PLAIN = { clients: { mode: 'None' }, peers: { mode: 'None' } };
const BUMP = 1_000_000_000n;

let place: RestorePlace;
let file: Buffer;
let facts: BackupFacts;

beforeAll(async () => {
  place = await RestorePlace.start();
  const { etcd } = place;
  await place.namespace(namespace);
  const image = 'quay.io/coreos/etcd:v3.5.35';
  await etcd.create(OLD, { replicas: 1, image, tls: PLAIN });
  await etcd.wakeUntilReady(OLD);
  const client = await etcd.client(OLD);
  for (const key of ['a', 'b', 'c']) await client.keys.put(key, `${key} of old`);
  await client.keys.delete('b');
  await client.close();
  ({ facts } = await take(join(etcd.plane.dir, 'old.db')));
  file = await readFile(join(etcd.plane.dir, 'old.db'));
  await put('old.db', file, facts);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

afterEach(async () => {
  await place.etcd.endAll(OLD);
  const [error] = place.pods.errors.splice(0);
  if (error !== undefined) throw error;
});

async function take(
  path: string,
  url?: string,
  sealing?: BackupOptions['sealing'],
): Promise<Backup> {
  const endpoints = [url ?? (await urlOf(OLD))];
  const { signal } = new AbortController();
  const options = { etcd: { endpoints }, to: { path }, sealing };
  return backUp(options, { signal, onProgress: () => undefined });
}

/** As it would lie there, or as somebody has put it there. */
async function put(key: string, bytes: Buffer, said: object | undefined): Promise<void> {
  await place.bucket.putNew(key, bytes, 'test');
  if (said === undefined) return;
  const text = JSON.stringify({ kind: 'etcd-backup/v1', ...said });
  await place.bucket.putNew(`${key}.json`, Buffer.from(text), 'test');
}

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const named = (name: string): Named => ({ namespace, name });

const restoreOf = (name: string, key: string, more: object = {}): object => ({
  source: place.inS3(key),
  etcdCluster: { name, spec: { tls: PLAIN, storage: { size: '10Gi' } } },
  ...more,
});

/** The claim of a first member, and its EtcdCluster. */
const foundOf = async (name: string): Promise<readonly unknown[]> => [
  await place.etcd.kube.get(CLAIMS, { namespace, name: `data-${name}-0` }),
  await place.etcd.kube.get(ETCD_CLUSTERS, { namespace, name }),
];

async function urlOf(cluster: Named): Promise<string> {
  const [pod] = await place.etcd.pods(cluster);
  return `http://${String(Object(pod?.['status']).podIP)}:2379`;
}

/** The first answers of a watch that begins at a revision of the past. */
async function watchFrom(url: string, revision: string): Promise<string> {
  const key = Buffer.from('a').toString('base64');
  const body = JSON.stringify({ create_request: { key, start_revision: revision } });
  const answer = await fetch(`${url}/v3/watch`, { method: 'POST', body });
  let told = '';
  for await (const chunk of answer.body ?? []) {
    told += Buffer.from(chunk).toString();
    if (told.includes('compact_revision')) break;
  }
  return told;
}

test(
  'a backup becomes an EtcdCluster of three, with every key, and watchers are told',
  { timeout: SCENARIO_MS },
  async () => {
    const [restore, cluster] = [named('back'), named('main')];
    await place.create(restore, restoreOf('main', 'old.db'));
    await place.untilSays(restore, /^False EtcdClusterStarting/);
    await place.etcd.wakeUntilReady(cluster);
    await place.untilSays(restore, /^True Restored: EtcdCluster main has 2 keys as of revision/);
    const { clusterId, revision, backup } = await place.status(restore);
    expect(revision).toBe(`${BigInt(facts.revision) + BUMP}`);
    expect(backup).toEqual(JSON.parse(JSON.stringify({ ...facts, kind: undefined })));
    const now = await place.etcd.status(cluster);
    expect([now.clusterId, now.voters, now.version]).toEqual([clusterId, '3/3', '3.6.16']);
    const client = await place.etcd.client(cluster);
    const values = [];
    for (const key of ['a', 'b', 'c'])
      values.push((await client.keys.get(key)).found?.value.toString());
    expect(values).toEqual(['a of old', undefined, 'c of old']);
    await client.keys.put('d', 'of new');
    await client.close();
    const told = await watchFrom(await urlOf(cluster), facts.revision);
    expect(told).toContain(`"canceled":true,"compact_revision":"${revision}"`);
    await place.delete(restore);
    await place.etcd.wakeUntilReady(cluster);
    expect(await place.etcd.claims(cluster)).toHaveLength(3);
  },
);

test.each(['v3.5.35', 'v3.7.3'])(
  'the etcdutl of %s restores it, and the etcd of that image goes on with it',
  { timeout: SCENARIO_MS },
  async (version) => {
    const name = `of-${version.replaceAll('.', '-')}`;
    const image = `quay.io/coreos/etcd:${version}`;
    const spec = { replicas: 1, image, tls: PLAIN, storage: { size: '10Gi' } };
    await place.create(named(name), restoreOf(name, 'old.db', { etcdCluster: { name, spec } }));
    await place.untilSays(named(name), /^False EtcdClusterStarting/);
    await place.etcd.wakeUntilReady(named(name));
    await place.untilSays(named(name), /^True Restored: EtcdCluster \S+ has 2 keys as of revision/);
    expect((await place.etcd.status(named(name))).version).toBe(version.slice(1));
    const told = await watchFrom(await urlOf(named(name)), facts.revision);
    expect(told).toContain('"canceled":true,"compact_revision"');
  },
);

const spoiled: readonly [string, () => [Buffer, BackupFacts | undefined], string][] = [
  [
    'changed',
    () => {
      const bytes = Buffer.from(file);
      bytes[10_000] = (bytes[10_000] ?? 0) ^ 1;
      return [bytes, facts];
    },
    'BACKUP_CHANGED',
  ],
  ['short', () => [file.subarray(0, -512), facts], 'BACKUP_CHANGED'],
  ['alone', () => [file, undefined], 'BACKUP_WITHOUT_FACTS'],
  ['newer', () => [file, { ...facts, etcdVersion: '3.7.3' }], 'BACKUP_NEWER'],
  ['other', () => [file, { ...facts, hashKv: Math.abs(facts.hashKv - 1) }], 'BACKUP_CHANGED'],
];

test.each(spoiled)(
  'a backup that is %s is refused, and nothing is left',
  { timeout: SCENARIO_MS },
  async (name, spoil, code) => {
    const [bytes, said] = spoil();
    await put(`${name}.db`, bytes, said);
    await place.create(named(name), restoreOf(name, `${name}.db`));
    await place.untilSays(named(name), new RegExp(`^False RestoreFailed: ${code}: `));
    await untilFailed(name);
    expect((await place.status(named(name))).error?.code).toBe(code);
    expect(await foundOf(name)).toEqual([null, null]);
  },
);

async function untilFailed(name: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await place.sweep();
        return (await place.status(named(name))).phase;
      },
      { timeout: 60_000 },
    )
    .toBe('Failed');
}

/** Sealed as `npm run backup` does it, by the member that is still there. */
async function sealedBackup(): Promise<readonly [Buffer, Record<string, unknown>, Backup]> {
  const { dir } = place.etcd.plane;
  const path = join(dir, 'sealed.db');
  const keyPath = join(dir, 'key');
  await writeFile(keyPath, Buffer.alloc(32, 1));
  const taken = await take(path, undefined, { keyPath, spoolDir: dir });
  const stored: unknown = JSON.parse(await readFile(`${path}.json`, 'utf8'));
  return [await readFile(path), stored as Record<string, unknown>, taken];
}

/** Entries of a Secret: the right key, and another one. */
async function putKeys(): Promise<void> {
  const data = { right: Buffer.alloc(32, 1), wrong: Buffer.alloc(32, 2) };
  const encoded = Object.entries(data).map(([name, key]) => [name, key.toString('base64')]);
  await place.etcd.kube.create(core('secrets'), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'backup-key' },
    data: Object.fromEntries(encoded),
  });
}

const sealedRestore = (name: string, object: string, key?: string, more: object = {}): object => {
  const encryption = { secretName: 'backup-key', key };
  const source = { ...place.inS3(object), ...(key === undefined ? {} : { encryption }) };
  const spec = { replicas: 1, tls: PLAIN, storage: { size: '10Gi' } };
  return { source, etcdCluster: { name, spec }, ...more };
};

test(
  'a sealed backup becomes an EtcdCluster by its key, and by nothing else',
  { timeout: SCENARIO_MS },
  async () => {
    await putKeys();
    const [sealed, stored, taken] = await sealedBackup();
    await put('sealed.db', sealed, stored);
    await put('unsealed.db', file, facts);
    await put('meddled.db', withChangedByte(sealed, 9_000), stored);
    const refused: readonly (readonly [string, object, string])[] = [
      ['keyless', sealedRestore('keyless', 'sealed.db'), 'BACKUP_SEALED'],
      ['wrong', sealedRestore('wrong', 'sealed.db', 'wrong'), 'BACKUP_KEY_WRONG'],
      ['unsealed', sealedRestore('unsealed', 'unsealed.db', 'right'), 'BACKUP_UNSEALED'],
      ['meddled', sealedRestore('meddled', 'meddled.db', 'right'), 'BACKUP_CHANGED'],
    ];
    await place.create(named('opened'), sealedRestore('opened', 'sealed.db', 'right'));
    for (const [name, spec] of refused) await place.create(named(name), spec);
    for (const [name, , code] of refused) {
      await place.untilSays(named(name), new RegExp(`^False RestoreFailed: ${code}: `));
      await untilFailed(name);
      expect(await foundOf(name)).toEqual([null, null]);
    }
    await place.untilSays(named('opened'), /^False EtcdClusterStarting/);
    await place.etcd.wakeUntilReady(named('opened'));
    await place.untilSays(named('opened'), /^True Restored: EtcdCluster opened has 2 keys/);
    const { backup } = await place.status(named('opened'));
    expect(backup).toEqual(JSON.parse(JSON.stringify({ ...taken.facts, kind: undefined })));
    expect(backup).toMatchObject({ isHashConfirmed: true, hashKv: facts.hashKv });
    const client = await place.etcd.client(named('opened'));
    expect((await client.keys.get('c')).found?.value.toString()).toBe('c of old');
    await client.close();
  },
);

test('one that is not there is refused', { timeout: SCENARIO_MS }, async () => {
  await place.create(named('missing'), restoreOf('missing', 'nobodys.db'));
  await place.untilSays(named('missing'), /^False RestoreFailed: BACKUP_MISSING: /);
  await untilFailed('missing');
  expect(await foundOf('missing')).toEqual([null, null]);
});

test('a dry run restores it, and leaves nothing', { timeout: SCENARIO_MS }, async () => {
  await place.create(named('dry'), restoreOf('dry', 'old.db', { dryRun: true }));
  await place.untilSays(named('dry'), /^True DryRun: The backup is whole, .* 2 keys as of/);
  expect(await foundOf('dry')).toEqual([null, null]);
});

test('an EtcdCluster that is there is never restored into', { timeout: SCENARIO_MS }, async () => {
  const before = await place.etcd.read(OLD);
  await place.create(named('over'), restoreOf('old', 'old.db'));
  await place.untilSays(named('over'), /^False NameTaken: .* there is already: EtcdCluster old, /);
  expect((await place.status(named('over'))).phase).toBe('Failed');
  const after = await place.etcd.read(OLD);
  expect(after.metadata.generation).toBe(before.metadata.generation);
});

test(
  'a spec that no EtcdCluster may have is refused before',
  { timeout: SCENARIO_MS },
  async () => {
    const spec = { tls: PLAIN, replicas: 2 };
    await place.create(named('even'), {
      ...restoreOf('even', 'old.db'),
      etcdCluster: { name: 'even', spec },
    });
    await place.untilSays(named('even'), /^False EtcdClusterRefused: .*An even number of members/);
    expect(await foundOf('even')).toEqual([null, null]);
  },
);

test('a backup on a claim is restored from there', { timeout: SCENARIO_MS }, async () => {
  const { kube } = place.etcd;
  await kube.create(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: 'disk' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await expect
    .poll(async () => Object((await kube.get(CLAIMS, named('disk')))?.['status']).phase)
    .toBe('Bound');
  const dir = join(place.etcd.claimDir(OLD, 'disk'), 'etcd');
  await mkdir(dir, { recursive: true });
  await take(join(dir, 'old.db'));
  const source = { claim: { name: 'disk', path: 'etcd/old.db' } };
  await place.create(named('disk'), restoreOf('disk', '', { source, dryRun: true }));
  await place.untilSays(named('disk'), /^True DryRun: /);
  expect((await place.status(named('disk'))).location).toBe('claim://disk/etcd/old.db');
});

test(
  'a backup of an etcd that was full becomes one that takes writes, with a larger quota',
  { timeout: SCENARIO_MS },
  async () => {
    const full = await EtcdCluster.start(1, { flags: ['--quota-backend-bytes=2000000'] });
    const { url } = full.placeOf(0).endpoint;
    const keys = openEtcdAdmin({ endpoints: [url] });
    const fill = async (): Promise<never> => {
      for (;;) await keys.keys.put('a', 'x'.repeat(900_000));
    };
    await expect(fill()).rejects.toThrow(/NOSPACE|space exceeded/);
    const path = join(full.plane.dir, 'full.db');
    const backup = await take(path, url);
    expect(backup.facts.alarms).toEqual(['NOSPACE']);
    await put('full.db', await readFile(path), backup.facts);
    await keys.close();
    await full.stop();
    const cluster = named('roomy');
    const spec = { replicas: 1, tls: PLAIN, storage: { size: '10Gi' } };
    const etcdCluster = { name: 'roomy', spec };
    await place.create(cluster, { ...restoreOf('roomy', 'full.db'), etcdCluster });
    await place.untilSays(cluster, /^False EtcdCluster(Starting|Degraded)/);
    await place.etcd.wakeUntilReady(cluster);
    const client = await place.etcd.client(cluster);
    await client.keys.put('b', 'of new');
    await client.close();
  },
);

test(
  'a backup of an etcd with the alarm CORRUPT becomes one that takes writes',
  { timeout: SCENARIO_MS },
  async () => {
    const differing = await EtcdCluster.start(1);
    const { url } = differing.placeOf(0).endpoint;
    const admin = openEtcdAdmin({ endpoints: [url] });
    await admin.keys.put('a', 'of old');
    const [member] = (await admin.members.list({ isLinearizable: true })).members;
    const alarm = { action: 'ACTIVATE', alarm: 'CORRUPT', memberID: member?.id };
    await fetch(`${url}/v3/maintenance/alarm`, { method: 'POST', body: JSON.stringify(alarm) });
    await expect(admin.keys.put('a', 'of new')).rejects.toThrow(/corrupt/i);
    const path = join(differing.plane.dir, 'corrupt.db');
    const backup = await take(path, url);
    expect(backup.facts.alarms).toEqual(['CORRUPT']);
    await put('corrupt.db', await readFile(path), backup.facts);
    await admin.close();
    await differing.stop();
    const cluster = named('mended');
    const spec = { replicas: 1, tls: PLAIN, storage: { size: '10Gi' } };
    const etcdCluster = { name: 'mended', spec };
    await place.create(cluster, { ...restoreOf('mended', 'corrupt.db'), etcdCluster });
    await place.untilSays(cluster, /^False EtcdCluster(Starting|Degraded)/);
    await place.etcd.wakeUntilReady(cluster);
    const client = await place.etcd.client(cluster);
    expect((await client.keys.get('a')).found?.value.toString()).toBe('of old');
    await client.keys.put('a', 'of new');
    await client.close();
  },
);
