// Builds a group of parts with Go into the cache: under a lock, beside its final place, and moved
// there whole.
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { type CacheCheck, checkCache, sealCache } from './cache.ts';
import { groupEntries } from './catalog.ts';
import type { PartGroup, PartEntry } from './part-entry.ts';
import { goBuild, stalePackages } from './go-command.ts';
import { withLock } from './lock.ts';
import type { BuildReporter } from './report.ts';
import { askVersion } from './search.ts';
import type { PartsSettings } from './settings.ts';
import { userId } from '../process/user-id.ts';

export interface BuildOptions {
  readonly settings: PartsSettings;
  readonly reporter: BuildReporter;
  readonly check: CacheCheck;
  readonly go: string;
  readonly signal?: AbortSignal;
}

export async function buildGroup(
  group: PartGroup,
  dir: string,
  options: BuildOptions,
): Promise<void> {
  const { settings, reporter, signal } = options;
  const names = groupEntries(group).map(({ name }) => name);
  const lockOptions = {
    ...(signal === undefined ? {} : { signal }),
    onWait: () => reporter.progress({ part: names.join(', '), step: 'waiting for another build' }),
  };
  await withLock(lockName(settings), lockOptions, async () => {
    const before = await checkCache(names, dir, options.check);
    // The former holder of the lock may have built just this.
    if (before.state === 'whole') return reporter.drop(names);
    if (before.state === 'corrupt') {
      reporter.note(`The cached ${before.reason}: ${dir} is built again.`);
    }
    await buildBeside(group, dir, options);
  });
}

/** One build at a time for the whole cache: a single one already keeps every core busy. */
export function lockName({ cacheDir }: PartsSettings): string {
  const hash = createHash('sha256').update(cacheDir).digest('hex').slice(0, 16);
  return `ballast-parts-${userId()}-${hash}`;
}

async function buildBeside(group: PartGroup, dir: string, options: BuildOptions): Promise<void> {
  const { settings, go } = options;
  const beside = besideOf(dir, settings);
  await mkdir(dirname(dir), { recursive: true });
  await removeLeftovers(beside);
  const building = buildingDir(dir, settings);
  try {
    await mkdir(building);
    const versions: Record<string, string> = {};
    for (const entry of groupEntries(group)) {
      versions[entry.name] = await buildPart(entry, join(building, entry.name), options);
    }
    await sealCache(building, { go, platform: settings.platform }, versions);
    // The lock makes us the only builder; whoever runs a binary of the old directory keeps its
    // inode.
    await rm(dir, { recursive: true, force: true });
    await rename(building, dir);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** The host is in it: on a shared home directory, another host's builder is not ours to judge. */
const besideOf = (dir: string, { host }: PartsSettings): string => `${dir}.building-${host}-`;

/** Where a group is made before it is moved to its place. */
export const buildingDir = (dir: string, settings: PartsSettings): string =>
  `${besideOf(dir, settings)}${process.pid}`;

/** Under the lock, whatever an earlier builder of this host left there has no owner any more. */
async function removeLeftovers(prefix: string): Promise<void> {
  const parent = dirname(prefix);
  const names = (await readdir(parent)).filter((name) => name.startsWith(basename(prefix)));
  for (const name of names) await rm(join(parent, name), { recursive: true, force: true });
}

async function buildPart(entry: PartEntry, path: string, options: BuildOptions): Promise<string> {
  const { reporter } = options;
  const part = entry.name;
  let downloads = 0;
  reporter.progress({ part, step: 'reading modules' });
  const onDownload = (line: string): boolean => {
    if (!line.startsWith('go: downloading ')) return false;
    downloads += 1;
    reporter.progress({ part, step: 'downloading modules', detail: `${downloads} so far` });
    return true;
  };
  const stale = await stalePackages(entry, { ...options, onMessage: onDownload });
  await goBuild(entry, path, { ...options, onMessage: compileCounter(entry, stale, reporter) });
  reporter.done();
  const version = await askVersion(entry, path);
  // Only where the binary can tell; a stamp that is not taken would make others refuse it.
  if (entry.versionArgs !== undefined && version !== entry.version) {
    throw new Error(`${part} was built but calls itself ${version}, not ${entry.version}.`);
  }
  return entry.version;
}

/** `go build -v` names each package when it starts to compile it, the main package last. */
function compileCounter(
  entry: PartEntry,
  stale: ReadonlySet<string>,
  reporter: BuildReporter,
): (line: string) => boolean {
  const part = entry.name;
  const toCompile = stale.size - (stale.has(entry.package) ? 1 : 0);
  let compiled = 0;
  if (toCompile === 0) reporter.progress({ part, step: 'linking' });
  return (line) => {
    if (!stale.has(line)) return false;
    if (line === entry.package) {
      reporter.progress({ part, step: 'linking' });
    } else {
      compiled += 1;
      const detail = `${compiled} of ${toCompile} packages`;
      reporter.progress({ part, step: 'compiling', detail });
    }
    return true;
  };
}
