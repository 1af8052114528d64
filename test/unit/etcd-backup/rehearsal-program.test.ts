// The program of a rehearsal: it brings back what is stored and refuses what is not what was taken,
// or what there is no room for; and it tells what was restored, or why that is not what it has to
// be.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Facts, textOfFacts } from '../../../functions/etcd-backup/facts.ts';
import { markOf } from '../../../functions/etcd-backup/mark.ts';
import { runRehearsal } from '../../../functions/etcd-backup/rehearsal/command.ts';
import { resultIn } from '../../../functions/etcd-backup/result.ts';
import type { StoredVersions } from '../../../shared/api/etcd-backup.ts';
import { openSnapshot } from '../../../shared/etcd/snapshot/snapshot.ts';
import { type HistoryRecord, writeBoltFile } from '../../builders/bolt-file.ts';
import { type EndedCommand, endedCommand } from '../../builders/ended-command.ts';
import { FACTS, SECRET } from './samples.ts';

const RECORDS: readonly HistoryRecord[] = [
  { main: 2, key: 'a', value: 'one' },
  { main: 3, key: 'b', value: 'two' },
  { main: 4, key: 'a', value: 'three' },
  { main: 5, key: 'b', value: undefined },
];

let dir: string;
let disk: string;
let stored: string;
let facts: Facts;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-rehearsal-'));
  disk = join(dir, 'disk');
  mkdirSync(disk);
  stored = join(dir, 'etcd.db');
  await store(RECORDS);
});

afterEach(() => rm(dir, { recursive: true }));

/** As an attempt at the backup leaves it. */
async function store(records: readonly HistoryRecord[]): Promise<void> {
  const sizeBytes = writeBoltFile(stored, records);
  const snapshot = openSnapshot(stored, { hasKvHash: true });
  let keys = 0;
  for await (const batch of snapshot.entries()) keys += batch.length;
  const { revision, kvHash: hashKv = 0 } = snapshot.facts;
  const sha256 = createHash('sha256').update(readFileSync(stored)).digest('hex');
  const found = { sizeBytes, sha256, keys, hashKv, revision: `${revision}`, compactRevision: '0' };
  facts = { kind: 'etcd-backup/v1', ...FACTS, ...found };
  writeFacts();
}

const writeFacts = (secret = SECRET): void =>
  writeFileSync(`${stored}.json`, textOfFacts(facts, markOf(secret)));

const run = (...args: readonly string[]): Promise<EndedCommand> => endedCommand(runRehearsal, args);

const check = (...more: readonly string[]): Promise<EndedCommand> =>
  run(
    'check',
    `--from=${stored}`,
    `--dir=${disk}`,
    '--etcd-version=3.6.16',
    `--writer=${SECRET}`,
    ...more,
  );

const confirm = (): Promise<EndedCommand> => run('confirm', `--of=${stored}`, `--dir=${disk}`);

/** As etcdutl leaves it. */
function restored(records: readonly HistoryRecord[]): void {
  const snap = join(disk, 'data/member/snap');
  mkdirSync(snap, { recursive: true });
  writeBoltFile(join(snap, 'db'), records, { hasDigest: false });
}

const errorOf = ({ out }: EndedCommand): { readonly code: string; readonly message: string } =>
  Object(JSON.parse(out)).error;

const wholeRoom = (): number => 2 * facts.sizeBytes + 128 * 1024 * 1024;

test('what is stored is brought back, and what was restored is told', async () => {
  expect((await check(`--room-bytes=${wholeRoom()}`)).code).toBe(0);
  expect(readFileSync(join(disk, 'restore/backup.db'))).toEqual(readFileSync(stored));
  restored(RECORDS);
  const { code, out } = await confirm();
  expect(code).toBe(0);
  const { kind: _, ...told } = facts;
  expect(resultIn(out, stored, false)).toEqual({
    facts: told,
    rehearsal: {
      rehearsedAt: expect.stringMatching(/^\d{4}-.*:\d\dZ$/),
      durationSeconds: expect.any(Number),
      keys: 1,
      revision: '5',
      hashKv: facts.hashKv,
    },
  });
  expect(existsSync(join(disk, 'restore'))).toBe(false);
});

test('a disk that may take too little is told before anything is brought back', async () => {
  const ended = await check(`--room-bytes=${wholeRoom() - 1}`);
  expect([ended.code, errorOf(ended).code]).toEqual([3, 'RESTORE_WITHOUT_ROOM']);
  expect(errorOf(ended).message).toContain(`takes ${wholeRoom()}. Let it take more (spec.rehears`);
  expect(readdirSync(join(disk, 'restore'))).toEqual([]);
});

const spoiled: readonly [string, () => unknown, string, RegExp][] = [
  ['is gone', () => rmSync(stored), 'BACKUP_MISSING', /^There is no backup/],
  [
    'has another byte',
    () => {
      const bytes = readFileSync(stored);
      bytes[9_000] = (bytes[9_000] ?? 0) ^ 1;
      writeFileSync(stored, bytes);
    },
    'BACKUP_CHANGED',
    /has the sha256 \w{64}, and its facts say/,
  ],
  [
    'is another one, with facts of its own',
    async () => {
      await store(RECORDS.slice(0, 2));
      writeFacts('known-to-somebody-else');
    },
    'BACKUP_CHANGED',
    /has facts beside it that its writer has not written/,
  ],
  [
    'is of a newer etcd',
    () => {
      facts = { ...facts, etcdVersion: '3.7.0' };
      writeFacts();
    },
    'BACKUP_NEWER',
    /is of etcd 3\.7\.0, and 3\.6\.16/,
  ],
];

