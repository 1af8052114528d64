// The reader of the feed as npm packs it, and what a program would watch pods with otherwise.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { buildReader } from '../../../knative/tools/build/reader/build.ts';
import { outDir } from '../handlers/servers.ts';

const CLIENT = resolve(import.meta.dirname, '../../../node_modules/@kubernetes/client-node');

export interface Packed {
  readonly reader: number;
  readonly client: number;
}

export async function packedBytes(): Promise<Packed> {
  const reader = await buildReader(join(outDir, 'reader'));
  return { reader: await sizeOf(reader), client: await sizeOf(CLIENT) };
}

async function sizeOf(directory: string): Promise<number> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', directory];
  const { stdout } = await promisify(execFile)('npm', args, { maxBuffer: 1 << 24 });
  const [packed] = JSON.parse(stdout) as readonly { readonly size: number }[];
  return packed?.size ?? Number.NaN;
}
