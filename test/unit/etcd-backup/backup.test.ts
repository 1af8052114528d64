// A member that sends less than it has, or something else: nothing is kept of it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backUp, type BackupOptions } from '../../../functions/etcd-backup/backup.ts';
import { writeBoltFile } from '../../builders/bolt-file.ts';
import { poseAsEtcd, says } from '../../builders/posing-etcd.ts';
import { bytesOf, keyFiles, keyOf, openedOf } from '../sealed/samples.ts';

let dir: string;
let database: Buffer;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'backup-'));
  const records = [2, 3, 4].map((main) => ({ main, key: `/k/${main % 2}`, value: 'x' }));
  writeBoltFile(join(dir, 'etcd.db'), records);
  database = readFileSync(join(dir, 'etcd.db'));
  rmSync(join(dir, 'etcd.db'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const header = { cluster_id: '1', member_id: '2', revision: '4', raft_term: '2' };
const HASH = 4_098_384_543;

async function take(sent: Buffer, hash = HASH, more: Partial<BackupOptions> = {}) {
  const etcd = await poseAsEtcd((response, asked) => {
    if (asked.path.endsWith('/snapshot')) {
      const pieces = [sent.subarray(0, 5_000), sent.subarray(5_000)];
      const lines = pieces.map((one) =>
        JSON.stringify({ result: { blob: one.toString('base64') } }),
      );
      response.end(lines.join('\n'));
    } else if (asked.path.endsWith('/hashkv')) says({ header, hash })(response, asked);
    else says({ header, version: '3.6.0', leader: '2', members: [] })(response, asked);
  });
  const deps = { signal: new AbortController().signal, onProgress: () => undefined };
  const path = join(dir, 'backup.db');
  return backUp({ etcd: { endpoints: [etcd.url] }, to: { path }, ...more }, deps);
}

test.each([
  ['cut off within a page', (whole: Buffer) => whole.subarray(0, 9_000)],
  ['without its hash', (whole: Buffer) => whole.subarray(0, -32)],
  [
    'with a byte that is another one',
    (whole: Buffer) => Buffer.from(whole).fill('y', 8_200, 8_201),
  ],
  ['empty', () => Buffer.alloc(0)],
])('a snapshot that is %s is not kept', async (_, change) => {
  await expect(take(change(database))).rejects.toMatchObject({
    code: 'ETCD_SNAPSHOT_BROKEN',
    message: expect.stringMatching(/broke off at byte \d+ .*do not match the hash/),
  });
  expect(readdirSync(dir)).toEqual([]);
});

test('one with the hash of another database is not kept', async () => {
  await expect(take(database, HASH + 1)).rejects.toMatchObject({ code: 'BACKUP_DIFFERS' });
  expect(readdirSync(dir)).toEqual([]);
});

test('one that is whole is, as it was sent', async () => {
  const { facts } = await take(database);
  expect(facts).toMatchObject({ isHashConfirmed: true, revision: '4', keys: 2, memberId: '2' });
  expect(readFileSync(join(dir, 'backup.db'))).toEqual(database);
  expect(readdirSync(dir)).toEqual(['backup.db', 'backup.db.json']);
});

const write = keyFiles();
const key = await keyOf(write, 1);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The copy lies in a directory of its own, where it has no name. */
const sealing = (first: number, spoolDir = tmpdir()) => ({
  sealing: { keyPath: write(`${first}`, bytesOf(first)), spoolDir },
});

const clean = (): void => {
  for (const name of readdirSync(dir)) rmSync(join(dir, name));
};

test('one with a key is sealed where it lies, and its facts say so', async () => {
  clean();
  const { facts } = await take(database, HASH, sealing(1));
  const sealed = readFileSync(join(dir, 'backup.db'));
  expect(facts).toMatchObject({
    sizeBytes: sealed.length,
    sha256: sha256(sealed),
    hashKv: HASH,
    encryption: {
      format: 'ballast-sealed/v1',
      keyId: key.id,
      plainSizeBytes: database.length,
      plainSha256: sha256(database),
    },
  });
  expect(sealed.includes('/k/')).toBe(false);
  expect(openedOf([sealed], key).plain).toEqual(database);
  const beside = readFileSync(join(dir, 'backup.db.json'), 'utf8');
  expect(beside).not.toContain(`${HASH}`);
  expect(beside).not.toContain(sha256(database));
  expect(readdirSync(dir)).toEqual(['backup.db', 'backup.db.json']);
});

test.each<[string, Buffer | undefined, number, object, string]>([
  ['with another hash', undefined, HASH + 1, {}, 'BACKUP_DIFFERS'],
  ['cut off', Buffer.alloc(5_000), HASH, {}, 'ETCD_SNAPSHOT_BROKEN'],
  ['without a place for its copy', undefined, HASH, sealing(1, '/nowhere'), 'DISK_UNWRITABLE'],
])('one with a key that is %s leaves nothing', async (_, sent, hash, more, code) => {
  clean();
  const options = { ...sealing(1), ...more };
  await expect(take(sent ?? database, hash, options)).rejects.toMatchObject({ code });
  expect(readdirSync(dir)).toEqual([]);
});

test('what is no key is told before etcd is asked', async () => {
  const keyPath = write('short', bytesOf(1).subarray(1));
  const etcd = { endpoints: ['http://127.0.0.1:1'] };
  const short = { etcd, sealing: { keyPath, spoolDir: tmpdir() } };
  await expect(take(database, HASH, short)).rejects.toMatchObject({ code: 'BACKUP_KEY_UNUSABLE' });
});

test('a later attempt tells a sealed one without etcd, unless it has another key', async () => {
  clean();
  const writer = 'known-to-attempts';
  const first = await take(database, HASH, { ...sealing(1), writer });
  const gone = { etcd: { endpoints: ['http://127.0.0.1:1'] }, writer };
  expect(await take(database, HASH, { ...gone, ...sealing(1) })).toEqual(first);
  const other = take(database, HASH, { ...gone, ...sealing(2) });
  await expect(other).rejects.toMatchObject({ code: 'BACKUP_KEY_WRONG' });
  await expect(take(database, HASH, gone)).rejects.toMatchObject({ code: 'BACKUP_SEALED' });
  expect(readdirSync(dir)).toEqual(['backup.db', 'backup.db.json']);
});
