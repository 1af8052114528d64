// Bundles kubectl ballast into one file, which runs on a Node of its own as well as inside of one.
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { BuildInfo } from '../../../../shared/function/runtime.ts';

export const PROGRAM = 'kubectl-ballast';
export const EXECUTABLE_MODE = 0o755;

/** The path of the bundle. Its bytes follow from the sources alone. */
export async function bundlePlugin(root: string, outDir: string, info: BuildInfo): Promise<string> {
  const outfile = join(outDir, `${PROGRAM}.cjs`);
  await build({
    stdin: { contents: mainOf(info), resolveDir: root, sourcefile: 'main.js' },
    outfile,
    absWorkingDir: root,
    bundle: true,
    // An executable of Node takes no other: its program is CommonJS, and loads no other file.
    format: 'cjs',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.dirname': '__dirname' },
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    legalComments: 'eof',
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'warning',
  });
  await chmod(outfile, EXECUTABLE_MODE);
  return outfile;
}

const mainOf = (info: BuildInfo): string => `
  import { runPlugin } from './knative/tools/kubectl-ballast/program.ts';
  void runPlugin(${JSON.stringify(info)});
`;
