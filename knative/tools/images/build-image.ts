// From functions' sources to their images and bills of materials: bundles beside, writes the
// layout, asks what came in, and takes the bundles away again.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { buildFunction, buildInfo } from '../build/build.ts';
import { functionSpec, hasCommand } from './function-image.ts';
import { type Image, writeImage, writeImages } from './image.ts';
import { type SystemPackage, builtInto, npmPackagesOf, systemPackageOf } from './installed.ts';
import { writeArchive } from './layout.ts';
import { librariesOf } from './libraries.ts';
import { assertPublished, NODE_BINARY, NODE_VERSION } from './published-node.ts';
import {
  type Component,
  type Contents,
  type NodeContents,
  billOf,
  imageComponent,
} from './sbom.ts';
import type { ImageSpec } from './spec.ts';

interface Naming {
  readonly repository: string;
  readonly tag: string;
}

export interface ImageOrder extends Naming {
  readonly name: string;
  readonly outDir: string;
  readonly writesArchives: boolean;
}

/** Leaves `<outDir>/<name>` (the layout), `<name>.cdx.json`, and `<name>.tar` when asked. */
export function buildImage(order: ImageOrder): Promise<Image> {
  const { name, outDir } = order;
  return withBundles([name], order, async ([bundled]) => {
    if (bundled === undefined) throw new Error(`${name} was not bundled.`);
    await mkdir(outDir, { recursive: true });
    const image = await writeImage(bundled.spec, join(outDir, name));
    await writeBillOf(bundled, image, outDir);
    if (order.writesArchives) await writeArchive(image.directory, join(outDir, `${name}.tar`));
    return image;
  });
}

export interface ImagesOrder extends Naming {
  readonly names: readonly string[];
  readonly archive: string;
  /** Gets `<name>.cdx.json` of each. */
  readonly outDir: string;
}

/** All in one archive of one layout, which has Node once. Resolves with the images by function. */
export function buildImages(order: ImagesOrder): Promise<ReadonlyMap<string, Image>> {
  return withBundles(order.names, order, async (bundles, workDir) => {
    const layout = join(workDir, 'layout');
    const images = await writeImages(
      bundles.map(({ spec }) => spec),
      layout,
    );
    await writeArchive(layout, order.archive);
    const named = new Map<string, Image>();
    for (const [at, image] of images.entries()) {
      const bundled = bundles[at];
      if (bundled === undefined) continue;
      await writeBillOf(bundled, image, order.outDir);
      named.set(bundled.name, image);
    }
    return named;
  });
}

interface Bundled {
  readonly name: string;
  readonly spec: ImageSpec;
  readonly contents: Contents;
}

/** The bundles are there while `use` runs. */
async function withBundles<Told>(
  names: readonly string[],
  { repository, tag }: Naming,
  use: (bundles: readonly Bundled[], workDir: string) => Promise<Told>,
): Promise<Told> {
  const workDir = await mkdtemp(join(tmpdir(), 'ballast-bundle-'));
  try {
    const node = { ...(await nodeContents()), system: await systemPackages() };
    const info = await buildInfo();
    const bundles: Bundled[] = [];
    for (const name of names) {
      const { purpose, dir, sources, commandSources } = await buildFunction(
        name,
        join(workDir, name),
      );
      const image = `${repository}/${name}:${tag}`;
      const spec = await functionSpec({ name, image, purpose, ...info, bundleDir: dir });
      const all = hasCommand(name) ? [...sources, ...commandSources] : sources;
      bundles.push({ name, spec, contents: { npm: await npmPackagesOf(all), node } });
    }
    return await use(bundles, workDir);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

const writeBillOf = ({ name, contents }: Bundled, image: Image, outDir: string): Promise<void> =>
  writeBill(imageComponent(image, manifest.version), contents, join(outDir, `${name}.cdx.json`));

export const writeBill = (itself: Component, contents: Contents, path: string): Promise<void> =>
  writeFile(path, `${JSON.stringify(billOf(itself, contents), undefined, 2)}\n`);

/** Without libraries, which are the user's own where only the program ships. */
export const nodeContents = async (): Promise<NodeContents> => ({
  version: NODE_VERSION,
  sha256: await assertPublished(),
  inside: await builtInto(NODE_BINARY),
  system: [],
});

async function systemPackages(): Promise<readonly SystemPackage[]> {
  const system = new Map<string, SystemPackage>();
  for (const { path } of await librariesOf(NODE_BINARY)) {
    const found = await systemPackageOf(path);
    if (found !== undefined) system.set(found.name, found);
  }
  return [...system.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
