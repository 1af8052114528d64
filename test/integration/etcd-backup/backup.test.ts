// Backups of a real etcd of three members into a real S3, and all that goes wrong on the way:
// after each failure nothing is left in the bucket, and the next run succeeds.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Backup, backUp, type BackupDeps } from '../../../functions/etcd-backup/backup.ts';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { type Bucket, openBucket } from '../../../shared/s3/bucket.ts';
import { download } from '../../../shared/s3/download.ts';
import type { S3Settings } from '../../../shared/s3/settings.ts';
import { Spool } from '../../../shared/spool.ts';
import { settingsFor } from '../../builders/posing-s3.ts';
import { EtcdCluster } from '../etcd/cluster.ts';
import { EtcdWriter } from '../storage-audit/world.ts';
import { behind } from './behind.ts';
import { bundleProgram } from './program.ts';
import { spoilSpool } from './spoil.ts';
import { BUCKET, KEYS, passOn, S3Relay, type S3Server, slowDown, startS3 } from './s3-server.ts';

const run = promisify(execFile);
const given = { ...KEYS, sessionToken: undefined };

let cluster: EtcdCluster;
let s3: S3Server;
let bucket: Bucket;
const relay = new S3Relay(() => s3.url);
let relayUrl: string;
let number = 0;
let etcdctlPath: string;
let writer: EtcdWriter;

/** Time that passes at once, by this machine's clock. */
const hasty = { nowMs: () => Date.now(), sleep: () => Promise.resolve() };

beforeAll(async () => {
  etcdctlPath = await resolvePart('etcdctl');
  cluster = await EtcdCluster.start(3);
  s3 = await startS3(cluster.plane);
  relayUrl = await relay.start();
  bucket = openBucket(BUCKET, settings(s3.url));
  writer = new EtcdWriter(cluster.placeOf(0).endpoint.url);
  // A backup of them has more parts than are under way at once.
  await writer.putLarge(0, 30);
});

afterAll(async () => {
  relay.stop();
  await bucket.close();
  await cluster.stop();
});

afterEach(async () => {
  relay.meddle = passOn;
  await assertClean();
});

/** Whatever came before, no upload is under way, and each object has its facts. */
async function assertClean(): Promise<void> {
  const { keys } = await bucket.list('run/');
  const [facts, backups] = [true, false].map((is) =>
    keys.filter((k) => k.endsWith('.json') === is),
  );
  const left = (await bucket.uploads('')).map(({ key }) => key);
  const alone = (backups ?? []).filter((key) => facts?.includes(`${key}.json`) === false);
  if (left.length === 0 && alone.length === 0 && facts?.length === backups?.length) return;
  throw new Error(`left over: ${JSON.stringify({ left, keys })}`);
}

const settings = (url: string, more: Partial<S3Settings> = {}): S3Settings =>
  settingsFor(url, { caPath: s3.caPath, credentials: { given }, ...more });

interface Way {
  readonly key?: string;
  readonly bucket?: string;
  readonly settings?: Partial<S3Settings>;
  readonly signal?: AbortSignal;
  readonly clock?: typeof hasty;
  readonly onProgress?: BackupDeps['onProgress'];
}

/** Over the relay. */
function take(way: Way = {}): Promise<Backup> {
  number += 1;
  const { key = `run/${number}.db`, signal = new AbortController().signal } = way;
  const { clock = hasty, onProgress = () => undefined } = way;
  const place = { bucket: way.bucket ?? BUCKET, key };
  const address = { place, settings: settings(relayUrl, way.settings) };
  const endpoints = [0, 1, 2].map((index) => cluster.placeOf(index).endpoint.url);
  return backUp(
    { etcd: { endpoints }, to: { address, spoolDir: cluster.plane.dir } },
    { signal, clock, onProgress },
  );
}

/** Returns when it is done: nothing else of this process goes on meanwhile. */
function etcdctl(index: number, ...args: readonly string[]): void {
  execFileSync(etcdctlPath, ['--endpoints', cluster.placeOf(index).endpoint.url, ...args]);
}

const keyOf = ({ name }: Backup): string => name.slice(`s3://${BUCKET}/`.length);

