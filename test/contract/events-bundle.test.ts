// The output of `npm run build` is a directory that can be moved anywhere, starts alone, and loads
// its lazy chunks there.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFolder } from '../../knative/tools/build/build.ts';
import { prime } from '../../knative/tools/build/prime.ts';
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

async function runningFrom(link: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(link, 'index.js')], {
    env: { PORT: '0', WAITING_TOKEN: 'x', DRAIN_MINIMUM_SECONDS: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = `http://127.0.0.1:${await portOf(createInterface({ input: child.stdout }))}`;
  return { child, url };
}

it('runs from wherever it was moved to, with its code cache filled', async () => {
  await buildFolder(folder, join(dir, 'built'));
  await rename(await realpath(join(dir, 'built')), join(dir, 'moved'));
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

describe('a build of what was built before', () => {
  it('replaces it, and keeps that one and no other, though two ran at once', async () => {
    const home = join(dir, 'again');
    const link = join(home, 'waiting');
    // As builds before there were links left it.
    await mkdir(link, { recursive: true });
    await Promise.all([1, 2].map(() => buildFolder(folder, link)));
    await buildFolder(folder, link);
    const before = await realpath(link);
    await buildFolder(folder, link);
    const versions = await readdir(join(home, '.versions', 'waiting'));
    const kept = [before, await realpath(link)].map((path) => basename(path));
    expect(versions.toSorted()).toEqual(kept.toSorted());
    expect((await readdir(home)).toSorted()).toEqual(['.versions', 'waiting']);
    expect(await readdir(link)).toContain('index.js');
  });

  it('leaves running processes the chunks that they have yet to load', async () => {
    const link = join(dir, 'live');
    await buildFolder(folder, link);
    const { child, url } = await runningFrom(link);
    const version = await realpath(link);
    await writeFile(join(version, 'mark'), '');
    await buildFolder(folder, link);
    expect(await readdir(version)).toContain('mark');
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect(await (await fetch(url)).json()).toMatchObject({ name: waiting.name });
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('never leaves a moment without one', async () => {
    const link = join(dir, 'gapless');
    await buildFolder(folder, link);
    const state = { isBuilding: true };
    const building = buildFolder(folder, link).finally(() => (state.isBuilding = false));
    const missed: string[] = [];
    while (state.isBuilding) {
      const found = await readdir(link).catch((error: Error) => [error.message]);
      if (!found.includes('index.js')) missed.push(...found);
    }
    await building;
    expect(missed).toEqual([]);
  });
});

it('ends the process of a bundle that cannot be talked to', async () => {
  const mute = join(dir, 'mute');
  await mkdir(mute);
  const script = [
    "const { writeFileSync } = process.getBuiltinModule('node:fs');",
    "writeFileSync(import.meta.dirname + '/pid', String(process.pid));",
    "console.log('not JSON');",
    'setInterval(() => {}, 1000);',
  ];
  await writeFile(join(mute, 'index.js'), script.join('\n'));
  await writeFile(join(mute, 'package.json'), '{"type":"module"}');
  await expect(prime(mute, {})).rejects.toThrow('JSON');
  const pid = Number(await readFile(join(mute, 'pid'), 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

it('refuses to ship a function that does not start', async () => {
  const brokenFolder = resolve(import.meta.dirname, '../fixtures/events/broken');
  const build = buildFolder(brokenFolder, join(dir, broken.name));
  await expect(build).rejects.toThrow(/did not run.*no door opens/s);
  expect(await readdir(dir)).not.toContain(broken.name);
});
