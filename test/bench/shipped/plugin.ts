// kubectl ballast as it ships, started by itself and by a real kubectl, beside that kubectl's own
// help and the same bundle run by Node.
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { buildPlugin } from '../../../knative/tools/build/plugin/build.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { outDir } from '../handlers/servers.ts';
import type { Sample } from '../runner.ts';
import { median } from '../verdict.ts';

const STARTS_PER_RUN = 11;

export interface Plugin {
  readonly throughKubectl: () => Promise<Sample>;
  readonly executable: () => Promise<Sample>;
  readonly kubectl: () => Promise<Sample>;
  readonly bundle: () => Promise<Sample>;
}

export async function openPlugin(): Promise<Plugin> {
  const dir = await buildPlugin(join(outDir, 'kubectl-ballast'));
  const kubectl = await resolvePart('kubectl');
  // kubectl looks for plugins on its PATH, and for its settings at home.
  const home = join(outDir, 'empty-home');
  await mkdir(home, { recursive: true });
  const env = { PATH: dir, HOME: home };
  const executable = join(dir, 'kubectl-ballast');
  const sizes = { kubectl: await sizesOf(kubectl), executable: await sizesOf(executable) };
  const help = (program: string, ...args: readonly string[]): Promise<Sample> =>
    helpTime(program, [...args, '--help'], env);
  return {
    throughKubectl: () => help(kubectl, 'ballast'),
    executable: async () => ({ ...(await help(executable)), ...sizes.executable }),
    kubectl: async () => ({ ...(await help(kubectl)), ...sizes.kubectl }),
    bundle: () => help(process.execPath, join(dir, 'kubectl-ballast.cjs')),
  };
}

async function helpTime(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Sample> {
  const times: number[] = [];
  for (let start = 0; start < STARTS_PER_RUN; start += 1) {
    const startedMs = performance.now();
    const { stdout } = await promisify(execFile)(program, args, { env });
    times.push(performance.now() - startedMs);
    if (!/usage/i.test(stdout)) throw new Error(`${program} --help said: ${stdout}`);
  }
  return { helpMs: median(times) };
}

async function sizesOf(program: string): Promise<Sample> {
  let gzipBytes = 0;
  await pipeline(createReadStream(program), createGzip(), async (chunks) => {
    for await (const chunk of chunks) gzipBytes += (chunk as Buffer).length;
  });
  return { bytes: (await stat(program)).size, gzipBytes };
}