test.each(spoiled)('what is stored and %s is refused for good', async (_, spoil, code, message) => {
  await spoil();
  const ended = await check();
  expect([ended.code, errorOf(ended).code]).toEqual([3, code]);
  expect(errorOf(ended).message).toMatch(message);
});

test.each<[string, readonly HistoryRecord[]]>([
  ['a key less', RECORDS.slice(1, 2)],
  ['another value', RECORDS.map((one) => (one.main === 4 ? { ...one, value: 'eerht' } : one))],
  ['another revision', [...RECORDS, { main: 6, key: 'b', value: undefined }]],
])('restored data with %s is told, and tried again', async (_, records) => {
  await check();
  restored(records);
  const ended = await confirm();
  expect([ended.code, errorOf(ended).code]).toEqual([1, 'RESTORE_DIFFERS']);
});

const object = (kind: string, apiVersion: string) => JSON.stringify({ kind, apiVersion });

async function rehearse(records: readonly HistoryRecord[]): Promise<EndedCommand> {
  await store(records);
  await check();
  restored(records);
  return confirm();
}

const versionsIn = ({ out }: EndedCommand): StoredVersions | undefined => {
  const result = resultIn(out, stored, false);
  return result !== undefined && 'facts' in result ? result.rehearsal?.storedVersions : undefined;
};

test('of an API server it tells what is stored in which version, mixed ones first', async () => {
  const values: readonly (readonly [string, string])[] = [
    ['pods/shop/a', object('Pod', 'v1')],
    ['pods/shop/b', object('Pod', 'v1')],
    ['pods/shop/c', object('Pod', 'v1')],
    ['deployments/shop/a', object('Deployment', 'apps/v1')],
    ['deployments/shop/b', object('Deployment', 'apps/v1')],
    ['deployments/shop/c', object('Deployment', 'apps/v1beta1')],
    ['secrets/shop/a', 'k8s:enc:aescbc:v1:key1:xxxxxxxxxxxxxxxx'],
  ];
  const ended = await rehearse(
    values.map(([key, value], at) => ({ main: at + 2, key: `/registry/${key}`, value })),
  );
  expect(versionsIn(ended)).toEqual({
    objects: 7,
    total: 4,
    most: [
      { resource: 'deployments.apps', version: 'apps/v1', objects: 2 },
      { resource: 'deployments.apps', version: 'apps/v1beta1', objects: 1 },
      { resource: 'pods', version: 'v1', objects: 3 },
      { resource: 'secrets', version: 'v1', objects: 1 },
    ],
  });
});

test('so many versions are told as the last words of a pod have room for', async () => {
  const group = `${'g'.repeat(60)}.example.com`;
  const records = Array.from({ length: 40 }, (_, at) => {
    const resource = `${'r'.repeat(50)}${at}`;
    const value = object('Any', `${group}/v1`);
    return { main: at + 2, key: `/registry/${group}/${resource}/a`, value };
  });
  const ended = await rehearse(records);
  expect(Buffer.byteLength(ended.out)).toBeLessThan(4_096);
  const { total, most = [] } = versionsIn(ended) ?? {};
  expect(total).toBe(40);
  expect(most.length).toBeGreaterThan(4);
});

test('an object that no API server can read is named, and fails nothing', async () => {
  const ended = await rehearse([
    { main: 2, key: '/registry/pods/shop/a', value: object('Pod', 'v1') },
    { main: 3, key: '/registry/pods/shop/b', value: 'no pod at all' },
  ]);
  expect(ended.code).toBe(0);
  const { storedVersions, unreadable } = JSON.parse(ended.out).rehearsal;
  expect(storedVersions.most).toEqual([{ resource: 'pods', version: 'v1', objects: 1 }]);
  expect(unreadable.objects).toBe(1);
  expect(unreadable.such).toMatch(/^\/registry\/pods\/shop\/b /);
});

test('of such objects so much is told as the last words of a pod have room for', async () => {
  const long = 'n'.repeat(1_000);
  const ended = await rehearse([
    { main: 2, key: '/registry/pods/shop/a', value: object('Pod', 'v1') },
    { main: 3, key: `/registry/pods/shop/${long}`, value: 'no pod at all' },
  ]);
  const { unreadable } = JSON.parse(ended.out).rehearsal;
  expect(Buffer.byteLength(unreadable.such)).toBeLessThanOrEqual(500);
});

test('keys of others under that prefix are theirs', async () => {
  const ended = await rehearse([{ main: 2, key: '/registry/images/a', value: 'layers' }]);
  expect(ended.code).toBe(0);
  expect(versionsIn(ended)).toBeUndefined();
});

test.each<[string, readonly string[]]>([
  ['two parts', ['check', 'confirm', '--dir=/x']],
  ['no disk', ['check', '--from=/x']],
  ['no backup', ['check', '--dir=/x', '--etcd-version=3.6.16']],
  ['no version', ['check', '--dir=/x', '--from=/x']],
  [
    'room that is none',
    ['check', '--dir=/x', '--from=/x', '--etcd-version=3.6.16', '--room-bytes=a'],
  ],
  ['no name', ['confirm', '--dir=/x']],
])('%s is asked wrongly', async (_, args) => {
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain('usage: node etcd-backup.mjs check');
});
