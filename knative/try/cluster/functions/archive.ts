// The images of our functions, or of some, as an archive that has the Node below all of them once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../../package.json' with { type: 'json' };
import { buildInfo, bundleFunction } from '../../../tools/build/build.ts';
import { functionSpec } from '../../../tools/images/function-image.ts';
import type { ImageSpec } from '../../../tools/images/spec.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchiveOf } from '../knative/cached-archive.ts';

const REPOSITORY = 'dev.local/ballast';

export const imageOf = (name: string): string => `${REPOSITORY}/${name}:${manifest.version}`;

/** The path of that of all, which are these. */
export const functionsArchive = (names: readonly string[], signal: AbortSignal): Promise<string> =>
  archiveOf(imageOf('functions'), names, signal);

/** The path of that of these. */
export const archiveOfFunctions = (
  names: readonly string[],
  signal: AbortSignal,
): Promise<string> => archiveOf(imageOf(names.join('-and-')), names, signal);

/** Bundling tells what is in an image, and takes a tenth of what writing it does. */
async function archiveOf(
  name: string,
  functions: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'ballast-bundles-'));
  try {
    const specs: ImageSpec[] = [];
    for (const one of functions) {
      signal.throwIfAborted();
      specs.push(await specOf(one, join(work, one)));
    }
    return await cachedArchiveOf(name, specs, partsSettings());
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function specOf(name: string, bundleDir: string): Promise<ImageSpec> {
  const { purpose } = await bundleFunction(name, bundleDir);
  const image = imageOf(name);
  return functionSpec({ name, image, purpose, ...(await buildInfo()), bundleDir });
}
