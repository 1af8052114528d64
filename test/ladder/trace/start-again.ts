// A reporter that forgets what vitest has read to find and sort test files: access times begin anew
// before the first setup.

import { execFileSync } from 'node:child_process';
import { lutimesSync } from 'node:fs';
import { join } from 'node:path';

/** Before all that a copy holds was written, so that each reading is noted. */
export const LONG_AGO = new Date(0);

/** Files that are committed, since others write to what is installed meanwhile. */
export function forgetReads(root: string): void {
  const told = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  const paths = told.split('\0').filter((path) => path !== '');
  for (const path of paths) lutimesSync(join(root, path), LONG_AGO, new Date());
}

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default class StartAgain {
  onTestRunStart(): void {
    forgetReads(process.cwd());
  }
}
