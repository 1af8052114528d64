// Attempts at one backup, one after the other and two at once, into a real S3: what one has
// finished the next one tells, what one has left the next one takes back, and whatever is cut off
// and goes on does no harm.
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Backup, backUp } from '../../../functions/etcd-backup/backup.ts';
import { writtenFactsIn } from '../../../functions/etcd-backup/facts.ts';
import { markOf } from '../../../functions/etcd-backup/mark.ts';
import { type Bucket, openBucket } from '../../../shared/s3/bucket.ts';
import { contentOf } from '../../../shared/s3/content.ts';
import type { Upload } from '../../../shared/s3/lists.ts';
import { settingsFor } from '../../builders/posing-s3.ts';
import { EtcdCluster } from '../etcd/cluster.ts';
import { EtcdWriter } from '../storage-audit/world.ts';
import {
  BUCKET,
  KEYS,
  type Passing,
  passOn,
  S3Relay,
  type S3Server,
  slowDown,
  startS3,
} from './s3-server.ts';

const OURS = 'known-to-attempts';
const THEIRS = 'known-to-others-alone';
/** As anybody who sees a mark can make one. */
const mark = (run: string): string => `${markOf(OURS).writer}.${run}`;

const hasty = { nowMs: () => Date.now(), sleep: () => Promise.resolve() };
const settings = (url: string) =>
  settingsFor(url, {
    caPath: s3.caPath,
    credentials: { given: { ...KEYS, sessionToken: undefined } },
  });

let cluster: EtcdCluster;
let s3: S3Server;
let bucket: Bucket;
let writer: EtcdWriter;
const relay = new S3Relay(() => s3.url);
let relayUrl: string;
let number = 0;
let key: string;

beforeAll(async () => {
  cluster = await EtcdCluster.start(1);
  s3 = await startS3(cluster.plane);
  relayUrl = await relay.start();
  bucket = openBucket(BUCKET, settings(s3.url));
  writer = new EtcdWriter(cluster.placeOf(0).endpoint.url);
});

afterAll(async () => {
  relay.stop();
  await bucket.close();
  await cluster.stop();
});

afterEach(async () => {
  relay.meddle = passOn;
  const left = await bucket.uploads('');
  if (left.length > 0) throw new Error(`left over: ${JSON.stringify(left)}`);
});

/** Each test has a backup of its own, and a database that is another one than before. */
async function begin(): Promise<void> {
  number += 1;
  key = `run/${number}.db`;
  await change();
}

const change = (): Promise<unknown> => writer.put('/k', Buffer.from(`${Math.random()}`));

interface Attempt {
  /** Null for a run that is the only one. */
  readonly of?: string | null;
  /** Over the relay. */
  readonly isRelayed?: boolean;
  readonly etcd?: string;
  readonly signal?: AbortSignal;
  readonly spoolBytes?: number;
  readonly isNameOwn?: boolean;
}

function attempt(how: Attempt = {}): Promise<Backup> {
  const { of = OURS, isRelayed = false, etcd, signal, spoolBytes, isNameOwn = false } = how;
  const place = { bucket: BUCKET, key };
  const address = { place, settings: settings(isRelayed ? relayUrl : s3.url) };
  const endpoints = [etcd ?? cluster.placeOf(0).endpoint.url];
  const to = { address, spoolDir: cluster.plane.dir, spoolBytes };
  const deps = { signal: signal ?? new AbortController().signal, onProgress: () => undefined };
  const options = { etcd: { endpoints }, to, writer: of ?? undefined, isNameOwn };
  return backUp(options, { ...deps, clock: hasty });
}

/** With a part in it, as a killed pod leaves it. */
async function leaveUpload(to: string): Promise<Upload> {
  const upload = await bucket.createUpload(to, mark('killed'));
  await bucket.uploadPart(upload, 1, contentOf(Buffer.alloc(1_000)), { offset: 0 });
  return upload;
}

/** A request that is held until it is let go. */
class Held {
  readonly arrived: Promise<void>;
  #arrive: () => void = () => undefined;
  #go: () => void = () => undefined;
  readonly #gone: Promise<void>;
  #isFirst = true;

