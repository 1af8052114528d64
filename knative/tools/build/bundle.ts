// Bundles one function's folder into a directory that runs anywhere Node 24 does: `node
// <dir>/index.js`. Code that an event does not need stays in chunks of its own, loaded when first
// used.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type Metafile, build } from 'esbuild';
import type { BuildInfo } from '../../../shared/function/runtime.ts';

/**
 * Packages written for require() look for it in the module they were bundled into. Taken like
 * this and not imported, since an import evaluates all that node:module exports: 2 MB that nobody
 * uses.
 */
const REQUIRE =
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/**
 * V8's middle compiler keeps 10 MB of working memory for good, a third of what a function has of
 * its own. Without it, the optimising compiler steps in earlier. Measured in
 * docs/design/20261121-function-runtime.md.
 */
const V8_FLAGS = '--no-maglev --invocation-count-for-turbofan=800';

/** Before anything else is compiled, so that all of it comes from the cache beside it. */
const BOOT = `// Written by knative/tools/build: starts main.js with the code cache beside it.
process.getBuiltinModule('node:v8').setFlagsFromString('${V8_FLAGS}');
const { enableCompileCache } = process.getBuiltinModule('node:module');
enableCompileCache({ directory: import.meta.dirname + '/compile-cache', portable: true });
await import('./main.js');
`;

export interface BundlePaths {
  readonly root: string;
  readonly folder: string;
  readonly outDir: string;
}

/** Sources that are in it, relative to `root`; those that were shaken off are not. */
export interface BundledSources {
  readonly sources: readonly string[];
  /** Those of the command beside it, if it has one. */
  readonly commandSources: readonly string[];
}

export async function bundle(paths: BundlePaths, info: BuildInfo): Promise<BundledSources> {
  const { root, folder, outDir } = paths;
  const source = relative(root, folder);
  const { metafile } = await build({
    stdin: { contents: mainOf(source, info), resolveDir: root, sourcefile: 'main.js' },
    outdir: outDir,
    // Comments name the sources from here, so that every directory builds the same bundle.
    absWorkingDir: root,
    metafile: true,
    entryNames: 'main',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Whole names and lines: a stack in a log has to be readable without anything else at hand.
    minifySyntax: true,
    legalComments: 'linked',
    banner: { js: REQUIRE },
    logLevel: 'warning',
  });
  await mkdir(outDir, { recursive: true });
  const commandSources = await bundleCommand(paths, info);
  await bundlePage(paths);
  await writeFile(join(outDir, 'index.js'), BOOT);
  const manifest = { type: 'module', private: true, name: source, version: info.version };
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(manifest)}\n`);
  return { sources: sourcesIn(metafile), commandSources };
}

/** Those of which code is left. */
export const sourcesIn = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
  );

/** A function that is a command too ships it as one more file, which needs no other. */
export async function bundleCommand(
  { root, folder, outDir }: BundlePaths,
  info: BuildInfo,
): Promise<readonly string[]> {
  const entry = join(folder, 'main.ts');
  if (!existsSync(entry)) return [];
  const name = basename(folder);
  const commit = info.commit === '' ? '' : ` (${info.commit})`;
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: join(outDir, `${name}.mjs`),
    absWorkingDir: root,
    metafile: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    legalComments: 'eof',
    banner: { js: `// Ballast ${name} ${info.version}${commit}\n${REQUIRE}` },
    logLevel: 'warning',
  });
  return sourcesIn(metafile);
}

/** A function that has a page ships what a browser runs of it beside its own code. */
async function bundlePage({ root, folder, outDir }: BundlePaths): Promise<void> {
  const page = join(folder, 'page');
  if (!existsSync(join(page, 'app.ts'))) return;
  await build({
    entryPoints: [join(page, 'app.ts'), join(page, 'style.css')],
    outdir: join(outDir, 'page'),
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    logLevel: 'warning',
  });
  await copyFile(join(page, 'index.html'), join(outDir, 'page/index.html'));
}

function mainOf(source: string, info: BuildInfo): string {
  const path = JSON.stringify(`./${source}/index.ts`);
  return `
    import * as module from ${path};
    import { definitionIn } from './shared/function/define.ts';
    import { serve } from './shared/function/serve.ts';
    await serve(definitionIn(module, ${path}), ${JSON.stringify(info)});
  `;
}
