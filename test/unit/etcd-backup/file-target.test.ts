// A backup in a file: it has its name only when it was finished, and takes that of no other file.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Facts } from '../../../functions/etcd-backup/facts.ts';
import { FileTarget } from '../../../functions/etcd-backup/file-target.ts';

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'file-target-'));
  path = join(dir, 'etcd.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const facts = { kind: 'etcd-backup/v1', keys: 1 } as Facts;
const part = { bytes: Buffer.from('snapshot'), number: 1, offset: 0 };

async function begun(): Promise<FileTarget> {
  const target = new FileTarget(path, 0);
  await target.begin();
  await target.send(part);
  return target;
}

test('has its name, and its facts, when it is finished', async () => {
  const target = await begun();
  expect(readdirSync(dir)).toEqual(['etcd.db.unfinished']);
  await target.finish(facts);
  await target.close();
  expect(readdirSync(dir)).toEqual(['etcd.db', 'etcd.db.json']);
  expect(readFileSync(path, 'utf8')).toBe('snapshot');
  expect(JSON.parse(readFileSync(`${path}.json`, 'utf8'))).toEqual(facts);
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
  await expect(new FileTarget(path, 0).begin()).rejects.toMatchObject({
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
  await expect(new FileTarget(path, 2 ** 50).begin()).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringMatching(/has \d+ bytes free, and 1125899906842624 are to be written/),
  });
  await expect(new FileTarget(join(path, 'x'), 0).begin()).rejects.toMatchObject({
    code: 'DISK_UNWRITABLE',
  });
  expect(readdirSync(dir)).toEqual([]);
});
