// Takes parts out of an archive into the cache. They run as whoever starts them, root as well, so
// an archive counts by the hash that its exporter told, and by nothing that it says of itself.
// Nothing is in force before all of it was read and is as it was exported; where a part goes, and
// how it is called, comes from our own catalogue.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { hashOfFile, throughHash } from '../../../../tools/images/hashed.ts';
import { BLOCK_BYTES, END, headerOf, paddingOf } from '../../../../tools/images/tar.ts';
import { buildingDir, lockName } from '../build.ts';
import { cachedGroupDir, checkCache, sealCache } from '../cache.ts';
import { groupEntries } from '../catalog.ts';
import { withLock } from '../lock.ts';
import type { PartName } from '../part-entry.ts';
import type { PartsSettings } from '../settings.ts';
import {
  type ArchiveContents,
  type ArchivedGroup,
  ArchiveRefused,
  BINARY_MODE,
  CONTENTS,
  CONTENTS_MODE,
  parseContents,
} from './contents.ts';
import { Input } from './input.ts';

/** More than all parts need to be named. */
const CONTENTS_BYTES_MAX = 1_000_000;

export interface ImportOptions {
  readonly settings: PartsSettings;
  readonly signal: AbortSignal;
  readonly onWait: () => void;
}

/** Resolves with the parts that the archive has, whether they were there before or not. */
export async function importParts(
  path: string,
  sha256: string,
  { settings, ...lock }: ImportOptions,
): Promise<readonly PartName[]> {
  // Before anything of it is unpacked, which could be made to fill a disk.
  assertHash(path, await hashOfFile(path), sha256);
  return withLock(lockName(settings), lock, () => taken(path, sha256, settings));
}

function assertHash(path: string, found: string, wanted: string): void {
  if (found === wanted) return;
  throw new ArchiveRefused(`${path} has the SHA-256 ${found}, and not the one that was told`);
}

interface Taken {
  readonly dir: string;
  readonly building: string;
  readonly names: readonly PartName[];
}

async function taken(
  path: string,
  sha256: string,
  settings: PartsSettings,
): Promise<readonly PartName[]> {
  const groups: Taken[] = [];
  // Read a second time, the file may be another one by now.
  const hash = createHash('sha256');
  try {
    await readInto(groups, path, hash, settings);
    assertHash(path, hash.digest('hex'), sha256);
    for (const { dir, building, names } of groups) {
      if ((await checkCache(names, dir, 'full')).state === 'whole') continue;
      await rm(dir, { recursive: true, force: true });
      await rename(building, dir);
    }
    return groups.flatMap(({ names }) => names);
  } finally {
    for (const { building } of groups) await rm(building, { recursive: true, force: true });
  }
}

async function readInto(
  groups: Taken[],
  path: string,
  hash: Hash,
  settings: PartsSettings,
): Promise<void> {
  try {
    await pipeline(
      createReadStream(path),
      throughHash(hash),
      createZstdDecompress(),
      async (source: AsyncIterable<Buffer>) => {
        const input = new Input(source);
        const { platform, groups: archived } = await contentsIn(input);
        if (platform !== settings.platform) {
          throw new ArchiveRefused(`it is for ${platform}, and this is ${settings.platform}`);
        }
        for (const one of archived) await takeGroup(one, input, settings, groups);
        const end = await input.take(END.length);
        if (!end.equals(END) || !(await input.isAtEnd())) {
          throw new ArchiveRefused('it has more than it says');
        }
      },
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ArchiveRefused(`${path} is not taken: ${why}`, { cause: error });
  }
}

async function contentsIn(input: Input): Promise<ArchiveContents> {
  const header = await input.take(BLOCK_BYTES);
  // Eleven octal digits, where a header of ustar has the size.
  const sizeBytes = Number.parseInt(header.toString('latin1', 124, 135), 8);
  const isOurs = sizeBytes <= CONTENTS_BYTES_MAX && header.equals(contentsHeader(sizeBytes));
  if (!isOurs) throw new ArchiveRefused('it is no archive of `npm run parts -- --export`');
  const text = (await input.take(sizeBytes)).toString();
  await input.take(paddingOf(sizeBytes));
  return parseContents(text);
}

const contentsHeader = (sizeBytes: number): Buffer =>
  headerOf({ path: CONTENTS, mode: CONTENTS_MODE, content: { kind: 'file', sizeBytes } });

async function takeGroup(
  { group, key, go, binaries }: ArchivedGroup,
  input: Input,
  settings: PartsSettings,
  groups: Taken[],
): Promise<void> {
  const dir = await cachedGroupDir(group, settings);
  const entries = groupEntries(group);
  const names = entries.map(({ name }) => name);
  const isSame = key === basename(dir) && names.join() === binaries.map(({ name }) => name).join();
  if (!isSame) {
    throw new ArchiveRefused(
      `its ${names.join(', ')} are of another version: export from the same version of Ballast`,
    );
  }
  const building = buildingDir(dir, settings);
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  groups.push({ dir, building, names });
  for (const { name, sizeBytes, sha256 } of binaries) {
    const header = headerOf({
      path: `${key}/${name}`,
      mode: BINARY_MODE,
      content: { kind: 'file', sizeBytes },
    });
    if (!(await input.take(BLOCK_BYTES)).equals(header)) {
      throw new ArchiveRefused(`it has something else where ${name} is to be`);
    }
    const hash = createHash('sha256');
    const out = createWriteStream(join(building, name), { mode: BINARY_MODE });
    await pipeline(input.pass(sizeBytes), throughHash(hash), out);
    if (hash.digest('hex') !== sha256) throw new ArchiveRefused(`${name} is damaged`);
    await input.take(paddingOf(sizeBytes));
  }
  const versions = Object.fromEntries(entries.map(({ name, version }) => [name, version]));
  await sealCache(building, { go, platform: settings.platform }, versions);
}
