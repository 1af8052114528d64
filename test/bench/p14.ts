// P14: how fast a snapshot of 1.4 GB with history is audited, and in how much memory, beside
// etcdutl hashing the same file. Both read all of it; ours also checks the sha256 that etcd
// appends, which etcdutl does not. `etcdutl hashkv` writes into the file that it reads, so it has
// one of its own.

import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildFunction } from '../../knative/tools/build/build.ts';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import { writeBoltFile } from '../builders/bolt-file.ts';
import { history } from './p14-history.ts';
import type { Bench, Sample, Side } from './runner.ts';
import { watched } from './watched.ts';

const ours = 'storage-audit';
const status = 'etcdutl 3.6.16 snapshot status';
const hashKv = 'etcdutl 3.6.16 hashkv';
const bound = '128 MB';
const boundMb = 128;

const keys = 150_000;
const rounds = 5;

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
  const { exitCode, output, tookMs, memoryMb } = await watched(process.execPath, [bundle, file]);
  // The audit finds old objects: a third of the objects are in v1alpha1.
  if (exitCode !== 1 || !output.includes('v1alpha1')) {
    throw new Error(`the audit ended with ${exitCode}: ${output}`);
  }
  return { rate: sizeBytes / 1e3 / tookMs, memory: memoryMb };
}
