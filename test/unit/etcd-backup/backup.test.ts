// A member that sends less than it has, or something else: nothing is kept of it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backUp } from '../../../functions/etcd-backup/backup.ts';
import { writeBoltFile } from '../../builders/bolt-file.ts';
import { poseAsEtcd, says } from '../../builders/posing-etcd.ts';

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

async function take(sent: Buffer, hash = HASH) {
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
  return backUp({ etcd: { endpoints: [etcd.url] }, to: { path } }, deps);
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
