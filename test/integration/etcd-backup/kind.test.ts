// EtcdBackups of a real etcd, that of an API server, into a real S3 and onto a disk: the function
// runs as its own account, Kubernetes' own controller keeps its Jobs, and the pods of these are
// processes.
import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { Bucket } from '../../../shared/s3/bucket.ts';
import { readSealKey } from '../../../shared/sealed/key.ts';
import type { Shipped } from '../../builders/shipped.ts';
import { until } from '../../builders/versioned-kind.ts';
import { openedOf } from '../../unit/sealed/samples.ts';
import { auditedWith } from './audited.ts';
import type { BackupObjects } from './backup-objects.ts';
import { BackupPlace, namespace } from './backup-place.ts';
import type { JobPods } from './job-pods.ts';
import { BUCKET, passOn, S3Relay, factsBeside, s3ObjectOf, type S3Server } from './s3-server.ts';

const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;

let place: BackupPlace;
let shipped: Shipped;
let s3: S3Server;
let bucket: Bucket;
let pods: JobPods;
let backups: BackupObjects;

beforeAll(async () => {
  place = await BackupPlace.start();
  ({ shipped, s3, bucket, pods, backups } = place);
}, 120_000);

afterAll(async () => {
  await place?.stop();
});

afterEach(() => {
  pods.isHeld = false;
  pods.retell = (message) => message;
  const [error] = pods.errors.splice(0);
  if (error !== undefined) throw error;
});

const s3Target = (changes: object = {}): object => ({ s3: { ...s3ObjectOf(s3), ...changes } });

const create = (name: string, target = s3Target(), more: object = {}): Promise<void> =>
  backups.create(name, {
    source: { endpoints: [shipped.plane.part('etcd').url] },
    target,
    ...more,
  });

/** Swept as often as it takes. */
async function untilSays(name: string, form: RegExp): Promise<void> {
  let said = '';
  await until(`${name} to say ${form.source}`, async () => {
    const isSwept = await place.sweep();
    said = await backups.conditionOf(name);
    return isSwept && form.test(said);
  }).catch((cause: unknown) => {
    throw new Error(`it says ${said}; ${pods.errors.map(String).join('; ')}`, { cause });
  });
}

async function podsOf(name: string): Promise<readonly KubeObject[]> {
  const all = await pods.all(namespace);
  return all.filter(({ metadata }) => metadata.labels?.['ballast.dev/etcd-backup'] === name);
}

const keyOf = async (name: string): Promise<string> =>
  (await backups.statusOf(name)).location?.slice(`s3://${BUCKET}/`.length) ?? '';

const factsIn = (key: string): Promise<object> => factsBeside(shipped.plane, key);

test('it waits for a Secret, is taken, and stays in the bucket when it is deleted', async () => {
  await create('now');
  await untilSays('now', /^False PodWaits: Pod now-\S+: secret "s3" not found\.$/);
  expect(await backups.statusOf('now')).toMatchObject({ phase: 'Running' });
  await place.makeKeys('s3');
  await untilSays('now', /^True Confirmed: \d+ keys at revision \d+; a member has the same hash/);
  const { backup, location, phase, job } = await backups.statusOf('now');
  const { uid = '' } = (await backups.read('now'))?.metadata ?? {};
  expect(phase).toBe('Complete');
  expect(location).toMatch(new RegExp(`^s3://backups/shop/now/\\d{8}T\\d{6}Z-${uid}\\.db$`));
  const key = await keyOf('now');
  const own = { writer: expect.any(String), seal: expect.any(String) };
  expect(await factsIn(key)).toEqual({ kind: 'etcd-backup/v1', ...backup, ...own });
  expect((await bucket.head(key))?.sizeBytes).toBe(backup?.sizeBytes);
  await shipped.kube.delete(ETCD_BACKUPS, { namespace, name: 'now' }, { uid });
  await until('its Job to go', async () => {
    const found = await shipped.kube.get(JOBS, { namespace, name: job?.name ?? '' });
    return found === null && (await podsOf('now')).length === 0;
  });
  expect((await bucket.head(key))?.sizeBytes).toBe(backup?.sizeBytes);
});

