// `npm test -- --changed`: a rung is left out only when nothing that it can reach has changed since
// it passed.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { climb, total } from '../../ladder/climb.ts';
import { Passed } from '../../ladder/passed.ts';
import { type Rung, rungs } from '../../ladder/rungs.ts';

/** Git and Node are started a few times, on a machine that may be busy. */
vi.setConfig({ testTimeout: 80_000 });

const ROOT = resolve(import.meta.dirname, '../../..');
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ballast-changed-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  execFileSync('git', ['init', '-q'], { cwd: root });
  mkdirSync(join(root, 'test/bench'), { recursive: true });
  writeFileSync(join(root, '.gitignore'), 'node_modules/\n');
  for (const name of ['package-lock.json', 'a.ts', 'test/bench/b.ts']) {
    writeFileSync(join(root, name), 'one');
  }
  execFileSync('git', ['add', '.'], { cwd: root });
});

const rung = (name: Rung['name'], script: string, unreached: readonly string[]): Rung => ({
  name,
  title: name,
  commands: [['node', '-e', script]],
  boundMs: 60_000,
  needs: [],
  slots: 1,
  counts: 'one',
  shows: 'on failure',
  unreached,
});

const lint = rung('lint', '', []);
const unit = { ...rung('unit', '', ['test/bench/']), needs: ['lint'] } as const;

async function climbed(ladder: readonly Rung[], onlyChanged = true) {
  const by = { signal: new AbortController().signal, slots: 2, print: () => undefined };
  return climb(ladder, { ...by, passed: new Passed(root), onlyChanged });
}

const states = async (ladder: readonly Rung[], onlyChanged = true): Promise<readonly string[]> =>
  (await climbed(ladder, onlyChanged)).map(({ state }) => state);

test('a rung that passed is left out, and what needs it is not', async () => {
  expect(await states([lint], false)).toEqual(['passed']);
  expect(await states([lint, unit])).toEqual(['unchanged', 'passed']);
  expect(await states([lint, unit])).toEqual(['unchanged', 'unchanged']);
  expect(total(await climbed([lint, unit]), true)).toBe('0 passed, 0 failed');
  expect(await states([lint], false)).toEqual(['passed']);
});

test.each([
  ['a file that it reaches', 'a.ts', ['passed', 'passed']],
  ['the lock file', 'package-lock.json', ['passed', 'passed']],
  ['a file that is not added yet', 'new.ts', ['passed', 'passed']],
  ['a file that one does not reach', 'test/bench/b.ts', ['passed', 'unchanged']],
])('%s has changed', async (_what, path, after) => {
  await states([lint, unit]);
  appendFileSync(join(root, path), 'more');
  expect(await states([lint, unit])).toEqual(after);
});

test('a file that is gone has changed, and one that is as it was has not', async () => {
  await states([lint]);
  rmSync(join(root, 'a.ts'));
  expect(await states([lint])).toEqual(['passed']);
  writeFileSync(join(root, 'a.ts'), 'one');
  expect(await states([lint])).toEqual(['unchanged']);
});

test('a rung that failed is climbed again, also when it passed before', async () => {
  const flag = join(root, 'node_modules', 'flag');
  const isThere = `require('node:fs').existsSync(${JSON.stringify(flag)})`;
  const script = `process.exitCode = ${isThere} ? 1 : 0`;
  const moody = rung('lint', script, []);
  expect(await states([moody])).toEqual(['passed']);
  writeFileSync(flag, '');
  expect(await states([moody], false)).toEqual(['failed']);
  expect(await states([moody])).toEqual(['failed']);
});

test('a rung during which a file changed is not remembered', async () => {
  const path = JSON.stringify(join(root, 'a.ts'));
  const edits = rung('lint', `require('node:fs').appendFileSync(${path}, 'x')`, []);
  expect(await states([edits])).toEqual(['passed']);
  writeFileSync(join(root, 'a.ts'), 'one');
  expect(await states([edits])).toEqual(['passed']);
});

test('a rung that says nothing of what it reaches is always climbed', async () => {
  const { unreached: _, ...always } = lint;
  expect([await states([always]), await states([always])]).toEqual([['passed'], ['passed']]);
});

describe('what a rung of tests does not reach', () => {
  const where = (name: string): string =>
    name === 'knative' ? 'test/cluster' : `test/${name.split(':')[0]}`;

  test.each(
    rungs.filter(({ counts }) => counts === 'tests').map((one) => [one.name, one] as const),
  )('is named by no file that %s reaches', async (name, { unreached = [] }) => {
    const all = await readdir(join(ROOT, where(name)), { recursive: true });
    const reached = new Set(all.filter((path) => path.endsWith('.ts')).map(fromTop(name)));
    for (const path of reached) {
      for (const next of await named(path)) reached.add(next);
    }
    const wrong = [...reached].filter((path) => unreached.some((one) => path.startsWith(one)));
    expect(wrong).toEqual([]);
  });

  const fromTop = (name: string) => (path: string) => join(where(name), path);

  /** Imports, and programs that a test starts. */
  async function named(path: string): Promise<readonly string[]> {
    const text = await readFile(join(ROOT, path), 'utf8').catch(() => '');
    const found = [...text.matchAll(/['"`](\.{1,2}\/[^'"`\n]+\.ts)['"`]/g)];
    return found.map(([, to = '']) => relative(ROOT, resolve(ROOT, dirname(path), to)));
  }
});
