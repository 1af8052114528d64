// The program of a function's folder as one file, as it ships.
import { join } from 'node:path';
import { buildInfo } from '../../../knative/tools/build/build.ts';
import { bundleCommand } from '../../../knative/tools/build/bundle.ts';

export async function bundleProgram(name: string, outDir: string): Promise<string> {
  const root = join(import.meta.dirname, '../../..');
  const folder = join(root, 'functions', name);
  await bundleCommand({ root, folder, outDir }, await buildInfo());
  return join(outDir, `${name}.mjs`);
}
