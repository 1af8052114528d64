// Bundles kubectl ballast into one file, which runs on a Node of its own as well as inside of one.
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { BuildInfo } from '../../../../shared/function/runtime.ts';
import { sourcesIn } from '../bundle.ts';

export const PROGRAM = 'kubectl-ballast';
export const EXECUTABLE_MODE = 0o755;

export interface PluginBundle {
  /** Its path. Its bytes follow from the sources alone. */
  readonly program: string;
  /** Relative to the repository. */
  readonly sources: readonly string[];
}

export async function bundlePlugin(
  root: string,
  outDir: string,
  info: BuildInfo,
): Promise<PluginBundle> {
  const program = join(outDir, `${PROGRAM}.cjs`);
  const { metafile } = await build({
    stdin: { contents: mainOf(info), resolveDir: root, sourcefile: 'main.js' },
    outfile: program,
    absWorkingDir: root,
    metafile: true,
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
  await chmod(program, EXECUTABLE_MODE);
  return { program, sources: sourcesIn(metafile) };
}

const mainOf = (info: BuildInfo): string => `
  import { runPlugin } from './knative/tools/kubectl-ballast/program.ts';
  void runPlugin(${JSON.stringify(info)});
`;
