// A backup in a file: it has its name only when it was finished, and takes that of no other file.
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Facts, textOfFacts } from '../../../functions/etcd-backup/facts.ts';
import { FileTarget } from '../../../functions/etcd-backup/file-target.ts';
import { markOf } from '../../../functions/etcd-backup/mark.ts';
import { FACTS } from './samples.ts';

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'file-target-'));
  path = join(dir, 'etcd.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const bytes = Buffer.from('snapshot');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const facts: Facts = { kind: 'etcd-backup/v1', ...FACTS, sizeBytes: bytes.length, sha256 };
const part = { bytes, number: 1, offset: 0 };
const { signal } = new AbortController();

const SECRETS: Readonly<Record<string, string>> = { w: 'known-to-attempts', x: 'and-of-others' };
const secretOf = (of: string | undefined): string | undefined =>
  of === undefined ? undefined : SECRETS[of];
const targetOf = (of?: string): FileTarget => new FileTarget(path, markOf(secretOf(of)));
const WRITER = markOf(SECRETS['w']).writer ?? '';
const unfinished = `etcd.db.${WRITER}.unfinished`;

async function begun(writer?: string): Promise<FileTarget> {
  const target = targetOf(writer);
  expect(await target.earlier(signal)).toBeUndefined();
  await target.begin(0);
  await target.send(part);
  return target;
}

async function finished(writer: string): Promise<void> {
  const target = await begun(writer);
  await target.finish(facts);
  await target.close();
}

const factsThere = (): object => JSON.parse(readFileSync(`${path}.json`, 'utf8')) as object;

test('has its name, and its facts, when it is finished', async () => {
  const target = await begun();
  expect(readdirSync(dir)).toEqual(['etcd.db.unfinished']);
  await target.finish(facts);
  await target.close();
  expect(readdirSync(dir)).toEqual(['etcd.db', 'etcd.db.json']);
  expect(readFileSync(path, 'utf8')).toBe('snapshot');
  expect(factsThere()).toEqual({ ...facts, writer: expect.any(String) });
});

test('leaves nothing when it is aborted, and what a killed run left is no obstacle', async () => {
  writeFileSync(`${path}.unfinished`, 'longer than the snapshot is');
  const target = await begun();
  expect(readFileSync(`${path}.unfinished`, 'utf8')).toBe('snapshot');
  await target.abort();
  await target.close();
  expect(readdirSync(dir)).toEqual([]);
});

test.each(['etcd.db', 'etcd.db.json'])('%s is not overwritten, early or late', async (name) => {
  const late = await begun();
  writeFileSync(join(dir, name), 'of somebody');
  await expect(late.finish(facts)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  await late.abort();
  await late.close();
  await expect(targetOf().earlier(signal)).rejects.toMatchObject({
    code: 'BACKUP_EXISTS',
    message: expect.stringContaining(`${name} is there already`),
  });
  expect(readdirSync(dir)).toEqual([name]);
  expect(readFileSync(join(dir, name), 'utf8')).toBe('of somebody');
});

test('two runs for one name do not mix: the first one ends', async () => {
  const first = await begun();
  const second = await begun();
  await expect(first.finish(facts)).rejects.toMatchObject({ code: 'DISK_UNWRITABLE' });
  await first.abort();
  await first.close();
  await second.finish(facts);
  await second.close();
  expect(existsSync(path)).toBe(true);
});

test('a disk that is too small, or no directory, is told before anything is written', async () => {
  await expect(targetOf().begin(2 ** 50)).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringMatching(/has \d+ bytes free, and 1125899906842624 are to be written/),
  });
  await expect(new FileTarget(join(path, 'x'), markOf(undefined)).begin(0)).rejects.toMatchObject({
    code: 'DISK_UNWRITABLE',
  });
  expect(readdirSync(dir)).toEqual([]);
});

test('what an earlier attempt has finished is told, and stays as it is', async () => {
  await finished('w');
  const before = factsThere();
  linkSync(path, join(dir, unfinished));
  expect(await targetOf('w').earlier(signal)).toEqual(facts);
  expect(readdirSync(dir)).toEqual(['etcd.db', 'etcd.db.json']);
  expect(factsThere()).toEqual(before);
});

test.each<[string, string | undefined]>([
  ['of a run that has no writer', undefined],
  ['of an attempt at another backup', 'x'],
])('it is that of others to one %s', async (_, writer) => {
  await finished('w');
  await expect(targetOf(writer).earlier(signal)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  expect(readdirSync(dir)).toEqual(['etcd.db', 'etcd.db.json']);
});

test('what an earlier attempt has named and not finished is taken back', async () => {
  writeFileSync(join(dir, unfinished), 'snapshot');
  linkSync(join(dir, unfinished), path);
  await expect(targetOf().earlier(signal)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  await expect(targetOf('x').earlier(signal)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  await finished('w');
  expect(readdirSync(dir)).toEqual(['etcd.db', 'etcd.db.json']);
  expect(await targetOf('w').earlier(signal)).toEqual(facts);
});

test('a file of somebody beside our first name is not ours', async () => {
  writeFileSync(join(dir, unfinished), 'snapshot');
  writeFileSync(path, 'snapshot');
  await expect(targetOf('w').earlier(signal)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  expect(readFileSync(path, 'utf8')).toBe('snapshot');
});

test('facts with our mark that somebody made up are not ours', async () => {
  await finished('w');
  const made = { ...factsThere(), keys: 666 };
  writeFileSync(`${path}.json`, JSON.stringify(made));
  await expect(targetOf('w').earlier(signal)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  expect(factsThere()).toEqual(made);
});

test('a backup that is not as its facts say is not told, and not removed', async () => {
  await finished('w');
  writeFileSync(path, 'snapshoT');
  await expect(targetOf('w').earlier(signal)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  expect(readFileSync(path, 'utf8')).toBe('snapshoT');
  rmSync(path);
  // Facts of nothing are taken back.
  expect(await targetOf('w').earlier(signal)).toBeUndefined();
  expect(readdirSync(dir)).toEqual([]);
});

test('an attempt whose file was taken back by the next one leaves no facts', async () => {
  const cutOff = await begun('w');
  const late = {
    ...facts,
    get keys(): number {
      rmSync(path, { force: true });
      return 5;
    },
  };
  await expect(cutOff.finish(late)).rejects.toMatchObject({ code: 'DISK_UNWRITABLE' });
  await cutOff.abort();
  await cutOff.close();
  expect(readdirSync(dir)).toEqual([]);
});

test('a file that another run has just begun gets no name from us', async () => {
  const first = await begun('w');
  const { spool } = first;
  const isThere = spool.isThere.bind(spool);
  Object.assign(spool, {
    isThere: async () => {
      const was = await isThere();
      await begun('w').then((second) => second.close());
      return was;
    },
  });
  await expect(first.finish(facts)).rejects.toMatchObject({ code: 'DISK_UNWRITABLE' });
  await first.close();
  expect(readdirSync(dir)).toEqual([unfinished]);
});

test('stale facts of another attempt are no obstacle to the next one', async () => {
  const next = await begun('w');
  const stale = { ...facts, sha256: 'b'.repeat(64) };
  writeFileSync(`${path}.json`, textOfFacts(stale, markOf(SECRETS['w'])));
  await next.finish(facts);
  await next.close();
  expect(factsThere()).toMatchObject({ sha256 });
});
