// Knative's images as archives that containerd imports: written once per build of a part, and kept
// in the parts cache beside it.
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeImage } from '../../images/image.ts';
import { writeArchive } from '../../images/layout.ts';
import { librariesOf } from '../../images/libraries.ts';
import type { ImageSpec } from '../../images/spec.ts';
import { inParallel } from '../../local/cluster/in-parallel.ts';
import { resolveParts } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { ENVOY_IMAGE, componentImages } from './component-images.ts';
import { envoyBinary } from './envoy.ts';

export interface ImageArchive {
  readonly image: string;
  /** As `ctr images import` takes it. */
  readonly path: string;
}

/** Writing is bound by the disk; two at a time hide the hashing. */
const WRITES_AT_ONCE = 2;
const KEY_LENGTH = 16;

/** Builds what is missing: parts with Go, then the archives of those that have changed. */
export async function componentArchives(signal?: AbortSignal): Promise<readonly ImageArchive[]> {
  const settings = partsSettings();
  const ending = signal === undefined ? {} : { signal };
  const names = componentImages.map(({ part }) => part);
  const parts = await resolveParts(names, { settings, ...ending });
  const specs = componentImages.map(({ part, image }) =>
    programSpec(image, `/usr/local/bin/${part}`, parts.get(part)?.path ?? ''),
  );
  const envoy = await envoyBinary(settings, signal);
  const gateway = programSpec(ENVOY_IMAGE, '/usr/local/bin/envoy', envoy);
  const libraries = await librariesOf(envoy);
  const all = [...specs, { ...gateway, files: [...gateway.files, ...libraries] }];
  return inParallel(all, WRITES_AT_ONCE, async (spec) => {
    signal?.throwIfAborted();
    return { image: spec.name, path: await archiveOf(spec, join(settings.cacheDir, 'images')) };
  });
}

const programSpec = (name: string, path: string, host: string): ImageSpec => ({
  name,
  files: [{ path, mode: 0o755, from: { host } }],
  entrypoint: [path],
});

async function archiveOf(spec: ImageSpec, cacheDir: string): Promise<string> {
  const base = spec.name.replaceAll(/[/:]/g, '-');
  const archive = join(cacheDir, `${base}-${await keyOf(spec)}.tar`);
  const isCached = await access(archive).then(
    () => true,
    () => false,
  );
  if (isCached) return archive;
  await mkdir(cacheDir, { recursive: true });
  const work = await mkdtemp(join(cacheDir, '.layout-'));
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
