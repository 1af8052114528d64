// An image of programs as the archive that containerd imports: written once per build of its
// programs, and kept in the parts cache beside them.
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeImage } from '../../images/image.ts';
import { writeArchive } from '../../images/layout.ts';
import type { ImageSpec } from '../../images/spec.ts';
import type { PartsSettings } from '../../local/parts/settings.ts';

const KEY_LENGTH = 16;

/** The path of the archive. */
export async function cachedArchive(spec: ImageSpec, settings: PartsSettings): Promise<string> {
  const dir = join(settings.cacheDir, 'images');
  const base = spec.name.replaceAll(/[/:]/g, '-');
  const archive = join(dir, `${base}-${await keyOf(spec)}.tar`);
  const isCached = await access(archive).then(
    () => true,
    () => false,
  );
  if (isCached) return archive;
  await mkdir(dir, { recursive: true });
  const work = await mkdtemp(join(dir, '.layout-'));
  try {
    const { directory } = await writeImage(spec, join(work, 'image'));
    await writeArchive(directory, archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return archive;
}

/** Reading a gigabyte to see that nothing has changed takes longer than all the rest of a start. */
async function keyOf(spec: ImageSpec): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(spec));
  for (const { from } of spec.files) {
    if (!('host' in from)) continue;
    const { size, mtimeMs } = await stat(from.host);
    hash.update(`${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, KEY_LENGTH);
}
