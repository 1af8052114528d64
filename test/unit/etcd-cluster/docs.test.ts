// Every reason for which an EtcdCluster waits is in the documents, with what to do, and is asserted
// by a test.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/etcd.md');
const CODE = ['functions/etcd-cluster', 'shared/stateful'];
const TESTS = [
  ...['etcd-cluster', 'etcd-peer', 'stateful', 'dead-letters'].map((one) => `test/unit/${one}`),
  'test/integration/etcd-cluster',
];
/** Reasons of conditions when nothing is amiss, and of Events about what was done. */
const WELL = ['Changing', 'NewEnough', 'NotDegraded', 'Quorum', 'Settled', 'Unconfirmed', 'Whole'];
const DONE = ['Compacted', 'Defragmented', 'Disarmed', 'LeaderMoved', 'LearnerAdded'];
const DONE_TO_MEMBERS = ['AuthorityLost', 'MemberRemoved', 'Promoted', 'UsersChanged'];
/** Written by etcd-peer or dead-letters, or made of an alarm or of a word for all kinds. */
const BY_OTHERS = ['ClaimKept', 'CrashLoopBackOff', 'NotSwept', 'StorageCannotGrow'];

async function textOf(folders: readonly string[]): Promise<string> {
  const files = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(join(ROOT, folder), { recursive: true });
      return names.filter((name) => name.endsWith('.ts')).map((name) => join(ROOT, folder, name));
    }),
  );
  const own = files.flat().filter((file) => file !== import.meta.filename);
  return (await Promise.all(own.map((file) => readFile(file, 'utf8')))).join('\n');
}

async function documented(): Promise<readonly string[]> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split('## When it waits');
  const [table = ''] = section.split('\n## ');
  const cells = [...table.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, one = '']) => one));
}

const WRITTEN = /(?:reason: |reasonFrom\(|awaited\(\s*|(?:AT_RISK|LOST) = )'([A-Z]\w+)'/g;

test('every reason to wait stands in docs/etcd.md, and no other', async () => {
  const found = [...(await textOf(CODE)).matchAll(WRITTEN)].map(([, word = '']) => word);
  const left = [...WELL, ...DONE, ...DONE_TO_MEMBERS];
  const reasons = new Set([...found, ...BY_OTHERS].filter((word) => !left.includes(word)));
  expect((await documented()).toSorted()).toEqual([...reasons].toSorted());
});

test('every reason to wait is asserted by a test', async () => {
  const tests = await textOf(TESTS);
  const unasserted = (await documented()).filter((one) => !new RegExp(`\\b${one}\\b`).test(tests));
  expect(unasserted).toEqual([]);
});

test('each test that the page about failures of others names is there', async () => {
  const page = await readFile(
    join(ROOT, 'docs/design/20261125-etcd-failures-of-others.md'),
    'utf8',
  );
  const named = [...page.matchAll(/`([^`]+\.test\.ts)`: \*([^*]+)\*/g)];
  expect(named.length).toBeGreaterThan(20);
  const gone = await Promise.all(
    named.map(async ([, file = '', title = '']) => {
      const text = await readFile(join(ROOT, 'test', file), 'utf8');
      return text.includes(`'${title}'`) ? [] : [`${file}: ${title}`];
    }),
  );
  expect(gone.flat()).toEqual([]);
});
