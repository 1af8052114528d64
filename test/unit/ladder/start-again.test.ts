// Access times begin anew in a copy of the repository, and nowhere else.
import { execFileSync } from 'node:child_process';
import { statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forgetReads, LONG_AGO } from '../../ladder/trace/start-again.ts';

const ONCE = new Date(1_000_000);

async function dirWith(name: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-start-again-'));
  writeFileSync(join(dir, name), '');
  utimesSync(join(dir, name), ONCE, ONCE);
  return dir;
}

test('reads of a copy are forgotten, and what is installed beside it is not touched', async () => {
  const [copy, installed] = await Promise.all([dirWith('read'), dirWith('compiled')]);
  try {
    execFileSync('git', ['init', '-q'], { cwd: copy });
    execFileSync('git', ['add', '--all'], { cwd: copy });
    symlinkSync(installed, join(copy, 'node_modules'));
    // Another process writes its cache there, and takes a file away at any time.
    symlinkSync(join(installed, 'gone'), join(installed, 'renamed'));
    forgetReads(copy);
    expect(statSync(join(copy, 'read')).atime).toEqual(LONG_AGO);
    expect(statSync(join(installed, 'compiled')).atime).toEqual(ONCE);
  } finally {
    for (const dir of [copy, installed]) await rm(dir, { recursive: true });
  }
});
