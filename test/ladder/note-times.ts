// Runs beside each test file and notes what the file cost: all that this process used since the
// file before, if there was one. Imports, tests, and the servers that it started and ended.

import { relative, resolve } from 'node:path';
import { afterAll, expect } from 'vitest';
import { note } from './noted.ts';
import { processorSeconds } from './processor.ts';

const root = resolve(import.meta.dirname, '..');
/** This module is loaded once more for each test file, and the process stays. */
const BEFORE = Symbol.for('ballast: what the files before cost');
const files = globalThis as { [BEFORE]?: { cpuSeconds: number; wallSeconds: number } };

// Registered before any hook of the file, so it runs after all of them.
afterAll(() => {
  const file = relative(root, expect.getState().testPath ?? '');
  const before = files[BEFORE] ?? { cpuSeconds: 0, wallSeconds: 0 };
  const now = { cpuSeconds: processorSeconds(), wallSeconds: performance.now() / 1000 };
  note({
    file,
    cpuSeconds: now.cpuSeconds - before.cpuSeconds,
    wallSeconds: now.wallSeconds - before.wallSeconds,
  });
  files[BEFORE] = now;
});
