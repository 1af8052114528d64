// The replica as another program has it: by the name that the package gives it, next to nothing
// else of ours.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type World, node1, pod, withWorld } from './world.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROGRAM = `
import { openReplica, parseSelector } from 'ballast/replica';
const { NATS_URL: url, FEED: feed } = process.env;
const replica = openReplica({ url, feed, scope: { node: 'n1' } });
await replica.whenCurrent();
const labels = parseSelector('app=web,tier notin (cache)');
if (typeof labels === 'string') throw new Error(labels);
const found = replica.catalog.select({ resource: 'pods', labels });
for (const { key, object } of found) console.log(key.name, object.phase);
await replica.close();
`;

let world: World;

withWorld((opened) => {
  world = opened;
});

test('a program that has the package beside it imports ballast/replica', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('web-0'), { phase: 'Running', labels: { app: 'web' } });
  await feed.put(node1, pod('web-1'), { phase: 'Running', labels: { app: 'web', tier: 'cache' } });
  const directory = await mkdtemp(join(tmpdir(), 'ballast-library-'));
  try {
    await mkdir(join(directory, 'node_modules'));
    // The files of `npm install ../ballast`.
    await symlink(ROOT, join(directory, 'node_modules', 'ballast'));
    await writeFile(join(directory, 'agent.mjs'), PROGRAM);
    const env = { ...process.env, NATS_URL: world.url, FEED: feed.feed };
    const options = { cwd: directory, env };
    const { stdout } = await promisify(execFile)(process.execPath, ['agent.mjs'], options);
    expect(stdout).toBe('web-0 Running\n');
  } finally {
    await rm(directory, { recursive: true });
  }
});
