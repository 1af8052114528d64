// The removal of a stored backup: what goes, in which order, and what stays because it is another
// one; killed between both files it is carried on by the next run.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { runRemoval } from '../../../functions/etcd-backup/remove/command.ts';
import { FileStore } from '../../../functions/etcd-backup/remove/file-store.ts';
import {
  type Found,
  type FoundFacts,
  remove,
  type Store,
} from '../../../functions/etcd-backup/remove/remove.ts';

const { signal } = new AbortController();
const KNOWN = { sha256: 'a'.repeat(64), sizeBytes: 100 };

/** A store in memory, with its deletions in their order. */
class StoreModel implements Store {
  readonly name = 's3://backups/a.db';
  readonly deleted: string[] = [];
  readonly there = new Set(['facts', 'backup']);
  text = JSON.stringify(KNOWN);
  sizeBytes = KNOWN.sizeBytes;
  hash = KNOWN.sha256;
  hashed = 0;
  marks = { facts: 'u1.1', backup: 'u1.2' };
  /** Before each deletion. */
  onDelete: (what: string) => void = () => undefined;

  async facts(): Promise<FoundFacts | undefined> {
    if (!this.there.has('facts')) return undefined;
    return { ...this.#found('facts'), text: this.text };
  }

  async backup(): Promise<Found | undefined> {
    return this.there.has('backup') ? this.#found('backup') : undefined;
  }

  async sha256(): Promise<string> {
    this.hashed += 1;
    return this.hash;
  }

  #found(what: 'facts' | 'backup'): Found {
    return {
      sizeBytes: this.sizeBytes,
      writer: this.marks[what],
      delete: async () => {
        this.onDelete(what);
        this.deleted.push(what);
        this.there.delete(what);
      },
    };
  }
}

let store: StoreModel;
beforeEach(() => {
  store = new StoreModel();
});

test('the facts go first, and it is not read through', async () => {
  expect(await remove(store, KNOWN, signal)).toBe(true);
  expect(store.deleted).toEqual(['facts', 'backup']);
  expect(store.hashed).toBe(0);
});

test('killed between both, the next run knows it by its sha256', async () => {
  store.onDelete = (what) => {
    if (what === 'backup') throw new Error('killed');
  };
  await expect(remove(store, KNOWN, signal)).rejects.toThrow('killed');
  expect([...store.there]).toEqual(['backup']);
  store.onDelete = () => undefined;
  expect(await remove(store, KNOWN, signal)).toBe(true);
  expect([...store.there, store.hashed]).toEqual([1]);
});

test('what is gone already is no failure', async () => {
  store.there.clear();
  expect(await remove(store, KNOWN, signal)).toBe(false);
  store.there.add('facts');
  expect(await remove(store, KNOWN, signal)).toBe(true);
});

test.each<[string, (of: StoreModel) => void]>([
  ['its facts are of another', (of) => (of.text = JSON.stringify({ ...KNOWN, sha256: 'b' }))],
  ['its facts are no facts', (of) => (of.text = 'hello')],
  ['its facts say another size', (of) => (of.text = JSON.stringify({ ...KNOWN, sizeBytes: 1 }))],
  ['it has another size', (of) => (of.sizeBytes = 99)],
  [
    'it is marked by another, and is another one',
    (of) => {
      of.marks.backup = 'u2.1';
      of.hash = 'c'.repeat(64);
    },
  ],
  [
    'its facts are gone, and it is another one',
    (of) => {
      of.there.delete('facts');
      of.hash = 'c'.repeat(64);
    },
  ],
])('all stays when %s', async (_, change) => {
  change(store);
  await expect(remove(store, KNOWN, signal)).rejects.toMatchObject({ code: 'BACKUP_IS_OTHER' });
  expect(store.deleted).toEqual([]);
});

const dir = mkdtempSync(join(tmpdir(), 'removal-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function stored(name: string, content = 'a backup') {
  const path = join(dir, name);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const facts = { sha256, sizeBytes: content.length };
  writeFileSync(path, content);
  writeFileSync(`${path}.json`, JSON.stringify(facts));
  return { path, facts };
}

test('a file and its facts are removed', async () => {
  const { path, facts } = stored('a.db');
  expect(await remove(new FileStore(path), facts, signal)).toBe(true);
  expect([path, `${path}.json`].filter((one) => existsSync(one))).toEqual([]);
  expect(await remove(new FileStore(path), facts, signal)).toBe(false);
});

test('a file of other bytes stays, whatever its facts say', async () => {
  const { path, facts } = stored('b.db');
  writeFileSync(path, 'a bakcup');
  const removal = remove(new FileStore(path), facts, signal);
  await expect(removal).rejects.toMatchObject({ code: 'BACKUP_IS_OTHER' });
  expect(existsSync(`${path}.json`)).toBe(true);
});

test('a file that another one took the place of meanwhile stays', async () => {
  const { path } = stored('c.db');
  const found = await new FileStore(path).backup();
  rmSync(path);
  writeFileSync(path, 'another one');
  await expect(found?.delete()).rejects.toMatchObject({ code: 'BACKUP_IS_OTHER' });
  expect(readFileSync(path, 'utf8')).toBe('another one');
});

async function run(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
    isWatched: false,
  };
  const code = await runRemoval(args, terminal, signal);
  return { code, ...said };
}

test.each([
  [['--sha256', 'a'], 'say what to remove'],
  [['--remove', 'a.db', '--size', '1'], 'say which one: --sha256'],
  [['--remove', 'a.db', '--sha256', KNOWN.sha256], 'say which one: --size'],
  [['--remove', 'a.db', '--sha256', KNOWN.sha256, '--size', 'x'], '--size wants a whole number'],
  [['--remove', 's3://b', '--sha256', KNOWN.sha256, '--size', '1'], 's3://b is no object'],
  [['--remove', 'a.db', '--etcd', 'http://a'], 'there is no option --etcd'],
])('%j ends with 2', async (args, message) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(new RegExp(`^${message}[^]*\n\nusage: npm run backup -- --remove`));
});

test('it says what it did, on stdout and where it was asked for', async () => {
  const { path, facts } = stored('d.db');
  const result = join(dir, 'result');
  const known = ['--sha256', facts.sha256, '--size', `${facts.sizeBytes}`, '--result', result];
  const { code, out, err } = await run('--remove', path, ...known);
  expect([code, JSON.parse(out)]).toEqual([0, { outcome: 'done', removed: path }]);
  expect(readFileSync(result, 'utf8')).toBe(out);
  expect(err).toBe(`${path} is removed.\n`);
  const other = stored('e.db', 'other bytes');
  const wrong = await run('--remove', other.path, ...known);
  expect([wrong.code, JSON.parse(wrong.out)]).toMatchObject([
    1,
    { outcome: 'failed', error: { code: 'BACKUP_IS_OTHER' } },
  ]);
});

test('asked for help it removes nothing', async () => {
  expect(await run('--remove', '--help')).toMatchObject({ code: 0, err: '' });
});
