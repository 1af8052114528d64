// Builds functions: bundle, build info, primed code cache. dist/<name> is a link to a directory of
// its own for each build, so that nobody ever starts half of one, running processes keep the
// chunks they have yet to load, and several builds at once do no harm.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { exampleEnvironment } from '../../../shared/function/config.ts';
import { definitionIn } from '../../../shared/function/define.ts';
import type { BuildInfo } from '../../../shared/function/runtime.ts';
import { bundle, type BundledSources } from './bundle.ts';
import { prime } from './prime.ts';
import { WORK_PREFIX, publish } from './versions.ts';

const root = resolve(import.meta.dirname, '../../..');

export interface BuiltFunction extends BundledSources {
  readonly name: string;
  readonly purpose: string;
  /** Start it with `node <dir>/index.js`. */
  readonly dir: string;
}

export async function buildFunction(
  name: string,
  outDir: string = join(root, 'dist', name),
): Promise<BuiltFunction> {
  return buildFolder(join(root, 'functions', name), outDir);
}

/** Into an empty directory, as it is: neither tried nor with a code cache, nor put in force. */
export async function bundleFunction(name: string, outDir: string): Promise<BuiltFunction> {
  const folder = join(root, 'functions', name);
  const { purpose } = await definitionOf(folder);
  const sources = await bundle({ root, folder, outDir }, await buildInfo());
  return { name, purpose, dir: outDir, ...sources };
}

/** For a function that lives elsewhere, as the handlers of the benchmarks do. */
export async function buildFolder(folder: string, outDir: string): Promise<BuiltFunction> {
  const { name, purpose, config } = await definitionOf(folder);
  const sources = await inVersion(outDir, async (workDir) => {
    const found = await bundle({ root, folder, outDir: workDir }, await buildInfo());
    await prime(workDir, exampleEnvironment(config));
    return found;
  });
  return { name, purpose, dir: outDir, ...sources };
}

/** Resolves with what `build` tells, once its directory is the one that `outDir` shows. */
export async function inVersion<Told>(
  outDir: string,
  build: (workDir: string) => Promise<Told>,
): Promise<Told> {
  const versionsDir = join(dirname(outDir), '.versions', basename(outDir));
  await mkdir(versionsDir, { recursive: true });
  const workDir = await mkdtemp(join(versionsDir, WORK_PREFIX));
  const removeWork = (): void => rmSync(workDir, { recursive: true, force: true });
  process.once('exit', removeWork);
  try {
    const told = await build(workDir);
    await publish(workDir, outDir);
    return told;
  } finally {
    removeWork();
    process.off('exit', removeWork);
  }
}

async function definitionOf(folder: string): Promise<ReturnType<typeof definitionIn>> {
  const path = join(folder, 'index.ts');
  const module: unknown = await import(path);
  return definitionIn(module, path);
}

export async function buildInfo(): Promise<BuildInfo> {
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
