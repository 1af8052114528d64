// The program of a restore: it brings a backup to a volume, and refuses each that is not what its
// facts say, or that does not fit the etcd that is to run on it, with the code that says which.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runRestore } from '../../../functions/etcd-restore/command.ts';
import type { BackupFacts } from '../../../shared/api/etcd-backup.ts';
import { openSnapshot } from '../../../shared/etcd/snapshot/snapshot.ts';
import { hiddenFacts } from '../../../shared/sealed/facts.ts';
import { withChangedByte } from '../../builders/changed-byte.ts';
import { type HistoryRecord, writeBoltFile } from '../../builders/bolt-file.ts';
import { endedCommand } from '../../builders/ended-command.ts';
import { bytesOf, keyFiles, keyOf, sealedOf } from '../sealed/samples.ts';

const RECORDS: readonly HistoryRecord[] = [
  { main: 2, key: 'a', value: 'one' },
  { main: 3, key: 'b', value: 'two' },
  { main: 4, key: 'a', value: 'three' },
  { main: 5, key: 'b', value: undefined },
];

let dir: string;
let volume: string;
let backup: string;
let facts: Record<string, unknown>;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-restore-'));
  volume = join(dir, 'volume');
  mkdirSync(volume);
  backup = join(dir, 'etcd.db');
  facts = await writeBackup(RECORDS);
});

afterEach(() => rm(dir, { recursive: true }));

async function writeBackup(records: readonly HistoryRecord[]): Promise<Record<string, unknown>> {
  const sizeBytes = writeBoltFile(backup, records);
  const written = await factsOf(sizeBytes);
  writeFacts(written);
  return written;
}

async function factsOf(sizeBytes: number): Promise<Record<string, unknown>> {
  const snapshot = openSnapshot(backup, { hasKvHash: true });
  let keys = 0;
  for await (const batch of snapshot.entries()) keys += batch.length;
  return {
    kind: 'etcd-backup/v1',
    takenAt: '2026-11-25T04:42:16.825Z',
    sizeBytes,
    sha256: createHash('sha256').update(readFileSync(backup)).digest('hex'),
    revision: `${snapshot.facts.revision}`,
    compactRevision: '0',
    keys,
    hashKv: snapshot.facts.kvHash,
    isHashConfirmed: true,
    etcdVersion: '3.6.16',
    clusterId: 'cdf818194e3a8c32',
    memberId: '8e9e05c52164694d',
  };
}

const writeFacts = (some: object): void => writeFileSync(`${backup}.json`, JSON.stringify(some));

interface Ended {
  readonly code: number;
  readonly said: Record<string, unknown>;
  readonly err: string;
}

async function run(...args: readonly string[]): Promise<Ended> {
  const { code, out, err } = await endedCommand(runRestore, args);
  const said = (out.startsWith('{') ? JSON.parse(out) : {}) as Record<string, unknown>;
  return { code, said, err };
}

const check = (...more: readonly string[]): Promise<Ended> =>
  run(
    'check',
    `--from=${backup}`,
    `--dir=${volume}`,
    '--etcd-version=3.6.16',
    '--quota-bytes=2147483648',
    ...more,
  );

const errorOf = ({ said }: Ended): { readonly code: string; readonly message: string } =>
  said['error'] as { readonly code: string; readonly message: string };

test('a backup that is what its facts say lies on the volume afterwards', async () => {
  mkdirSync(join(volume, 'data/member'), { recursive: true });
  mkdirSync(join(volume, 'restore'));
  writeFileSync(join(volume, 'restore/backup.db'), 'of an attempt before');
  writeFileSync(join(volume, 'restore/notes.json'), 'of an attempt before');
  expect(await check()).toEqual({ code: 0, said: { outcome: 'done', facts }, err: '' });
  expect(existsSync(join(volume, 'data'))).toBe(false);
  expect(readFileSync(join(volume, 'restore/backup.db'))).toEqual(readFileSync(backup));
});