test('it is a file on a claim', async () => {
  await backups.make('persistentvolumeclaims', 'PersistentVolumeClaim', 'disk', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await create('file', { claim: { name: 'disk', path: 'etcd.db' } });
  await untilSays('file', /^True Confirmed/);
  expect(await backups.statusOf('file')).toMatchObject({ location: 'claim://disk/etcd.db' });
  const [pod] = await podsOf('file');
  if (pod === undefined) throw new Error('there is no pod');
  const { size } = await stat(join(pods.dirOf(pod, '/target'), 'etcd.db'));
  expect((await backups.statusOf('file')).backup?.sizeBytes).toBe(size);
});

test('its pod is evicted, and another one takes it, whichever function looks', async () => {
  pods.isHeld = true;
  await create('evicted');
  await untilSays('evicted', /^False Running/);
  await until('its pod to be there', async () => (await podsOf('evicted')).length === 1);
  const [first] = await podsOf('evicted');
  if (first === undefined) throw new Error('there is no pod');
  await place.stopFunction();
  await pods.evict(first);
  await until('another pod to be there', async () => (await podsOf('evicted')).length === 2);
  await place.startFunction();
  pods.isHeld = false;
  await untilSays('evicted', /^True Confirmed/);
  expect(await podsOf('evicted')).toHaveLength(2);
});

test('its pod is lost when the backup stands: the next one tells what is there', async () => {
  pods.lost = 1;
  await create('lost');
  await untilSays('lost', /^True Confirmed/);
  expect(await podsOf('lost')).toHaveLength(2);
  const { backup } = await backups.statusOf('lost');
  expect(await factsIn(await keyOf('lost'))).toMatchObject({ takenAt: backup?.takenAt });
  pods.lost = 1;
  await create('lost-file', { claim: { name: 'disk', path: 'lost.db' } });
  await untilSays('lost-file', /^True Confirmed/);
  const [pod, ...more] = await podsOf('lost-file');
  if (pod === undefined) throw new Error('there is no pod');
  expect(more).toHaveLength(1);
  const path = join(pods.dirOf(pod, '/target'), 'lost.db.json');
  const { takenAt } = (await backups.statusOf('lost-file')).backup ?? {};
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ takenAt });
});

/** As a Secret that `kubectl create secret` makes of the output of `openssl rand -base64 32`. */
const KEY = randomBytes(32).toString('base64');

test('with a key nothing can be read where it is stored, whichever pod tells it', async () => {
  const keys = { key: `${KEY}\n`, half: KEY.slice(0, 22) };
  await backups.make('secrets', 'Secret', 'backup-key', { stringData: keys });
  const encryption = { secretName: 'backup-key' };
  pods.lost = 1;
  await create('sealed', s3Target(), { encryption });
  await untilSays('sealed', /^True Confirmed/);
  expect(await podsOf('sealed')).toHaveLength(2);
  const { backup, location = '' } = await backups.statusOf('sealed');
  const stored = join(shipped.plane.dir, 's3/objects', BUCKET, await keyOf('sealed'));
  const [sealed, facts] = [await readFile(stored), await readFile(`${stored}.json`, 'utf8')];
  const keyPath = join(shipped.plane.dir, 'key');
  await writeFile(keyPath, KEY);
  const opened = openedOf([sealed], await readSealKey(keyPath)).plain;
  // Both are in etcd: a name in the keys, and a word in the values.
  for (const known of ['/registry/namespaces/shop', 'etcdbackups', 'ballast.dev']) {
    expect([known, sealed.includes(known)]).toEqual([known, false]);
  }
  expect(opened.includes('/registry/namespaces/shop')).toBe(true);
  const sha256 = createHash('sha256').update(opened).digest('hex');
  expect(backup?.encryption).toMatchObject({ plainSizeBytes: opened.length, plainSha256: sha256 });
  expect(facts).toContain(backup?.encryption?.keyId);
  for (const hidden of [`${backup?.hashKv}`, sha256, KEY]) expect(facts).not.toContain(hidden);
  const said = JSON.stringify([
    await backups.read('sealed'),
    await backups.jobOf('sealed'),
    await podsOf('sealed'),
  ]);
  expect(said).not.toContain(KEY.slice(0, 20));
  const [withKey, without] = await auditedWith(keyPath, location, s3, shipped.plane.dir);
  expect(withKey).toMatchObject({ of: { source: location, isHashed: true } });
  expect(without).toMatchObject({ error: { code: 'BACKUP_SEALED' } });
});

