// Looks for binaries that somebody else put there: in the directories that the environment names,
// and on PATH.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PartEntry } from './part-entry.ts';
import type { PartsSettings } from './settings.ts';
import { fits, versionIn, whatFits } from './version.ts';

export interface FoundPart {
  readonly path: string;
  readonly source: string;
}

export interface PathSearch {
  readonly found: FoundPart | undefined;
  /** A clause for each binary of that name that does not fit. */
  readonly passedOver: readonly string[];
}

/** A binary that needs longer to say its version is a wrapper that does something else. */
const VERSION_TIMEOUT_MS = 5_000;

const run = promisify(execFile);

/** A directory that the user named is trusted: its binaries are not asked for their version. */
export async function findInNamedDirs(
  entry: PartEntry,
  settings: PartsSettings,
): Promise<FoundPart | undefined> {
  for (const { variable, dir } of settings.namedDirs) {
    if (variable === 'KUBEBUILDER_ASSETS' && !entry.isKubebuilderAsset) continue;
    const path = join(dir, entry.name);
    if (await isExecutable(path)) return { path, source: variable };
  }
  return undefined;
}

/**
 * A directory that is named but not there is a slip that would otherwise cost minutes of building.
 */
export async function checkNamedDirs(settings: PartsSettings): Promise<void> {
  for (const { variable, dir } of settings.namedDirs) {
    const isDirectory = await stat(dir).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    if (!isDirectory) {
      throw new Error(`${variable} names ${dir}, which is not a directory; correct or unset it.`);
    }
  }
}

export async function findOnPath(entry: PartEntry, settings: PartsSettings): Promise<PathSearch> {
  const passedOver: string[] = [];
  for (const dir of settings.pathDirs) {
    const path = join(dir, entry.name);
    if (!(await isExecutable(path))) continue;
    const version = await askVersion(entry, path);
    if (version !== undefined && fits(entry, version)) {
      return { found: { path, source: 'PATH' }, passedOver };
    }
    passedOver.push(`${path} is ${version ?? 'of unknown version'}, ${whatFits(entry)} would fit`);
  }
  return { found: undefined, passedOver };
}

/** Undefined when the binary cannot run here, or says nothing that looks like a version. */
export async function askVersion(entry: PartEntry, path: string): Promise<string | undefined> {
  if (entry.versionArgs === undefined) return undefined;
  // A home of its own: some kubectls keep a cache even for this, and none is to look at anybody's
  // configuration.
  const home = await mkdtemp(join(tmpdir(), 'ballast-version-'));
  try {
    const { stdout } = await run(path, [...entry.versionArgs], {
      timeout: VERSION_TIMEOUT_MS,
      cwd: home,
      env: { HOME: home },
    });
    return versionIn(stdout);
  } catch {
    return undefined;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
