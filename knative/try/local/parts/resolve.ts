// Answers where the binary of a part is: in a directory that the environment names, on PATH, in the
// cache, or built into the cache now. A start after the first never calls Go.
import { join } from 'node:path';
import { buildGroup } from './build.ts';
import { type CacheCheck, cachedGroupDir, checkCache } from './cache.ts';
import { buildOrder, groupEntries, partEntry } from './catalog.ts';
import type { PartName, PartEntry } from './part-entry.ts';
import { GO_WANTED, PartsUnavailable, explainBuild, explainNoGo, explainTest } from './explain.ts';
import { goVersion } from './go-command.ts';
import { type BuildReporter, buildReporter } from './report.ts';
import { type FoundPart, checkNamedDirs, findInNamedDirs, findOnPath } from './search.ts';
import { type PartsSettings, partsSettings } from './settings.ts';
import { isGoAtLeast } from './version.ts';

export type { PartName };

export interface ResolveOptions {
  readonly settings?: PartsSettings;
  /** Default: lines on stderr. */
  readonly reporter?: BuildReporter;
  readonly check?: CacheCheck;
  /** Ends a build. */
  readonly signal?: AbortSignal;
}

export type ResolvedParts = ReadonlyMap<PartName, FoundPart>;

/** The absolute path of the binary. */
export async function resolvePart(name: PartName, options: ResolveOptions = {}): Promise<string> {
  const part = (await resolveParts([name], options)).get(name);
  if (part === undefined) throw new Error(`${name} was neither found nor built`);
  return part.path;
}

/**
 * All of these at once: what is missing is named in one message, and built one group after the
 * other.
 */
export async function resolveParts(
  names: readonly PartName[],
  options: ResolveOptions = {},
): Promise<ResolvedParts> {
  const settings = options.settings ?? partsSettings();
  const check = options.check ?? 'quick';
  await checkNamedDirs(settings);
  const searches = await Promise.all(names.map((name) => search(partEntry(name), settings, check)));
  const missing = searches.filter(({ found }) => found === undefined);
  if (missing.length > 0) await build(missing, settings, options);
  const resolved = searches.map(({ entry, cached, found }) => {
    const part = found ?? { path: cached, source: 'built' };
    return [entry.name, part] as const;
  });
  return new Map(resolved);
}

interface Search {
  readonly entry: PartEntry;
  readonly found: FoundPart | undefined;
  /** Where the cache has it, or will have it. */
  readonly cached: string;
  readonly passedOver: readonly string[];
}

async function search(
  entry: PartEntry,
  settings: PartsSettings,
  check: CacheCheck,
): Promise<Search> {
  const dir = await cachedGroupDir(entry.group, settings);
  const cached = join(dir, entry.name);
  const named = await findInNamedDirs(entry, settings);
  if (named !== undefined) return { entry, cached, found: named, passedOver: [] };
  const { found, passedOver } = await findOnPath(entry, settings);
  if (found !== undefined) return { entry, cached, found, passedOver };
  const isCached = (await checkCache([entry.name], dir, check)).state === 'whole';
  return {
    entry,
    cached,
    found: isCached ? { path: cached, source: 'cache' } : undefined,
    passedOver,
  };
}

async function build(
  missing: readonly Search[],
  settings: PartsSettings,
  options: ResolveOptions,
): Promise<void> {
  const { signal, check = 'quick' } = options;
  if (settings.isTest) throw new PartsUnavailable(explainTest(missing.map(({ entry }) => entry)));
  const reporter = options.reporter ?? buildReporter();
  const go = await usableGo(missing, settings, reporter, signal);
  const groups = buildOrder(missing.map(({ entry }) => entry.name));
  // Those of one module come together: after the first, the others cost seconds.
  const names = groups.flatMap((group) => groupEntries(group).map(({ name }) => name));
  reporter.note(explainBuild(names, groups.length, go, settings.cacheDir));
  reporter.plan(names);
  try {
    for (const group of groups) {
      const dir = await cachedGroupDir(group, settings);
      const ending = signal === undefined ? {} : { signal };
      await buildGroup(group, dir, { settings, reporter, check, go, ...ending });
    }
  } finally {
    reporter.close();
  }
}

async function usableGo(
  missing: readonly Search[],
  settings: PartsSettings,
  reporter: BuildReporter,
  signal: AbortSignal | undefined,
): Promise<string> {
  const entries = missing.map(({ entry }) => entry);
  const passedOver = missing.flatMap((found) => found.passedOver);
  const refuse = (why: string, cause?: unknown): never => {
    throw new PartsUnavailable(explainNoGo(entries, passedOver, why), { cause });
  };
  const first = entries[0];
  if (first === undefined) throw new Error('nothing is missing');
  const ending = signal === undefined ? {} : { signal };
  const onMessage = (line: string): boolean => {
    // An older Go that fetches the one it needs by itself, which takes a while.
    if (line.startsWith('go: downloading ')) reporter.note(line);
    return false;
  };
  const goOptions = { settings, onMessage, ...ending };
  const version = await goVersion(first.group, goOptions).catch((error: unknown) => {
    signal?.throwIfAborted();
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const message = error instanceof Error ? error.message : String(error);
    const why = isAbsent
      ? 'There is no `go` on PATH.'
      : `The \`go\` on PATH does not do: ${message}`;
    return refuse(why, error);
  });
  if (isGoAtLeast(version, GO_WANTED)) return version;
  return refuse(`The \`go\` on PATH is ${version}; the modules need ${GO_WANTED}.`);
}