  constructor(isIt: (passing: Passing) => boolean) {
    this.arrived = new Promise((resolve) => (this.#arrive = resolve));
    this.#gone = new Promise((resolve) => (this.#go = resolve));
    relay.meddle = async (passing) => {
      if (!this.#isFirst || !isIt(passing)) return passOn(passing);
      this.#isFirst = false;
      this.#arrive();
      await this.#gone;
      return passOn(passing);
    };
  }

  letGo(): void {
    this.#go();
  }
}

const writesFacts = ({ method, path }: Passing) => method === 'PUT' && path.includes('.json');
const completes = ({ method, path }: Passing) =>
  method === 'POST' && /^[^&]*[?]uploadId=/.test(path);

/** A backup and its facts are there, and are of each other. */
async function assertWhole(backup: Backup): Promise<void> {
  expect((await attempt({ etcd: 'http://127.0.0.1:1' })).facts).toEqual(backup.facts);
}

test('what one has finished the next one tells, also when etcd is gone', async () => {
  await begin();
  const first = await attempt();
  await change();
  expect(await attempt({ etcd: 'http://127.0.0.1:1' })).toEqual(first);
  expect(await attempt()).toEqual(first);
  await expect(attempt({ of: THEIRS })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  await expect(attempt({ of: null })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
});

test.each([
  ['without facts', { backup: 'half' }],
  ['with facts of another one', { backup: 'half', facts: '{}' }],
  ['that is gone, with its facts', { facts: '{}' }],
])('one %s is taken back, and taken anew', async (_, { backup, facts }: Record<string, string>) => {
  await begin();
  if (backup !== undefined) await bucket.putNew(key, Buffer.from(backup), mark('1'));
  if (facts !== undefined) await bucket.putNew(`${key}.json`, Buffer.from(facts), mark('1'));
  await expect(attempt({ of: THEIRS })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  await assertWhole(await attempt());
});

test('the upload of one that was killed by force goes, where the name is its own', async () => {
  await begin();
  const killed = await leaveUpload(key);
  const others = await leaveUpload(`${key}-of-others`);
  await attempt({ isNameOwn: false });
  const ids = async () => (await bucket.uploads(key)).map(({ id }) => id);
  expect((await ids()).toSorted()).toEqual([killed.id, others.id].toSorted());
  // Also by one that finds the backup there.
  await attempt({ isNameOwn: true, etcd: 'http://127.0.0.1:1' });
  expect(await ids()).toEqual([others.id]);
  await bucket.abortUpload(others);
});

test('keys that end in the middle say so, and the next attempt leaves nothing over', async () => {
  await begin();
  const body = Buffer.from('<Error><Code>ExpiredToken</Code><Message>It ended</Message></Error>');
  let hasEnded = false;
  relay.meddle = async (passing) => {
    hasEnded ||= passing.path.includes('partNumber=');
    return hasEnded ? passing.answer({ statusCode: 400, headers: {}, body }) : passOn(passing);
  };
  const message = expect.stringMatching(/part 1 .*ExpiredToken.*Give credentials that have not/);
  const failure = { code: 'S3_REFUSED', message };
  await expect(attempt({ isNameOwn: true, isRelayed: true })).rejects.toMatchObject(failure);
  // An attempt whose keys have ended cannot abort it either.
  expect(await bucket.uploads(key)).toHaveLength(1);
  await assertWhole(await attempt({ isNameOwn: true }));
});

test('without the right to list uploads a backup is taken all the same', async () => {
  await begin();
  const body = Buffer.from('<Error><Code>AccessDenied</Code></Error>');
  relay.meddle = async (passing) =>
    passing.method === 'GET' && /[?&]uploads\b/.test(passing.path)
      ? passing.answer({ statusCode: 403, headers: {}, body })
      : passOn(passing);
  await assertWhole(await attempt({ isNameOwn: true, isRelayed: true }));
});

test('one whose bytes are others than its facts say is taken anew', async () => {
  await begin();
  const { facts } = await attempt();
  const stored = await bucket.head(key);
  if (stored === undefined) throw new Error('there is no backup');
  await bucket.replaceFound(key, stored, Buffer.alloc(facts.sizeBytes), mark('1'));
  await change();
  const again = await attempt();
  expect(again.facts.sha256).not.toBe(facts.sha256);
  await assertWhole(again);
});

test('one that was made up by whoever may write to the bucket is not told', async () => {
  await begin();
  const { facts } = await attempt();
  const [backup, beside] = [await bucket.head(key), await bucket.head(`${key}.json`)];
  if (backup === undefined || beside === undefined) throw new Error('there is no backup');
  const bytes = Buffer.from('made up');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const made = {
    ...facts,
    sizeBytes: bytes.length,
    sha256,
    writer: mark('1'),
    seal: 'a'.repeat(64),
  };
  await bucket.replaceFound(key, backup, bytes, mark('1'));
  await bucket.replaceFound(`${key}.json`, beside, Buffer.from(JSON.stringify(made)), mark('1'));
  const again = await attempt();
  expect(again.facts.sha256).not.toBe(sha256);
  await assertWhole(again);
});

test.each([
  ['one that is cut off before its facts writes none beside that of the next one', writesFacts],
  ['of two that complete at once one is there, and the other one says so', completes],
])('%s', async (_, isHeldAt) => {
  await begin();
  const held = new Held(isHeldAt);
  const cutOff = attempt({ isRelayed: true });
  await held.arrived;
  await change();
  const next = await attempt();
  held.letGo();
  await expect(cutOff).rejects.toMatchObject({ code: 'S3_CONFLICT' });
  await assertWhole(next);
});

test('one whose backup was taken back leaves no facts, and the next one goes on', async () => {
  await begin();
  const held = new Held(writesFacts);
  const cutOff = attempt({ isRelayed: true });
  await held.arrived;
  const stored = await bucket.head(key);
  if (stored === undefined) throw new Error('there is no backup');
  await bucket.deleteFound(key, stored);
  held.letGo();
  await expect(cutOff).rejects.toMatchObject({ code: 'S3_CONFLICT' });
  expect((await bucket.list(key)).keys).toEqual([]);
  await assertWhole(await attempt());
});

test('one that was told of by the next one does not remove it', async () => {
  await begin();
  // Its facts are there, and it never hears of that.
  let isStored = false;
  relay.meddle = async (passing) => {
    if (!writesFacts(passing)) return passOn(passing);
    await passing.pass();
    isStored = true;
  };
  const end = new AbortController();
  const cutOff = attempt({ isRelayed: true, signal: end.signal });
  await expect.poll(() => isStored).toBe(true);
  const next = await attempt();
  relay.meddle = passOn;
  end.abort(new Error('ended'));
  await expect(cutOff).rejects.toThrow('ended');
  await assertWhole(next);
});

test('facts that came late are none of the next one, which replaces them', async () => {
  await begin();
  const held = new Held(completes);
  const next = attempt({ isRelayed: true });
  await held.arrived;
  await bucket.putNew(`${key}.json`, Buffer.from('{}'), mark('cut-off'));
  held.letGo();
  await assertWhole(await next);
});

test('ended while its last part goes out it aborts the upload after that', async () => {
  await begin();
  const end = new AbortController();
  const came: string[] = [];
  relay.meddle = async (passing) => {
    if (passing.method === 'DELETE') came.push('abort');
    if (!passing.path.includes('partNumber=')) return passOn(passing);
    end.abort(new Error('ended'));
    const answer = await passing.pass();
    came.push('part');
    return passing.answer(answer);
  };
  const options = { isRelayed: true, signal: end.signal };
  await expect(attempt(options)).rejects.toThrow('ended');
  expect(came).toEqual(['part', 'abort']);
});

test('ended while its completion is carried out it leaves no backup', async () => {
  await begin();
  const end = new AbortController();
  relay.meddle = async (passing) => {
    if (!completes(passing)) return passOn(passing);
    await passing.pass();
    end.abort(new Error('ended'));
    return passing.cut();
  };
  await expect(attempt({ isRelayed: true, signal: end.signal })).rejects.toThrow('ended');
  expect((await bucket.list(key)).keys).toEqual([]);
});

test('facts say who wrote them, and are those that were told', async () => {
  await begin();
  const { facts } = await attempt();
  const { etag = '' } = (await bucket.head(`${key}.json`)) ?? {};
  const { body } = await bucket.read(`${key}.json`, 0, etag);
  const text = await body.text();
  const told = { facts, writer: expect.stringMatching(new RegExp(`^${mark('')}[0-9a-f-]{36}$`)) };
  expect(writtenFactsIn(text, markOf(OURS))).toEqual({ ...told, isSealed: true });
  expect(writtenFactsIn(text, markOf(THEIRS))).toEqual({ ...told, isSealed: false });
  expect(text).not.toContain(OURS);
});

test('a storage that refuses to write facts for good leaves nothing', async () => {
  await begin();
  relay.meddle = (passing) => (writesFacts(passing) ? passing.answer(slowDown) : passOn(passing));
  await expect(attempt({ isRelayed: true })).rejects.toMatchObject({ code: 'S3_UNAVAILABLE' });
  expect((await bucket.list(key)).keys).toEqual([]);
});

test('a spool that may not be as large as the database is told before anything goes', async () => {
  await begin();
  let asked = 0;
  relay.meddle = (passing) => {
    asked += passing.method === 'HEAD' ? 0 : 1;
    return passOn(passing);
  };
  await expect(attempt({ isRelayed: true, spoolBytes: 4_096 })).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringMatching(/may take 4096 bytes, and the database has \d+\. Let it/),
  });
  expect(asked).toBe(0);
});
