// Knative's images as archives that containerd imports: its parts are found or built, Envoy is
// fetched, and what has changed since is written anew.
import { programFiles, programSpec } from '../../../tools/images/program.ts';
import type { ImageSpec } from '../../../tools/images/spec.ts';
import { inParallel } from '../../local/cluster/in-parallel.ts';
import { resolveParts } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { GO_GC } from '../inside/place.ts';
import { cachedArchive } from './cached-archive.ts';
import { ENVOY_IMAGE, componentImages } from './component-images.ts';
import { envoyBinary } from './envoy.ts';

/** Writing is bound by the disk; two at a time hide the hashing. */
const WRITES_AT_ONCE = 2;

/** Where the manifest of Kourier's gateway looks for it. */
const ENVOY_PATH = '/usr/local/bin/envoy';

/** The paths of the archives. */
export async function componentArchives(signal: AbortSignal): Promise<readonly string[]> {
  const settings = partsSettings();
  const names = componentImages.map(({ part }) => part);
  const parts = await resolveParts(names, { settings, signal });
  const specs = componentImages.map(({ part, image }) =>
    programSpec({ image, binary: parts.get(part)?.path ?? '', env: GO_GC }),
  );
  const envoy = envoySpec(await envoyBinary(settings, signal));
  const all = await Promise.all([...specs, envoy]);
  return inParallel(all, WRITES_AT_ONCE, (spec) => {
    signal.throwIfAborted();
    return cachedArchive(spec, settings);
  });
}

async function envoySpec(binary: string): Promise<ImageSpec> {
  const [program, ...libraries] = await programFiles(binary);
  const moved = { ...program, path: ENVOY_PATH, from: { host: binary } };
  return { name: ENVOY_IMAGE, files: [moved, ...libraries], entrypoint: [ENVOY_PATH] };
}
