// The images of our functions as one archive, with the Node below all of them in it once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../../package.json' with { type: 'json' };
import { buildInfo, bundleFunction } from '../../../tools/build/build.ts';
import { functionNames } from '../../../tools/build/function-names.ts';
import { functionSpec } from '../../../tools/images/function-image.ts';
import type { ImageSpec } from '../../../tools/images/spec.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchiveOf } from '../knative/cached-archive.ts';

const REPOSITORY = 'dev.local/ballast';

/** Its path. Bundling tells what is in an image, and takes a tenth of what writing it does. */
export async function functionsArchive(signal: AbortSignal): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'ballast-bundles-'));
  try {
    const specs: ImageSpec[] = [];
    for (const name of await functionNames()) {
      signal.throwIfAborted();
      specs.push(await specOf(name, join(work, name)));
    }
    const name = `${REPOSITORY}/functions:${manifest.version}`;
    return await cachedArchiveOf(name, specs, partsSettings());
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function specOf(name: string, bundleDir: string): Promise<ImageSpec> {
  const { purpose } = await bundleFunction(name, bundleDir);
  const image = `${REPOSITORY}/${name}:${manifest.version}`;
  return functionSpec({ name, image, purpose, ...(await buildInfo()), bundleDir });
}