test('with a key it is a sealed file on a claim, and half a key makes none', async () => {
  const claim = { claim: { name: 'disk', path: 'sealed.db' } };
  await create('sealed-file', claim, { encryption: { secretName: 'backup-key' } });
  const half = { encryption: { secretName: 'backup-key', key: 'half' } };
  await create('half', { claim: { name: 'disk', path: 'half.db' } }, half);
  await untilSays('sealed-file', /^True Confirmed/);
  const [pod] = await podsOf('sealed-file');
  if (pod === undefined) throw new Error('there is no pod');
  const dir = pods.dirOf(pod, '/target');
  const sealed = await readFile(join(dir, 'sealed.db'));
  expect(sealed.toString('latin1', 0, 14)).toBe('ballast-sealed');
  expect(sealed.includes('/registry/namespaces/shop')).toBe(false);
  await untilSays(
    'half',
    /^False BackupFailed: BACKUP_KEY_UNUSABLE: .* has 22 bytes.*openssl rand/,
  );
  expect(await podsOf('half')).toHaveLength(1);
  expect((await readdir(dir)).filter((name) => /half|unfinished/.test(name))).toEqual([]);
  expect(await readdir(pods.dirOf(pod, '/spool'))).toEqual([]);
});

test('a name that is taken by others ends it at once, and stays as it is', async () => {
  await bucket.putNew('taken.db', Buffer.from('of somebody'), 'somebody');
  await create('taken', s3Target({ key: 'taken.db' }));
  await untilSays('taken', /^False BackupFailed: BACKUP_EXISTS: s3:\/\/backups\/taken.db is there/);
  expect(await podsOf('taken')).toHaveLength(1);
  expect((await bucket.head('taken.db'))?.writer).toBe('somebody');
});

test('its Job is deleted by hand: it says so, and nothing is taken and left', async () => {
  pods.isHeld = true;
  await create('gone');
  await untilSays('gone', /^False Running/);
  const job = await backups.jobOf('gone');
  const { name = '', uid = '' } = job?.metadata ?? {};
  const background = { propagationPolicy: 'Background' } as const;
  await shipped.kube.delete(JOBS, { namespace, name }, { uid }, background);
  await untilSays('gone', /^False JobGone: /);
  pods.isHeld = false;
  await until('its pod to go', async () => (await podsOf('gone')).length === 0);
  expect((await bucket.list('shop/gone/')).keys).toEqual([]);
  await place.sweep();
  expect(await backups.jobOf('gone')).toBeNull();
  expect(await backups.statusOf('gone')).toMatchObject({ phase: 'Failed' });
});

test.each<[string, (message: string) => string]>([
  ['longer', (message) => message.replace('{', `{"more":"${'x'.repeat(4_096)}",`)],
  ['forged', (message) => message.replace(/"sizeBytes":\d+/, '"sizeBytes":"none"')],
  ['of-others', (message) => message.replace('shop', 'pohs')],
])('a message that is %s is not believed', async (name, retell) => {
  pods.retell = retell;
  await create(name);
  await untilSays(name, /^False ResultLost: Job \S+ has succeeded, and no pod of it tells/);
  // It is there, as the message says.
  expect(await bucket.head(await keyOf(name))).toBeDefined();
});

test('what no attempt can do is not tried again', async () => {
  await create('wrong', s3Target({ endpoint: 'https://127.0.0.1:99999' }));
  await untilSays('wrong', /^False BackupFailed: BACKUP_OPTIONS_WRONG: .*--s3-endpoint .*99999/);
  expect(await podsOf('wrong')).toHaveLength(1);
});

test('what may pass is tried four times, and the last error is told', async () => {
  await create('denied', s3Target({ bucket: 'nobodys' }));
  await untilSays('denied', /^False BackupFailed: S3_NOT_FOUND: .*nobodys.*[^.]\. Make the bucket/);
  expect(await backups.statusOf('denied')).toMatchObject({
    phase: 'Failed',
    error: { code: 'S3_NOT_FOUND' },
  });
  expect(await podsOf('denied')).toHaveLength(4);
});

