// A reporter that forgets what vitest has read to find and sort test files: access times begin anew
// before the first setup.

import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

/** Before all that a copy holds was written, so that each reading is noted. */
export const LONG_AGO = new Date(0);

export function forgetReads(root: string): void {
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) utimesSync(path, LONG_AGO, new Date());
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default class StartAgain {
  onTestRunStart(): void {
    forgetReads(process.cwd());
  }
}
