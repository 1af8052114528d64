// Runs beside each test file and notes what the file cost. Each has a process of its own, so all
// that this process used is the file's: imports, tests, and the servers that it started and ended.

import { appendFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { env } from 'node:process';
import { afterAll, expect } from 'vitest';
import { processorSeconds } from './processor.ts';

const place = env['BALLAST_TIMES'];
const root = resolve(import.meta.dirname, '..');

// Registered before any hook of the file, so it runs after all of them.
if (place !== undefined) {
  afterAll(() => {
    const file = relative(root, expect.getState().testPath ?? '');
    const noted = { file, cpuSeconds: processorSeconds(), wallSeconds: performance.now() / 1000 };
    appendFileSync(place, `${JSON.stringify(noted)}\n`);
  });
}