test('the audit reads it from there', async () => {
  const { name } = await take();
  const credentials = join(cluster.plane.dir, 'credentials');
  const { accessKeyId, secretAccessKey } = KEYS;
  const lines = [`aws_access_key_id=${accessKeyId}`, `aws_secret_access_key=${secretAccessKey}`];
  await writeFile(credentials, `[default]\n${lines.join('\n')}\n`);
  let said = '';
  const terminal = { out: (text: string) => void (said += text), err: () => undefined };
  const where = [
    '--s3-endpoint',
    s3.url,
    '--s3-cacert',
    s3.caPath,
    '--s3-credentials',
    credentials,
  ];
  const args = ['--snapshot', name, ...where, '--spool', cluster.plane.dir, '--json'];
  await runAudit(args, { ...terminal, isWatched: false });
  expect(JSON.parse(said)).toMatchObject({
    of: { source: name, isHashed: true },
    values: 30,
  });
});

describe('it goes on', () => {
  test('after 503, lost connections, and bytes that were changed on the way', async () => {
    let parts = 0;
    relay.meddle = async (passing) => {
      if (passing.method !== 'PUT' || passing.path.includes('.json')) return passOn(passing);
      parts += 1;
      if (parts === 1) return passing.answer(slowDown);
      if (parts === 2) return passing.cut();
      if (parts !== 3) return passOn(passing);
      const changed = Buffer.from(passing.body);
      changed[100] = (changed[100] ?? 0) + 1;
      return passing.answer(await passing.pass(changed));
    };
    await expect(take()).resolves.toMatchObject({ facts: { isHashConfirmed: true } });
    expect(parts).toBeGreaterThan(6);
  });

  test('when the answers to the completion and to the facts are lost', async () => {
    const lost = new Set<string>();
    relay.meddle = async (passing) => {
      const isLast = passing.path.includes('.json') || /^[^&]*[?]uploadId=/.test(passing.path);
      if (passing.method === 'HEAD' || !isLast || lost.has(passing.path)) return passOn(passing);
      lost.add(passing.path);
      await passing.pass();
      return passing.cut();
    };
    await expect(take()).resolves.toMatchObject({ facts: { isHashConfirmed: true } });
    expect(lost.size).toBe(2);
  });

  test('with a clock that is two hours ahead', async () => {
    const ahead = { ...hasty, nowMs: () => Date.now() + 2 * 3_600_000 };
    await expect(take({ clock: ahead })).resolves.toMatchObject({ facts: { keys: 30 } });
  });

  test('when the leader changes in the middle', async () => {
    const first = await cluster.leader();
    const { memberId } = (await cluster.at((first + 1) % 3).status()).header;
    const act = () => etcdctl(first, 'move-leader', BigInt(memberId).toString(16));
    await expect(take({ onProgress: behind(1, act) })).resolves.toMatchObject({
      facts: { isHashConfirmed: true },
    });
    expect(await cluster.leader()).not.toBe(first);
  });

  test('when etcd is compacted in the middle, and says what is not confirmed', async () => {
    const { revision } = (await cluster.at(0).status()).header;
    const act = () => etcdctl(0, 'compact', `${Number(revision) - 1}`);
    const { facts } = await take({ onProgress: behind(1, act) });
    expect(facts).toMatchObject({
      isHashConfirmed: false,
      unconfirmed: expect.stringMatching(/^a compaction went from \d+ to \d+ before the hash/),
    });
    expect((await take()).facts.isHashConfirmed).toBe(true);
  });
});

/** Once, while the snapshot streams. */
function atFirstPart(act: () => Promise<unknown>): S3Relay['meddle'] {
  let acted: Promise<unknown> | undefined;
  return async (passing) => {
    if (passing.path.includes('partNumber=')) await (acted ??= act());
    await passOn(passing);
  };
}

