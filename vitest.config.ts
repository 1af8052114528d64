// One project per rung of the ladder: unit needs nothing, contract and integration need the real
// parts. The bounds are for a loaded machine; a test that meets one hangs.

import { defineConfig } from 'vitest/config';

const tier = (name: string, timeoutMs: number) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
  },
});

/**
 * Tests on real parts wait for most of their time: for servers that come up, and for sweeps. Beside
 * each other they keep two cores busy, and each brings its own servers.
 */
const FILES_AT_ONCE = 3;

export default defineConfig({
  test: {
    maxWorkers: FILES_AT_ONCE,
    projects: [
      tier('unit', 10_000),
      tier('contract', 60_000),
      tier('integration', 60_000),
      tier('cluster', 180_000),
    ],
  },
});
