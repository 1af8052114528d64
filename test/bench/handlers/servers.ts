// The three servers that P9 and P10 compare, each in the form in which it ships: our bundle, the
// peer as JavaScript beside its node_modules, and a bare node:http server. All run on the same
// node.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { buildFolder } from '../../../knative/tools/build/build.ts';

const root = resolve(import.meta.dirname, '../../..');
const echo = join(import.meta.dirname, 'echo');
/** Inside the repository, so that the peer finds its packages. */
export const outDir = join(root, 'dist/bench');

export const OURS = 'ballast';
export const PEER = 'faas-js-runtime';
export const BARE = 'node:http';

/** Builds all three; returns the script to start for each by name. */
export async function buildServers(): Promise<Readonly<Record<string, string>>> {
  const { dir } = await buildFolder(echo, join(outDir, 'echo'));
  await build({
    entryPoints: [join(echo, 'peer.ts'), join(echo, 'bare.ts')],
    outdir: outDir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    packages: 'external',
    format: 'cjs',
    platform: 'node',
    logLevel: 'warning',
  });
  return {
    [OURS]: join(dir, 'index.js'),
    [PEER]: join(outDir, 'peer.cjs'),
    [BARE]: join(outDir, 'bare.cjs'),
  };
}

export function startServer(script: string, port: number): ChildProcess {
  return spawn(process.execPath, [script], {
    cwd: outDir,
    // The second is for the function that ships; it is not called.
    env: { PORT: String(port), NATS_URL: 'nats://127.0.0.1:4222' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export async function endServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
