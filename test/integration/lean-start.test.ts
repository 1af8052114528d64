// Functions that must be awake within milliseconds load what their first answer needs, and not what
// one `import` of node:fs brings along: promises, streams, readline and the history of a REPL.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { bundleFunction } from '../../knative/tools/build/build.ts';

/** Ends when the function listens, and tells what of Node was loaded then. */
const LISTED = `
  const out = process.stdout.write.bind(process.stdout);
  setInterval(() => {
    if (!process.getActiveResourcesInfo().includes('TCPServerWrap')) return;
    out('\\n' + JSON.stringify(process.moduleLoadList));
    process.exit(0);
  }, 10);
  import(process.env.MAIN);`;

test.each(['metadata', 'nats-cluster'])('%s starts without node:fs/promises', async (name) => {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-lean-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await bundleFunction(name, dir);
  const child = spawn(process.execPath, ['-e', LISTED], {
    env: { PORT: '0', NATS_URL: 'nats://127.0.0.1:1', MAIN: join(dir, 'index.js') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = (await text(child.stdout)).trim().split('\n');
  const loaded: unknown = JSON.parse(lines.at(-1) ?? '');
  expect(loaded).toContain('NativeModule net');
  expect(loaded).not.toContain('NativeModule internal/fs/promises');
});
