// Images as the archive that containerd imports: written once for its content, and kept in the
// parts cache. An archive that was returned can be read for an hour, whatever others write
// meanwhile.
import { createHash, type Hash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeImages } from '../../../tools/images/image.ts';
import { writeArchive } from '../../../tools/images/layout.ts';
import type { ImageFile, ImageSpec } from '../../../tools/images/spec.ts';
import type { PartsSettings } from '../../local/parts/settings.ts';
import { handOut, prune } from './archive-shelf.ts';

const KEY_LENGTH = 16;

/** Sources that turn a spec into bits: after a change of these, an archive may be another. */
const WRITERS = [
  '../../../tools/images/image.ts',
  '../../../tools/images/layer.ts',
  '../../../tools/images/layout.ts',
  '../../../tools/images/spec.ts',
  '../../../tools/images/tar.ts',
].map((path) => resolve(import.meta.dirname, path));

/**
 * Up to this size the content decides: a bundle is written anew for each start. A larger file is a
 * program, whose size and time decide: reading a gigabyte would take longer than all the rest of a
 * start.
 */
const READ_BYTES_MAX = 4 * 1024 * 1024;

/** The path of the archive. */
export function cachedArchive(spec: ImageSpec, settings: PartsSettings): Promise<string> {
  return cachedArchiveOf(spec.name, [spec], settings);
}

/** `name` is that of an image, and is told from other archives by it. */
export async function cachedArchiveOf(
  name: string,
  specs: readonly ImageSpec[],
  settings: PartsSettings,
): Promise<string> {
  const dir = join(settings.cacheDir, 'images');
  const archive = join(dir, `${name.replaceAll(/[/:]/g, '-')}-${await keyOf(specs)}.tar`);
  if (await handOut(archive)) return archive;
  await mkdir(dir, { recursive: true });
  const work = await mkdtemp(join(dir, '.layout-'));
  try {
    await writeImages(specs, join(work, 'images'));
    await writeArchive(join(work, 'images'), archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await prune(archive);
  return archive;
}

async function keyOf(specs: readonly ImageSpec[]): Promise<string> {
  const hash = createHash('sha256');
  for (const writer of WRITERS) hash.update(await readFile(writer));
  for (const { base = [], files, ...rest } of specs) {
    hash.update(JSON.stringify([rest, base.length]));
    // No image depends on the order of its files, and that of a directory is nobody's choice.
    const all = [...base, ...files].toSorted((one, other) => (one.path < other.path ? -1 : 1));
    for (const file of all) await addFile(hash, file);
  }
  return hash.digest('hex').slice(0, KEY_LENGTH);
}

async function addFile(hash: Hash, { path, mode, from }: ImageFile): Promise<void> {
  if (!('host' in from)) {
    hash.update(JSON.stringify([path, mode, from]));
    return;
  }
  const { size, mtimeMs } = await stat(from.host);
  const isRead = size <= READ_BYTES_MAX;
  hash.update(JSON.stringify([path, mode, size, isRead ? '' : [from.host, mtimeMs]]));
  if (isRead) hash.update(await readFile(from.host));
}
