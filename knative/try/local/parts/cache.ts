// The cache of built binaries: one directory per group, named by all that a build depends on,
// holding the binaries and a manifest with their versions and hashes. The manifest is written last;
// a directory without one does not count.
import { createHash } from 'node:crypto';
import { readFile, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOfFile } from '../../../tools/images/hashed.ts';
import { groupEntries } from './catalog.ts';
import type { PartName, PartGroup, PartEntry } from './part-entry.ts';
import type { PartsSettings } from './settings.ts';

export interface CachedBinary {
  readonly version: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
}

export interface Manifest {
  readonly go: string;
  readonly platform: string;
  readonly binaries: Readonly<Record<string, CachedBinary>>;
}

export type CacheState =
  | { readonly state: 'whole' }
  | { readonly state: 'absent' }
  | { readonly state: 'corrupt'; readonly reason: string };

/**
 * How thoroughly a cached binary is checked. `quick`: size and time of change, and the hash only
 * when the time differs; hashing the 330 MB of all parts takes 0.3 to 0.5 s, which is too long for
 * every start. `full`: the hash, always.
 */
export type CacheCheck = 'quick' | 'full';

const MANIFEST = 'manifest.json';
const KEY_LENGTH = 16;

/** It lies where authors of readers look. */
const EXAMPLE = '../../../../docs/example-go';

export const moduleDir = (group: PartGroup): string =>
  fileURLToPath(new URL(`${group === 'feed-reader' ? EXAMPLE : group}/`, import.meta.url));

export const ldflags = (stamps: Readonly<Record<string, string>>): string =>
  ['-s', '-w', ...Object.entries(stamps).map(([name, value]) => `-X ${name}=${value}`)].join(' ');

export const tagFlags = ({ tags = [] }: PartEntry): readonly string[] =>
  tags.length === 0 ? [] : [`-tags=${tags.join(',')}`];

/** The pins, and the program itself where it is ours. */
async function sourceFiles(dir: string): Promise<readonly string[]> {
  const names = (await readdir(dir)).filter((name) => /^go\.(mod|sum)$|\.go$/.test(name));
  return names.toSorted().map((name) => join(dir, name));
}

export async function cachedGroupDir(group: PartGroup, settings: PartsSettings): Promise<string> {
  const hash = createHash('sha256');
  for (const file of await sourceFiles(moduleDir(group))) hash.update(await readFile(file));
  for (const entry of groupEntries(group)) {
    hash.update(`${entry.package} ${[ldflags(entry.stamps), ...tagFlags(entry)].join(' ')}\n`);
  }
  hash.update(settings.platform);
  return join(settings.cacheDir, `${group}-${hash.digest('hex').slice(0, KEY_LENGTH)}`);
}

/** Written last into a finished build: `dir` counts from the rename on. */
export async function sealCache(
  dir: string,
  about: { readonly go: string; readonly platform: string },
  versions: Readonly<Record<string, string>>,
): Promise<void> {
  const binaries: Record<string, CachedBinary> = {};
  for (const [name, version] of Object.entries(versions)) {
    const path = join(dir, name);
    // Whole seconds, so that an archive of the cache keeps the time as it is.
    const now = Math.floor(Date.now() / 1000);
    await utimes(path, now, now);
    const { size } = await stat(path);
    binaries[name] = {
      version,
      sha256: await hashOfFile(path),
      sizeBytes: size,
      mtimeMs: now * 1000,
    };
  }
  const manifest: Manifest = { ...about, binaries };
  const unfinished = join(dir, `${MANIFEST}.unfinished`);
  await writeFile(unfinished, `${JSON.stringify(manifest, undefined, 2)}\n`);
  await rename(unfinished, join(dir, MANIFEST));
}

/** Undefined when it is absent, or cannot be read. */
export async function manifestIn(dir: string): Promise<Manifest | undefined> {
  const text = await readFile(join(dir, MANIFEST), 'utf8').catch(() => '');
  return parseManifest(text);
}

export async function checkCache(
  names: readonly PartName[],
  dir: string,
  check: CacheCheck,
): Promise<CacheState> {
  const text = await readFile(join(dir, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) return { state: 'absent' };
  const manifest = parseManifest(text);
  if (manifest === undefined) return { state: 'corrupt', reason: `${MANIFEST} cannot be read` };
  for (const name of names) {
    const reason = await faultOf(join(dir, name), manifest.binaries[name], check);
    if (reason !== undefined) return { state: 'corrupt', reason: `${name} ${reason}` };
  }
  return { state: 'whole' };
}

async function faultOf(
  path: string,
  expected: CachedBinary | undefined,
  check: CacheCheck,
): Promise<string | undefined> {
  if (expected === undefined) return `is not in ${MANIFEST}`;
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return 'is missing';
  if (stats.size !== expected.sizeBytes) {
    return `has ${stats.size} bytes instead of ${expected.sizeBytes}`;
  }
  if (check === 'quick' && stats.mtimeMs === expected.mtimeMs) return undefined;
  return (await hashOfFile(path)) === expected.sha256 ? undefined : 'does not match its hash';
}

function parseManifest(text: string): Manifest | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isManifest(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null || !('binaries' in value)) return false;
  const { binaries } = value;
  if (typeof binaries !== 'object' || binaries === null) return false;
  return Object.values(binaries).every(
    (binary: unknown) =>
      typeof binary === 'object' && binary !== null && 'sha256' in binary && 'sizeBytes' in binary,
  );
}
