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

export default defineConfig({
  test: {
    projects: [tier('unit', 10_000), tier('contract', 60_000), tier('integration', 60_000)],
  },
});
