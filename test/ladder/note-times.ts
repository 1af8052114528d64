// Runs beside each test file and notes what the file cost. Each has a process of its own, so all
// that this process used is the file's: imports, tests, and the servers that it started and ended.

import { relative, resolve } from 'node:path';
import { afterAll, expect } from 'vitest';
import { note } from './noted.ts';
import { processorSeconds } from './processor.ts';

const root = resolve(import.meta.dirname, '..');

// Registered before any hook of the file, so it runs after all of them.
afterAll(() => {
  const file = relative(root, expect.getState().testPath ?? '');
  note({ file, cpuSeconds: processorSeconds(), wallSeconds: performance.now() / 1000 });
});