test('data of a member is never deleted, also when the Job comes again too late', async () => {
  mkdirSync(join(volume, 'data/member'), { recursive: true });
  writeFileSync(join(volume, 'data/member/db'), 'of a member');
  const ended = await check();
  expect([ended.code, errorOf(ended).code]).toEqual([3, 'RESTORE_VOLUME_USED']);
  expect(readFileSync(join(volume, 'data/member/db'), 'utf8')).toBe('of a member');
  expect(readdirSync(volume)).toEqual(['data']);
});

/** As a disk, a person or another writer leaves it. */
const spoiled: readonly [string, () => unknown, string, RegExp][] = [
  ['is not there', () => rmSync(backup), 'BACKUP_MISSING', /^There is no backup .*etcd\.db\. /],
  ['has no facts', () => rmSync(`${backup}.json`), 'BACKUP_WITHOUT_FACTS', /^There are no facts/],
  [
    'has something else beside it',
    () => writeFacts({ kind: 'a list' }),
    'BACKUP_WITHOUT_FACTS',
    /^No facts of a backup lie beside/,
  ],
  [
    'has a megabyte beside it',
    () => writeFacts({ ...facts, more: 'x'.repeat(1_000_000) }),
    'BACKUP_WITHOUT_FACTS',
    /has 1000\d{3} bytes, which no facts/,
  ],
  [
    'was cut short',
    () => writeFileSync(backup, readFileSync(backup).subarray(0, -4096)),
    'BACKUP_CHANGED',
    /has \d+ bytes, and its facts say \d+/,
  ],
  [
    'has one byte changed',
    () => {
      const bytes = readFileSync(backup);
      bytes[9_000] = (bytes[9_000] ?? 0) ^ 1;
      writeFileSync(backup, bytes);
    },
    'BACKUP_CHANGED',
    /has the sha256 \w{64}, and its facts say/,
  ],
  [
    'is another one than its facts are of',
    async () => {
      const other = RECORDS.map((one) => (one.value === 'two' ? { ...one, value: 'owt' } : one));
      await writeBackup(other);
      writeFacts(facts);
    },
    'BACKUP_CHANGED',
    /has the sha256/,
  ],
  ['says too few keys', () => writeFacts({ ...facts, keys: 0 }), 'BACKUP_CHANGED', /the keys 1/],
  [
    'says another hash',
    () => writeFacts({ ...facts, hashKv: 1 }),
    'BACKUP_CHANGED',
    /the hashKv \d+, and its facts say 1:/,
  ],
  [
    'says another revision',
    () => writeFacts({ ...facts, revision: '6' }),
    'BACKUP_CHANGED',
    /the revision 5, and its facts say 6:/,
  ],
  [
    'says another compaction',
    () => writeFacts({ ...facts, compactRevision: '2' }),
    'BACKUP_CHANGED',
    /the compactRevision 0, and its facts say 2:/,
  ],
  [
    'is of a newer etcd',
    () => writeFacts({ ...facts, etcdVersion: '3.7.0' }),
    'BACKUP_NEWER',
    /is of etcd 3\.7\.0, and 3\.6\.16 is to run/,
  ],
  [
    'is of a newer patch version',
    () => writeFacts({ ...facts, etcdVersion: '3.6.17' }),
    'BACKUP_NEWER',
    /is of etcd 3\.6\.17/,
  ],
];

test.each(spoiled)('a backup that %s is refused for good', async (_, spoil, code, message) => {
  await spoil();
  const ended = await check();
  expect(ended.code).toBe(3);
  expect(errorOf(ended).code).toBe(code);
  expect(errorOf(ended).message).toMatch(message);
});

