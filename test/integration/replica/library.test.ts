// The replica as another program has it: by the name that the package gives it, next to nothing
// else of ours; of a clone, and of the package that is packed for npm.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { emitReader } from '../../../knative/tools/build/reader/build.ts';
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

/** Strict in all that a compiler can be, of declarations too. */
const STRICT = {
  target: 'es2024',
  lib: ['es2024', 'esnext.iterator', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
};

const TYPED_PROGRAM = `
import { type Change, type Entry, type ReplicaOptions, openReplica } from 'ballast/replica';
const options: ReplicaOptions = {
  url: process.env['NATS_URL'] ?? '',
  feed: process.env['FEED'] ?? '',
  scope: { node: 'n1' },
};
const replica = openReplica(options);
const version: number = await replica.whenCurrent({ signal: AbortSignal.timeout(30_000) });
const ips: readonly Entry[] = replica.catalog.byIp('10.1.2.3');
const told = (change: Change): string =>
  change.type === 'resync' ? '' : [change.entry.key.name, change.entry.object.phase].join(' ');
for await (const change of replica.changes()) {
  console.log(version > 0, ips[0]?.key.name, told(change));
  break;
}
// @ts-expect-error -- nothing is called so
replica.catalog.byNobody;
await replica.close();
`;

/** Those about other packages, which are compiled less strictly, are for these to hear. */
async function complaints(compiling: Promise<unknown>): Promise<readonly string[]> {
  const said = await compiling.then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  const lines = said.split('\n').filter((line) => /^\S/.test(line));
  return lines.filter((line) => !line.includes('node_modules/nats/'));
}

/** Those that npm would fetch: a test asks no registry, and has them here. */
async function linkPackages(modules: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
}

test('the packed package is installed, compiled against and run', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('web-0'), { phase: 'Running', ips: ['10.1.2.3'] });
  const directory = await mkdtemp(join(tmpdir(), 'ballast-reader-'));
  const run = (command: string, args: readonly string[], cwd = directory) =>
    promisify(execFile)(command, args, {
      cwd,
      env: { ...process.env, NATS_URL: world.url, FEED: feed.feed },
    });
  try {
    const [built, modules] = [join(directory, 'built'), join(directory, 'node_modules')];
    await mkdir(join(modules, '@types'), { recursive: true });
    await mkdir(built);
    await emitReader(built);
    const packed = await run('npm', ['pack', '--offline', '--pack-destination', directory], built);
    await run('tar', ['xzf', packed.stdout.trim()]);
    await run('mv', ['package', join(modules, 'ballast')]);
    const manifest = await readFile(join(modules, 'ballast/package.json'), 'utf8');
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
    await linkPackages(modules, [...Object.keys(dependencies), '@types/node']);
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await writeFile(join(directory, 'agent.ts'), TYPED_PROGRAM);
    const files = { compilerOptions: STRICT, files: ['agent.ts'] };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(files));
    expect(await complaints(run(join(ROOT, 'node_modules/.bin/tsc'), []))).toEqual([]);
    const { stdout } = await run(process.execPath, ['agent.js']);
    expect(stdout).toBe('true web-0 web-0 Running\n');
  } finally {
    await rm(directory, { recursive: true });
  }
});
