// Runs .ci/run with an npm of our own making: its closing line and its exit code must agree with
// what happened, whatever happened.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ciRun = resolve(import.meta.dirname, '../../../.ci/run');
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ballast-ci-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function run(npm: string) {
  writeFileSync(join(directory, 'npm'), `#!/usr/bin/env bash\n${npm}\n`, { mode: 0o755 });
  const path = `${directory}${delimiter}${env['PATH'] ?? ''}`;
  const { status, stdout } = spawnSync(ciRun, { env: { ...env, PATH: path }, encoding: 'utf8' });
  return { status, last: stdout.trimEnd().split('\n').at(-1) };
}

const onTest = (script: string): string => `[[ $1 == ci ]] && exit 0\n${script}`;

test.each([
  ['a green ladder', onTest('echo "7 passed, 0 failed"'), 0, '7 passed, 0 failed'],
  ['a red ladder', onTest('echo "7 passed, 2 failed"; exit 1'), 1, '7 passed, 2 failed'],
  ['words after it', onTest('echo "7 passed, 0 failed"; echo bye'), 0, '7 passed, 0 failed'],
  ['an install that fails', '[[ $1 == ci ]] && exit 9', 9, '0 passed, 1 failed'],
  ['a crash', onTest('echo "7 passed, 0 failed"; exit 4'), 4, '0 passed, 1 failed'],
  ['silence', onTest('exit 0'), 1, '0 passed, 1 failed'],
  ['a red line with exit 0', onTest('echo "7 passed, 1 failed"'), 1, '7 passed, 1 failed'],
  ['CI', onTest('echo "1 passed, 0 failed $CI" | sed "s/ true//"'), 0, '1 passed, 0 failed'],
])('closes rightly after %s', (_case, npm, status, last) => {
  expect(run(npm)).toEqual({ status, last });
});