describe('nothing is left, and the reason is told', () => {
  test('when the storage answers 503 for good in the middle', async () => {
    relay.meddle = (passing) =>
      passing.path.includes('partNumber=2') ? passing.answer(slowDown) : passOn(passing);
    await expect(take()).rejects.toMatchObject({
      code: 'S3_UNAVAILABLE',
      message: expect.stringMatching(/^Sending part 2 of s3.*bytes 8388608 to 16777216.*SlowDown/),
    });
  });

  test('when the storage says that it has another checksum', async () => {
    relay.meddle = async (passing) => {
      const { headers, ...rest } = await passing.pass();
      const isPart = passing.path.includes('partNumber=');
      const lie = isPart ? { 'x-amz-checksum-sha256': 'bGll' } : {};
      passing.answer({ ...rest, headers: { ...headers, ...lie } });
    };
    await expect(take()).rejects.toMatchObject({ code: 'S3_CHECKSUM' });
  });

  test('when the facts cannot be written: a backup without them is none', async () => {
    relay.meddle = (passing) =>
      passing.method === 'PUT' && passing.path.includes('.json')
        ? passing.answer(slowDown)
        : passOn(passing);
    const key = 'run/without-facts.db';
    await expect(take({ key })).rejects.toMatchObject({ code: 'S3_UNAVAILABLE' });
    expect(await bucket.head(key)).toBeUndefined();
  });

  test('when the member dies in the middle; the next run takes another one', async () => {
    const before = await take();
    const ids = await Promise.all([0, 1, 2].map((index) => cluster.at(index).status()));
    const of = ids.findIndex(
      ({ header }) => BigInt(header.memberId) === BigInt(`0x${before.facts.memberId}`),
    );
    const act = () => void cluster.part(of).kill();
    await expect(take({ onProgress: behind(1, act) })).rejects.toMatchObject({
      code: 'ETCD_SNAPSHOT_BROKEN',
      message: expect.stringMatching(/broke off at byte \d+ .*Nothing was kept/),
    });
    const { facts } = await take();
    expect(facts.isHashConfirmed).toBe(true);
    expect(facts.memberId).not.toBe(before.facts.memberId);
    await cluster.part(of).start();
  });

  test('when the disk has another byte than what came', async () => {
    // By then the first MiB is there, and the first part, of eight, is not on its way.
    const onProgress = behind(5e6, () => spoilSpool(9_000));
    await expect(take({ onProgress })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:S3_CHECKSUM|SNAPSHOT_DAMAGED)$/),
    });
  });

  test('when an object is there already, or comes while it runs: it stays as it is', async () => {
    const theirs = Buffer.from('of somebody');
    await bucket.putNew('early.db', theirs, 'somebody');
    await expect(take({ key: 'early.db' })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
    relay.meddle = atFirstPart(() => bucket.putNew('late.db', theirs, 'somebody'));
    await expect(take({ key: 'late.db' })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
    relay.meddle = atFirstPart(() => bucket.putNew('facts.db.json', theirs, 'somebody'));
    await expect(take({ key: 'facts.db' })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
    for (const key of ['early.db', 'late.db', 'facts.db.json']) {
      expect(await bucket.head(key)).toMatchObject({ writer: 'somebody', sizeBytes: 11 });
    }
    expect(await bucket.head('facts.db')).toBeUndefined();
  });

  test.each([
    ['there is no bucket', { bucket: 'no-such-bucket' }, 'S3_NOT_FOUND', /no bucket|NoSuchBucket/],
    [
      'the secret is another one',
      { settings: { credentials: { given: { ...given, secretAccessKey: 'x' } } } },
      'S3_REFUSED',
      /SignatureDoesNotMatch.*secret key|403/,
    ],
    [
      'the key is not known',
      { settings: { credentials: { given: { ...given, accessKeyId: 'x' } } } },
      'S3_REFUSED',
      /No user exists with the provided access key ID/,
    ],
  ] as const)('when %s', async (_, way, code, message) => {
    await expect(take(way)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test('when its end is asked for in the middle', async () => {
    const end = new AbortController();
    relay.meddle = atFirstPart(async () => end.abort(new Error('ended')));
    await expect(take({ signal: end.signal })).rejects.toThrow('ended');
  });
});

describe('as a program', () => {
  let bundle: string;

  beforeAll(async () => {
    bundle = await bundleProgram('etcd-backup', join(cluster.plane.dir, 'dist'));
  });

  /** Its exit code, and the one line that it says. */
  async function program(to: string, onChild: (pid: number) => void, limit = 'unlimited') {
    const endpoint = cluster.placeOf(await cluster.leader()).endpoint.url;
    const where = ['--s3-endpoint', relayUrl, '--spool', cluster.plane.dir, '--to', to];
    const args = [bundle, '--etcd', endpoint, ...where];
    const shell = `ulimit -f ${limit} && exec "$0" "$@"`;
    const child = spawn('sh', ['-c', shell, process.execPath, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      },
    });
    onChild(child.pid ?? 0);
    const ended = once(child, 'close');
    const said = await json(child.stdout);
    const [code] = (await ended) as [number];
    return { code, said };
  }

  test('ended by SIGTERM it leaves nothing, and says so', async () => {
    let pid = 0;
    relay.meddle = atFirstPart(async () => process.kill(pid, 'SIGTERM'));
    expect(await program(`s3://${BUCKET}/run/ended.db`, (its) => (pid = its))).toEqual({
      code: 1,
      said: {
        outcome: 'failed',
        error: { code: 'BACKUP_STOPPED', message: expect.stringContaining('ended by SIGTERM') },
      },
    });
    expect(await bucket.head('run/ended.db')).toBeUndefined();
  });

  test('without room on the disk it leaves nothing, and says at which byte', async () => {
    const path = join(cluster.plane.dir, 'no-room.db');
    // In blocks of 512 bytes, as for a disk that is full behind ten megabytes.
    for (const to of [path, `s3://${BUCKET}/run/no-room.db`]) {
      expect(await program(to, () => undefined, '20000')).toMatchObject({
        code: 1,
        said: { error: { code: 'DISK_FULL', message: expect.stringMatching(/beyond byte \d{7}/) } },
      });
    }
    const left = (await readdir(cluster.plane.dir)).filter((name) => name.startsWith('no-room'));
    expect(left).toEqual([]);
  });
});

test('what is stored is whole, is what the member has, and is read by etcd itself', async () => {
  await writer.putLarge(30, 50);
  const backup = await take();
  const { facts } = backup;
  const { header } = await cluster.at(await cluster.leader()).status();
  expect(facts).toMatchObject({ isHashConfirmed: true, keys: 50, revision: header.revision });
  // A follower sent it.
  expect(BigInt(`0x${facts.memberId}`)).not.toBe(BigInt(header.memberId));
  const found = await bucket.head(keyOf(backup));
  if (found === undefined) throw new Error('there is no object');
  const spool = await Spool.at(join(cluster.plane.dir, 'downloaded.db'));
  try {
    await download(bucket, backup.name, { key: keyOf(backup), found, spool }, {});
    const { stdout } = await run('sha256sum', [spool.path]);
    expect(stdout.split(' ')[0]).toBe(facts.sha256);
    const etcdutl = await resolvePart('etcdutl');
    const status = await run(etcdutl, ['snapshot', 'status', spool.path, '-w', 'json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ revision: Number(facts.revision) });
    const dir = join(cluster.plane.dir, 'restored');
    await run(etcdutl, ['snapshot', 'restore', spool.path, `--data-dir=${dir}`]);
  } finally {
    await spool.close();
  }
  const { etag = '' } = (await bucket.head(`${keyOf(backup)}.json`)) ?? {};
  const { body } = await bucket.read(`${keyOf(backup)}.json`, 0, etag);
  expect(await json(body)).toEqual({ ...facts, writer: expect.any(String) });
});

test('the authority of the storage has to be the one that was named', async () => {
  const strange = openBucket(BUCKET, settings(s3.url, { caPath: undefined }), { clock: hasty });
  await expect(strange.head('x')).rejects.toMatchObject({
    code: 'S3_UNAVAILABLE',
    message: expect.stringMatching(/certificate.*See that it runs/),
  });
  await strange.close();
});

test('with logins only root may, and says who it is', async () => {
  const admin = cluster.at(await cluster.leader());
  await admin.users.add({ user: 'root', password: 'secret' });
  await admin.roles.add('root').catch(() => undefined);
  await admin.users.grant('root', 'root');
  await admin.auth.enable();
  await expect(take()).rejects.toMatchObject({ code: 'ETCD_REFUSED' });
  const endpoints = [0, 1, 2].map((index) => cluster.placeOf(index).endpoint.url);
  const login = { user: 'root', password: 'secret' };
  const path = join(cluster.plane.dir, 'with-login.db');
  const deps = { signal: new AbortController().signal, onProgress: () => undefined };
  const { facts } = await backUp({ etcd: { endpoints, login }, to: { path } }, deps);
  expect(facts).toMatchObject({ keys: 50, isHashConfirmed: true });
  expect((await run('sha256sum', [path])).stdout.split(' ')[0]).toBe(facts.sha256);
});
