// A snapshot counts as a backup when a member tells the hash that it has, and not when it tells
// another one; when nobody can tell it, that is said.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReadOptions, readThrough } from '../../../functions/etcd-backup/read-through.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { writeBoltFile } from '../../builders/bolt-file.ts';
import { breaksOff, type Manner, poseAsEtcd, refuses, says } from '../../builders/posing-etcd.ts';

let dir: string;
let path: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'read-through-'));
  path = join(dir, 'etcd.db');
  const records = [2, 3, 4].map((main) => ({ main, key: `/k/${main % 2}`, value: 'x' }));
  writeBoltFile(path, records);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const header = { cluster_id: '1', member_id: '2', revision: '9' };
const tells = (hash: number, compact_revision = '-1'): Manner =>
  says({ header, hash, compact_revision });

async function read(
  manners: readonly Manner[],
  version = '3.6.0',
  more: Partial<ReadOptions> = {},
  file = path,
) {
  const servers = await Promise.all(manners.map((manner) => poseAsEtcd(manner)));
  const etcd = openEtcdAdmin({ endpoints: servers.map(({ url }) => url) });
  const members = servers.map(({ url }) => etcd.at(url));
  const signal = new AbortController().signal;
  const options = { name: 'the snapshot', signal, onProgress: () => undefined, ...more };
  try {
    const checked = await readThrough(file, { members, version }, options);
    return { ...checked, asked: servers.map(({ asked }) => asked.map(({ body }) => body)) };
  } finally {
    await etcd.close();
  }
}

const HASH = 4_098_384_543;

test('the same hash at the revision of the file confirms it', async () => {
  const { confirmation, ...rest } = await read([tells(HASH)]);
  expect(confirmation).toEqual({ isHashConfirmed: true });
  expect(rest).toMatchObject({ revision: 4n, compactRevision: 0n, keys: 2, hashKv: HASH });
  expect(rest.asked).toEqual([[{ revision: '4' }]]);
});

test('another hash means that the file is not what the member has', async () => {
  await expect(read([tells(HASH + 1)])).rejects.toMatchObject({
    code: 'BACKUP_DIFFERS',
    message: expect.stringMatching(/the snapshot has the hash \d+ at revision 4, and the member/),
  });
});

test('another member is asked when the one that sent it is gone', async () => {
  const { confirmation } = await read([breaksOff, tells(HASH)]);
  expect(confirmation).toEqual({ isHashConfirmed: true });
});

test.each<[string, Manner, string | undefined, RegExp]>([
  [
    'compacted',
    refuses('etcdserver: mvcc: required revision has been compacted', 11),
    undefined,
    /^revision 4 was compacted before/,
  ],
  ['compacted less far', tells(1, '3'), undefined, /^a compaction went from 0 to 3 before/],
  ['gone', breaksOff, undefined, /^no member told the hash of revision 4: etcd did not answer/],
  ['too old to be asked', tells(1), '3.4.13', /^etcd 3\.4\.13 is too old to be asked/],
])(
  'an etcd that is %s confirms nothing, and the backup is kept',
  async (_, manner, version, why) => {
    const { confirmation } = await read([manner], version);
    expect(confirmation).toEqual({ unconfirmed: expect.stringMatching(why) });
  },
);

test('of a large one no member is asked: it would take no writes meanwhile', async () => {
  const sizeBytes = statSync(path).size;
  const asked = async (confirmUpToBytes: number) =>
    read([tells(HASH)], undefined, { confirmUpToBytes });
  expect(await asked(sizeBytes)).toMatchObject({ confirmation: { isHashConfirmed: true } });
  const large = await asked(sizeBytes - 1);
  const why = new RegExp(
    `^it has ${sizeBytes} bytes, more than the ${sizeBytes - 1} .*confirmUpTo`,
  );
  expect(large.confirmation).toEqual({ unconfirmed: expect.stringMatching(why) });
  expect(large).toMatchObject({ asked: [[]], hashKv: HASH });
});

test('its own hash is held against its bytes, unless its target does that', async () => {
  const spoiled = join(dir, 'spoiled.db');
  const bytes = readFileSync(path);
  // A byte of a page that nothing points to.
  writeFileSync(spoiled, bytes.fill(1, bytes.length - 33, bytes.length - 32));
  await expect(read([tells(HASH)], undefined, { name: 'it' }, spoiled)).rejects.toMatchObject({
    code: 'SNAPSHOT_DAMAGED',
    message: expect.stringMatching(/its bytes have the sha256/),
  });
  const { confirmation } = await read([tells(HASH)], undefined, { isDigestKnown: true }, spoiled);
  expect(confirmation).toEqual({ isHashConfirmed: true });
});