test('a file that is no database is refused, whatever its facts say', async () => {
  writeFileSync(backup, 'x'.repeat(10_000));
  const sha256 = createHash('sha256').update(readFileSync(backup)).digest('hex');
  writeFacts({ ...facts, sizeBytes: 10_000, sha256 });
  const ended = await check();
  expect([ended.code, errorOf(ended).code]).toEqual([3, 'SNAPSHOT_DAMAGED']);
});

test('it is the one that the EtcdBackup says, or refused', async () => {
  expect((await check(`--sha256=${String(facts['sha256'])}`)).code).toBe(0);
  const ended = await check(`--sha256=${'0'.repeat(64)}`);
  expect([ended.code, errorOf(ended).code]).toEqual([3, 'BACKUP_CHANGED']);
  expect(errorOf(ended).message).toContain('the EtcdBackup says 0000');
});

test('one that is larger than the quota is refused before it is fetched', async () => {
  const ended = await check('--quota-bytes=8192');
  expect([ended.code, errorOf(ended).code]).toEqual([3, 'BACKUP_TOO_LARGE']);
  expect(readdirSync(join(volume, 'restore'))).toEqual([]);
});

test('an older backup is taken', async () => {
  writeFacts({ ...facts, etcdVersion: '3.5.35' });
  expect((await check()).code).toBe(0);
});

const write = keyFiles();
const key = await keyOf(write, 1);
const other = await keyOf(write, 2);
const withKey = (first = 1): string => `--encrypt-key-file=${write(`${first}`, bytesOf(first))}`;

interface SealedBackup {
  readonly plain: Buffer;
  readonly sealed: Buffer;
  readonly stored: Readonly<Record<string, unknown>>;
  readonly facts: object;
}

/** In the place of the one that was not. */
function seal(): SealedBackup {
  const plain = readFileSync(backup);
  const sealed = sealedOf([plain], key, 4_096);
  const { sizeBytes: plainSizeBytes, sha256: plainSha256 } = facts;
  const encryption = { format: 'ballast-sealed/v1', keyId: key.id, plainSizeBytes, plainSha256 };
  const sha256 = createHash('sha256').update(sealed).digest('hex');
  const own = { ...facts, sizeBytes: sealed.length, sha256, encryption };
  const stored = hiddenFacts(own as unknown as BackupFacts, key);
  writeFileSync(backup, sealed);
  writeFacts(stored);
  return { plain, sealed, stored, facts: own };
}

test('with its key a sealed backup lies on the volume as etcd sent it', async () => {
  const { plain, facts: own } = seal();
  expect(await check(withKey())).toEqual({
    code: 0,
    said: { outcome: 'done', facts: own },
    err: '',
  });
  expect(readFileSync(join(volume, 'restore/backup.db'))).toEqual(plain);
});

/** As somebody does who may write where it lies, and has no key, or who has forgotten it. */
const meddled: readonly [string, (of: SealedBackup) => unknown, readonly string[], string][] = [
  ['no key is named', () => undefined, [], 'BACKUP_SEALED'],
  ['another key is named', () => undefined, [withKey(2)], 'BACKUP_KEY_WRONG'],
  [
    'one that is not sealed is in its place',
    ({ plain }) => {
      writeFileSync(backup, plain);
      writeFacts(facts);
    },
    [withKey()],
    'BACKUP_UNSEALED',
  ],
  [
    'one that is not sealed is in its place, beside facts that are',
    ({ plain, stored }) => {
      writeFileSync(backup, plain);
      writeFacts({ ...stored, sizeBytes: plain.length });
    },
    [withKey()],
    'BACKUP_CHANGED',
  ],
  [
    'its facts say that it is not sealed',
    ({ facts: own }) => writeFacts({ ...own, encryption: undefined }),
    [],
    'BACKUP_SEALED',
  ],
  [
    'a byte of it is another one',
    ({ sealed }) => writeFileSync(backup, withChangedByte(sealed, 9_000)),
    [withKey()],
    'BACKUP_CHANGED',
  ],
  [
    'it is cut short',
    ({ sealed }) => writeFileSync(backup, sealed.subarray(0, -4_096)),
    [withKey()],
    'BACKUP_CHANGED',
  ],
  [
    'its facts say another revision',
    ({ stored }) => writeFacts({ ...stored, revision: '4' }),
    [withKey()],
    'BACKUP_CHANGED',
  ],
  [
    'another one that was sealed with its key is in its place',
    ({ plain }) => writeFileSync(backup, sealedOf([plain], key, 4_096)),
    [withKey()],
    'BACKUP_CHANGED',
  ],
];

