// P14: how fast a snapshot of 1.4 GB with history is audited, and in how much memory, beside
// etcdutl hashing the same file. Both read all of it; ours also checks the sha256 that etcd
// appends, which etcdutl does not. `etcdutl hashkv` writes into the file that it reads, so it has
// one of its own.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildFunction } from '../../knative/tools/build/build.ts';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import { writeBoltFile } from '../builders/bolt-file.ts';
import { history } from './p14-history.ts';
import type { Bench, Sample, Side } from './runner.ts';

const ours = 'storage-audit';
const status = 'etcdutl 3.6.16 snapshot status';
const hashKv = 'etcdutl 3.6.16 hashkv';
const bound = '128 MB';
const boundMb = 128;

const keys = 150_000;
const rounds = 5;
/** The kernel keeps the highest value itself; only what comes in the last moment is missed. */
const memoryLookMs = 20;

const run = promisify(execFile);

const rate = { unit: 'MB/s', ours, sample: 'rate', limit: 0.5, better: 'higher' } as const;

export const bench: Bench = {
  id: 'P14',
  title: 'Audit of a snapshot of 1.4 GB: bytes per second, memory',
  pairs: 5,
  figures: [
    { name: 'rate', against: status, ...rate },
    { name: 'rate beside hashkv', against: hashKv, ...rate },
    { name: 'memory', unit: 'MB', ours, against: bound, limit: 1, better: 'lower' },
  ],
  open: async () => {
    const dir = await mkdtemp(join(tmpdir(), 'p14-'));
    const close = (): Promise<void> => rm(dir, { recursive: true, force: true });
    try {
      const file = join(dir, 'snapshot.db');
      const own = join(dir, 'hashkv.db');
      const sizeBytes = writeBoltFile(file, history(keys, rounds));
      await copyFile(file, own);
      const built = await buildFunction('storage-audit', join(dir, 'dist'));
      const bundle = join(built.dir, 'storage-audit.mjs');
      const etcdutl = await resolvePart('etcdutl');
      const peer = (name: string, ...args: readonly string[]): Side => ({
        name,
        run: async () => ({ rate: await rateOf(sizeBytes, run(etcdutl, args, { env: {} })) }),
      });
      const sides = [
        { name: ours, run: () => audit(bundle, file, sizeBytes) },
        peer(status, 'snapshot', 'status', file),
        peer(hashKv, 'hashkv', own),
        { name: bound, run: async () => ({ memory: boundMb }) },
      ];
      return { sides, close };
    } catch (error) {
      await close();
      throw error;
    }
  },
};

async function rateOf(sizeBytes: number, work: Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work;
  return sizeBytes / 1e3 / (performance.now() - startedMs);
}

async function audit(bundle: string, file: string, sizeBytes: number): Promise<Sample> {
  let memory = Number.NaN;
  const work = new Promise<void>((resolve, reject) => {
    const child = execFile(process.execPath, [bundle, file], { env: {} }, (error, out, err) => {
      clearInterval(looking);
      // The audit finds old objects: a third of the objects are in v1alpha1.
      if (error?.code === 1 && out.includes('v1alpha1')) resolve();
      else reject(new Error(`the audit ended with ${error?.code ?? 0}: ${out}${err}`));
    });
    const looking = setInterval(() => {
      memory = highWaterMb(child.pid) ?? memory;
    }, memoryLookMs);
  });
  return { rate: await rateOf(sizeBytes, work), memory };
}

/** Undefined for a process that has ended. */
function highWaterMb(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1];
    return found === undefined ? undefined : (Number(found) * 1024) / 1e6;
  } catch {
    return undefined;
  }
}
