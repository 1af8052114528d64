// Builds functions into dist/<name>: bundle, build info, primed code cache. A build replaces the
// one before it in one step, so that nobody ever starts half of it, and several builds at once do
// no harm.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { exampleEnvironment } from '../../shared/function/config.ts';
import { definitionIn } from '../../shared/function/define.ts';
import type { BuildInfo } from '../../shared/function/runtime.ts';
import { bundle } from './bundle.ts';
import { prime } from './prime.ts';

const root = resolve(import.meta.dirname, '../..');

export interface BuiltFunction {
  readonly name: string;
  /** Start it with `node <dir>/index.js`. */
  readonly dir: string;
}

export async function buildFunction(
  name: string,
  outDir: string = join(root, 'dist', name),
): Promise<BuiltFunction> {
  return buildFolder(join(root, 'functions', name), outDir);
}

/** For a function that lives elsewhere, as the handlers of the benchmarks do. */
export async function buildFolder(folder: string, outDir: string): Promise<BuiltFunction> {
  const path = join(folder, 'index.ts');
  const module: unknown = await import(path);
  const definition = definitionIn(module, path);
  await mkdir(dirname(outDir), { recursive: true });
  const workDir = await mkdtemp(join(dirname(outDir), `.${basename(outDir)}-`));
  try {
    await bundle({ root, folder, outDir: workDir }, await buildInfo());
    await prime(workDir, exampleEnvironment(definition.config));
    await replace(workDir, outDir);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
  return { name: definition.name, dir: outDir };
}

async function replace(newDir: string, outDir: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    const oldDir = `${newDir}-${round}`;
    await renamed(outDir, oldDir, 'ENOENT');
    const isIn = await renamed(newDir, outDir, 'ENOTEMPTY');
    await rm(oldDir, { recursive: true, force: true });
    // Not in means that another build of the same function was faster between the two: ours goes
    // over it.
    if (isIn) return;
  }
}

/** False for the one error that another build, or none before, explains. */
async function renamed(from: string, to: string, expected: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === expected) return false;
    throw error;
  }
}

async function buildInfo(): Promise<BuildInfo> {
  return { version: manifest.version, commit: await commitOf() };
}

async function commitOf(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: root,
    });
    return stdout.trim();
  } catch {
    // A release archive has no history, and a machine may have no git: the version has to do.
    return '';
  }
}