const REHEARSAL = { image: 'quay.io/coreos/etcd:v3.6.16' };

/** Where the storage keeps it. */
const pathOf = (key: string): string => join(shipped.plane.dir, 's3/objects', BUCKET, key);

test('it is rehearsed: what is stored is restored, and what is in it is told', async () => {
  await create('rehearsed', s3Target(), { rehearsal: REHEARSAL });
  await untilSays('rehearsed', /^True Confirmed: \d+ keys at \S+ \d+, restored and read through; /);
  const { backup, rehearsal } = await backups.statusOf('rehearsed');
  const { keys, revision, hashKv } = backup ?? {};
  expect(rehearsal).toMatchObject({ keys, revision, hashKv });
  const { objects = 0, most = [] } = rehearsal?.storedVersions ?? {};
  expect(objects).toBeGreaterThan(0);
  expect(most).toContainEqual({
    resource: 'etcdbackups.ballast.dev',
    version: 'ballast.dev/v1alpha1',
    objects: expect.any(Number),
  });
  expect(await podsOf('rehearsed')).toHaveLength(1);
  expect(await factsIn(await keyOf('rehearsed'))).toMatchObject({ hashKv });
});

test('it is rehearsed from a claim, which that only reads, and sealed with its key', async () => {
  const target = { claim: { name: 'disk', path: 'rehearsed.db' } };
  const encryption = { secretName: 'backup-key' };
  await create('rehearsed-file', target, { rehearsal: REHEARSAL, encryption });
  await untilSays('rehearsed-file', /^True Confirmed: .*restored and read through/);
  const [pod] = await podsOf('rehearsed-file');
  if (pod === undefined) throw new Error('there is no pod');
  const bytes = await readFile(join(pods.dirOf(pod, '/target'), 'rehearsed.db'));
  const { sha256 } = (await backups.statusOf('rehearsed-file')).backup ?? {};
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
});

test('a byte of it is changed where it is stored: it counts for none, and stays', async () => {
  const relay = new S3Relay(() => s3.url);
  const endpoint = await relay.start();
  const key = 'spoiled.db';
  let reads = 0;
  relay.meddle = async (passing) => {
    // Until it is read back nobody has read it.
    if (passing.method === 'GET' && passing.path.split('?')[0] === `/${BUCKET}/${key}`) {
      reads += 1;
      await spoil(pathOf(key));
    }
    await passOn(passing);
  };
  await create('spoiled', s3Target({ endpoint, key }), { rehearsal: REHEARSAL });
  const form = /^False RehearsalFailed: The backup is stored at s3:\/\/backups\/spoiled\.db, .*/;
  await untilSays('spoiled', form);
  relay.stop();
  expect(await backups.conditionOf('spoiled')).toMatch(
    /It stays .*REHEARSAL_FAILED: BACKUP_CHANGED: s3:\S+ has the sha256 \w{64}, and its facts say/,
  );
  const { phase, backup, error } = await backups.statusOf('spoiled');
  expect([phase, error?.code, reads]).toEqual(['Failed', 'REHEARSAL_FAILED', 1]);
  expect(await podsOf('spoiled')).toHaveLength(1);
  expect((await bucket.head(key))?.sizeBytes).toBe(backup?.sizeBytes);
  expect(await factsIn(key)).toMatchObject({ sha256: backup?.sha256 });
});

/** As a disk that forgets: the size is as it was. */
async function spoil(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 9_000);
    await file.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, 9_000);
  } finally {
    await file.close();
  }
}

test('a disk that is too small for its rehearsal is told before anything is restored', async () => {
  const disk = { size: '16Mi' };
  await create('cramped', s3Target(), { rehearsal: { ...REHEARSAL, disk } });
  await untilSays('cramped', /^False RehearsalFailed: /);
  expect(await backups.conditionOf('cramped')).toMatch(
    /RESTORE_WITHOUT_ROOM: \/rehearsal may take 16777216 bytes, and to restore .*disk\.size\)\.$/,
  );
  expect(await podsOf('cramped')).toHaveLength(1);
});
