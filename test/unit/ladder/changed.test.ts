// `npm test -- --changed`: a rung or a test file is left out only when nothing that it can reach
// has changed since it passed.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { climb, total } from '../../ladder/climb.ts';
import type { Outcome } from '../../ladder/outcome.ts';
import { Passed } from '../../ladder/passed.ts';
import type { Rung } from '../../ladder/rungs.ts';

/** Git and Node are started a few times, on a machine that may be busy. */
vi.setConfig({ testTimeout: 80_000 });

const A = 'test/unit/a.test.ts';
const B = 'test/unit/b.test.ts';
const SETUP = 'test/setup.ts';
/** Stands for vitest: what is named in `fail` fails, and the rest passes unless it is left out. */
const RUNNER = `
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const leftOut = JSON.parse(process.env.BALLAST_LEFT_OUT ?? '[]');
  const failing = existsSync('node_modules/fail') ? readFileSync('node_modules/fail', 'utf8') : '';
  const path = process.argv.find((one) => one.startsWith('--outputFile.json=')).slice(18);
  const files = ${JSON.stringify([A, B])}.filter((name) => !leftOut.includes(name));
  const testResults = files.map((name) => {
    const status = failing.includes(name) ? 'failed' : 'passed';
    return { name, status, assertionResults: [{ status, fullName: name }] };
  });
  writeFileSync(path, JSON.stringify({ testResults }));
  if (failing.includes('outside')) console.log('Unhandled Errors');
  if (failing.includes('edit')) require('node:fs').appendFileSync('shared/b.ts', '// more');
  process.exitCode = failing === '' ? 0 : 1;`;

let root = '';
let settings = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ballast-changed-'));
  settings = 'one';
  const before = process.cwd();
  process.chdir(root);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(root, { recursive: true });
  });
  execFileSync('git', ['init', '-q']);
  const files = {
    '.gitignore': 'node_modules/\n',
    'package-lock.json': '{}',
    'node_modules/runner.cjs': RUNNER,
    'docs/a.md': 'one',
    'shared/b.ts': "import './c.ts';",
    'shared/c.ts': 'export const c = 1;',
    'shared/d.ts': 'export const d = 1;',
    [A]: "import '../../shared/d.ts';",
    [B]: "import '../../shared/b.ts';",
    [SETUP]: '',
  };
  for (const [path, text] of Object.entries(files)) put(path, text);
  execFileSync('git', ['add', '.']);
});

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const of = (name: Rung['name'], more: Partial<Rung>): Rung => ({
  name,
  title: name,
  commands: [['node', '-e', '']],
  boundMs: 60_000,
  needs: [],
  slots: 1,
  counts: 'one',
  shows: 'on failure',
  ...more,
});

const lint = of('lint', { isOfAll: true });
const unit = of('unit', {
  commands: [['node', 'node_modules/runner.cjs']],
  counts: 'tests',
  projects: ['unit'],
});

async function climbed(ladder: readonly Rung[], onlyChanged = true): Promise<Outcome[]> {
  const by = { signal: new AbortController().signal, slots: 2, print: () => undefined };
  const filesOf = () => [A, B].map((path) => ({ path, setup: [SETUP], settings }));
  return climb(ladder, { ...by, passed: new Passed(root, filesOf), onlyChanged });
}

const states = async (ladder: readonly Rung[], onlyChanged = true): Promise<readonly string[]> =>
  (await climbed(ladder, onlyChanged)).map(({ state }) => state);

/** The test files that are left out now. */
const leftOut = async (): Promise<readonly string[]> =>
  (await climbed([unit])).flatMap(({ unchanged }) => unchanged);

test('a rung that passed is left out, and what needs it is not', async () => {
  const both = [lint, { ...unit, needs: ['lint'] }] as const;
  expect(await states([lint], false)).toEqual(['passed']);
  expect(await states(both)).toEqual(['unchanged', 'passed']);
  expect(await states(both)).toEqual(['unchanged', 'unchanged']);
  expect(total(await climbed(both), true)).toBe('0 passed, 0 failed');
  expect(await states(both, false)).toEqual(['passed', 'passed']);
});

test('a rung of which nobody knows what it reaches is always climbed', async () => {
  const always = of('bundles', {});
  expect([await states([always]), await states([always])]).toEqual([['passed'], ['passed']]);
});

test.each([
  ['what one imports', 'shared/d.ts', [B]],
  ['what is imported by what one imports', 'shared/c.ts', [A]],
  ['a test file itself', A, [B]],
  ['what is set up before all', SETUP, []],
  ['the lock file', 'package-lock.json', []],
  ['what is installed', 'node_modules/.package-lock.json', []],
  ['what none reaches', 'docs/a.md', [A, B]],
  ['a file that is not added yet, and none reaches', 'new.ts', [A, B]],
])('%s has changed', async (_what, path, expected) => {
  expect(await leftOut()).toEqual([]);
  appendFileSync(path, ' // more');
  expect(await leftOut()).toEqual(expected);
});

test('what has changed is said to be run, and the rest by number', async () => {
  await climbed([unit]);
  appendFileSync('shared/d.ts', ' // more');
  const [outcome] = await climbed([unit]);
  expect(outcome).toMatchObject({ state: 'passed', passed: 1, unchanged: [B] });
  const why = 'nothing that they reach has changed since they passed here';
  expect(outcome?.notes).toEqual([`1 of 2 files left out: ${why}`]);
});

test('a file that is gone has changed, and one that is as it was has not', async () => {
  await leftOut();
  rmSync('shared/c.ts');
  expect(await leftOut()).toEqual([A]);
  writeFileSync('shared/c.ts', 'export const c = 1;');
  expect(await leftOut()).toEqual([A, B]);
});

test('other settings of a project are a change of its files', async () => {
  await leftOut();
  settings = 'other';
  expect(await leftOut()).toEqual([]);
});

describe('what did not pass runs again', () => {
  test('a test file that failed, also when it passed before; and it alone', async () => {
    await leftOut();
    put('node_modules/fail', A);
    expect(await states([unit], false)).toEqual(['failed']);
    expect(await leftOut()).toEqual([B]);
    rmSync('node_modules/fail');
    expect([await leftOut(), await leftOut()]).toEqual([[B], [A, B]]);
  });

  test('a rung that failed', async () => {
    const exits = "process.exitCode = require('node:fs').existsSync('node_modules/fail') ? 1 : 0";
    const moody = of('lint', { isOfAll: true, commands: [['node', '-e', exits]] });
    expect(await states([moody])).toEqual(['passed']);
    put('node_modules/fail', '');
    expect(await states([moody], false)).toEqual(['failed']);
    expect(await states([moody])).toEqual(['failed']);
  });

  test.each([
    ['no test is to blame for the failure', 'nothing of them'],
    ['one failed, and there was an error outside of tests', `${A} outside`],
  ])('all files, when %s', async (_case, failing) => {
    put('node_modules/fail', failing);
    expect(await states([unit])).toEqual(['failed']);
    expect(await leftOut()).toEqual([]);
  });

  test('a file of which something was edited meanwhile, and it alone', async () => {
    put('node_modules/fail', 'edit');
    // With no exit code, all passed.
    put('node_modules/runner.cjs', RUNNER.replace("failing === '' ? 0 : 1", '0'));
    expect(await states([unit])).toEqual(['passed']);
    rmSync('node_modules/fail');
    writeFileSync('shared/b.ts', "import './c.ts';");
    expect(await leftOut()).toEqual([A]);
  });
});
