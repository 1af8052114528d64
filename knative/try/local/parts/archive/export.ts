// Writes parts of the cache into one archive, from which another machine takes them without Go. The
// same parts make the same archive.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { throughHash } from '../../../../tools/images/hashed.ts';
import { fileContent, type TarEntry, tarOf } from '../../../../tools/images/tar.ts';
import { cachedGroupDir, manifestIn } from '../cache.ts';
import { buildOrder, groupEntries } from '../catalog.ts';
import type { PartGroup, PartName } from '../part-entry.ts';
import type { BuildReporter } from '../report.ts';
import { resolveParts } from '../resolve.ts';
import type { PartsSettings } from '../settings.ts';
import { type ArchivedGroup, BINARY_MODE, CONTENTS, CONTENTS_MODE } from './contents.ts';

export interface ExportOptions {
  readonly settings: PartsSettings;
  readonly signal: AbortSignal;
  /** Default: lines on stderr. */
  readonly reporter?: BuildReporter;
}

/** Those of the named parts' modules; what is not built yet is built. Resolves with the SHA-256. */
export async function exportParts(
  names: readonly PartName[],
  path: string,
  { settings, ...options }: ExportOptions,
): Promise<string> {
  const groups = buildOrder(names);
  const all = groups.flatMap((group) => groupEntries(group).map(({ name }) => name));
  // Binaries that stand elsewhere are nobody's build of these versions.
  const ours = { ...settings, namedDirs: [], pathDirs: [] };
  await resolveParts(all, { ...options, settings: ours, check: 'full' });
  const archived = await Promise.all(groups.map((group) => archivedGroup(group, ours)));
  const text = JSON.stringify({ platform: ours.platform, groups: archived }, undefined, 2);
  const entries = [
    { path: CONTENTS, mode: CONTENTS_MODE, content: await fileContent({ text }) },
    ...archived.flatMap(({ key, binaries }) =>
      binaries.map(({ name, sizeBytes }) => binaryEntry(ours.cacheDir, key, name, sizeBytes)),
    ),
  ];
  const unfinished = `${path}.${randomUUID()}`;
  const hash = createHash('sha256');
  try {
    const steps = [createZstdCompress(), throughHash(hash)] as const;
    await pipeline(Readable.from(tarOf(entries)), ...steps, createWriteStream(unfinished), {
      signal: options.signal,
    });
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
  return hash.digest('hex');
}

async function archivedGroup(group: PartGroup, settings: PartsSettings): Promise<ArchivedGroup> {
  const dir = await cachedGroupDir(group, settings);
  const manifest = await manifestIn(dir);
  if (manifest === undefined) throw new Error(`${dir} was removed while it was exported`);
  const binaries = groupEntries(group).map(({ name }) => {
    const { sha256 = '', sizeBytes = 0 } = manifest.binaries[name] ?? {};
    return { name, sha256, sizeBytes };
  });
  return { group, key: basename(dir), go: manifest.go, binaries };
}

function binaryEntry(cacheDir: string, key: string, name: string, sizeBytes: number): TarEntry {
  const read = () => createReadStream(join(cacheDir, key, name));
  return { path: `${key}/${name}`, mode: BINARY_MODE, content: { kind: 'file', sizeBytes, read } };
}
