// Test files read nothing but what they are known to reach. It takes a copy of the repository, and
// is tried on files that start no servers; `node test/ladder/trace/main.ts` tries any other.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
const MAIN = resolve(ROOT, 'test/ladder/trace/main.ts');

/** vitest is started there, on a machine that may be busy. */
const TIME_MS = 120_000;

/** A ladder may leave out the files that are tried, and asks for times of its own alone. */
const { BALLAST_LEFT_OUT: _leftOut, BALLAST_TIMES: _times, ...outside } = env;

test.each([
  ['a page and the table that it is held against', 'test/unit/errors-docs.test.ts'],
  ['processes, and what they start', 'test/unit/process/run-directory.test.ts'],
  ['functions that are bundled by their names', 'test/integration/lean-start.test.ts'],
])('nothing but what is known is read by a test of %s', { timeout: TIME_MS }, async (_, path) => {
  const options = { cwd: ROOT, env: outside };
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, path], options);
  expect(stdout).toMatch(/^\S+: read [1-9]\d+ files, 0 of them unknown\n$/);
});
