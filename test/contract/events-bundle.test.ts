// What `npm run build` makes: a directory that can be moved anywhere, starts alone, and loads its
// lazy chunks there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildFolder } from '../../knative/build/build.ts';
import { broken } from '../fixtures/events/broken/index.ts';
import { waiting } from '../fixtures/events/waiting/index.ts';

const folder = resolve(import.meta.dirname, '../fixtures/events/waiting');
let dir = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-bundle-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function portOf(lines: AsyncIterable<string>): Promise<number> {
  for await (const line of lines) {
    const { message, port } = JSON.parse(line) as Record<string, unknown>;
    if (message === 'listening') return Number(port);
  }
  throw new Error('It ended before it listened.');
}

it('runs from wherever it was moved to, with its code cache filled', async () => {
  await buildFolder(folder, join(dir, 'built'));
  await rename(join(dir, 'built'), join(dir, 'moved'));
  expect(await readdir(join(dir, 'moved', 'compile-cache'))).toHaveLength(1);
  const child = spawn(process.execPath, [join(dir, 'moved', 'index.js')], {
    cwd: '/',
    env: { PORT: '0', WAITING_TOKEN: 'x', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let trace = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (trace += text));
  const lines = createInterface({ input: child.stdout });
  const url = `http://127.0.0.1:${await portOf(lines)}`;
  expect(await (await fetch(url)).json()).toMatchObject({ name: waiting.name, version: '0.1.0' });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('ballast_build_info');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(trace).toMatch(/main\.js.*was accepted/);
});

it('replaces the build before it, and leaves nothing beside it', async () => {
  await Promise.all([1, 2].map(() => buildFolder(folder, join(dir, 'twice'))));
  await buildFolder(folder, join(dir, 'twice'));
  expect((await readdir(dir)).toSorted()).toEqual(['moved', 'twice']);
  expect(await readdir(join(dir, 'twice'))).toContain('index.js');
});

it('refuses to ship a function that does not start', async () => {
  const brokenFolder = resolve(import.meta.dirname, '../fixtures/events/broken');
  const build = buildFolder(brokenFolder, join(dir, broken.name));
  await expect(build).rejects.toThrow(/did not run.*no door opens/s);
  expect(await readdir(dir)).not.toContain(broken.name);
});