test.each(meddled)('where %s it is refused for good', async (_, meddle, options, code) => {
  meddle(seal());
  const ended = await check(...options);
  expect([ended.code, errorOf(ended).code]).toEqual([3, code]);
});

test('a wrong key is told before a byte is fetched, by the ids of both', async () => {
  seal();
  writeFileSync(backup, Buffer.alloc(readFileSync(backup).length));
  const { message } = errorOf(await check(withKey(2)));
  expect(message).toMatch(new RegExp(`key ${key.id}, .* ${other.id}\\.`));
  expect(existsSync(join(volume, 'restore/backup.db'))).toBe(false);
});

test('what is no key is refused before anything is touched', async () => {
  seal();
  const short = write('short', bytesOf(1).subarray(1));
  const ended = await check(`--encrypt-key-file=${short}`);
  expect([ended.code, errorOf(ended).code]).toEqual([3, 'BACKUP_KEY_UNUSABLE']);
  expect(readdirSync(volume)).toEqual([]);
});

test('the quota is held against what etcd sent', async () => {
  const { plain } = seal();
  expect((await check(withKey(), `--quota-bytes=${plain.length}`)).code).toBe(0);
  const ended = await check(withKey(), `--quota-bytes=${plain.length - 1}`);
  expect(errorOf(ended).code).toBe('BACKUP_TOO_LARGE');
});

test.each<[string, readonly string[]]>([
  ['no part', [`--dir=/x`]],
  ['another part', ['mend', `--dir=/x`]],
  ['no volume', ['check', '--from=/x']],
  ['no backup', ['check', '--dir=/x', '--etcd-version=3.6.16', '--quota-bytes=1']],
  ['no version', ['check', '--dir=/x', '--from=/x', '--quota-bytes=1']],
  ['a quota that is none', ['check', '--dir=/x', '--from=/x', '--etcd-version=3.6.16']],
  ['no revisions', ['confirm', '--dir=/x']],
])('%s is asked wrongly', async (_, args) => {
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain('usage: node etcd-restore.mjs');
});

/** As etcdutl leaves it: one record more, and all before it forgotten. */
function restored(records: readonly HistoryRecord[], bumpedBy = 1_000): void {
  const snap = join(volume, 'data/member/snap');
  mkdirSync(snap, { recursive: true });
  const bumped = [...records, { main: 5 + bumpedBy, key: 'b', value: undefined }];
  writeBoltFile(join(snap, 'db'), bumped, { hasDigest: false, compacted: 5 + bumpedBy });
}

test('what was restored is read, and nothing is left beside it', async () => {
  await check();
  restored([{ main: 4, key: 'a', value: 'three' }]);
  const { code, said } = await run('confirm', `--dir=${volume}`, '--bump-revision=1000');
  expect([code, said]).toEqual([0, { outcome: 'done', revision: '1005', facts }]);
  expect(readdirSync(volume)).toEqual(['data']);
});

test.each<[string, () => void]>([
  ['a key less', () => restored([])],
  ['another revision', () => restored([{ main: 4, key: 'a', value: 'three' }], 999)],
])('restored data with %s is told, and tried again', async (_, restore) => {
  await check();
  restore();
  const ended = await run('confirm', `--dir=${volume}`, '--bump-revision=1000');
  expect([ended.code, errorOf(ended).code]).toEqual([1, 'RESTORE_DIFFERS']);
});
