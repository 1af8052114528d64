// Runs a test file in a copy of the repository and tells what was read there, by whatever process:
// file systems note when a file was last read. So it is seen whether `reach/` knows of all.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readRepository } from '../reach/repository.ts';
import { forgetReads, LONG_AGO } from './start-again.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Answers files of the repository, from its top. Rejects when the test does not pass: it may have
 * read less than it would.
 */
export async function traced(test: string): Promise<readonly string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'ballast-traced-'));
  try {
    const paths = await copyTo(copy);
    await assertNoted(copy);
    const options = { cwd: copy, maxBuffer: OUTPUT_BYTES_MAX };
    const reporter = join(copy, 'test/ladder/trace/start-again.ts');
    const args = ['run', test, '--reporter=default', `--reporter=${reporter}`];
    const vitest = join(ROOT, 'node_modules/.bin/vitest');
    await promisify(execFile)(vitest, args, options);
    const times = await Promise.all(paths.map(async (path) => stat(join(copy, path))));
    return paths.filter((_, at) => (times[at]?.atimeMs ?? 0) > LONG_AGO.getTime());
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** As a clone of its own, for what asks Git; what is installed and built is shared. */
async function copyTo(copy: string): Promise<readonly string[]> {
  const paths = [...(await readRepository(ROOT, new Map())).keys()];
  for (const path of paths)
    await cp(join(ROOT, path), join(copy, path), { verbatimSymlinks: true });
  const git = async (...args: readonly string[]) => promisify(execFile)('git', args, { cwd: copy });
  await git('init', '-q');
  await git('add', '--all');
  const who = ['-c', 'user.name=traced', '-c', 'user.email=traced@example.com'];
  await git(...who, 'commit', '-q', '--message', 'A copy');
  for (const name of ['node_modules', 'dist']) {
    if (existsSync(join(ROOT, name))) await symlink(join(ROOT, name), join(copy, name));
  }
  return paths;
}

/** Some file systems are told not to note it. */
async function assertNoted(copy: string): Promise<void> {
  const path = join(copy, 'package.json');
  forgetReads(copy);
  await readFile(path);
  if ((await stat(path)).atimeMs > LONG_AGO.getTime()) return;
  throw new Error(`${dirname(copy)} does not note when files are read: set TMPDIR to where it is`);
}
