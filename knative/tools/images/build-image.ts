// From a function's sources to its image and bill of materials: bundles it beside, writes the
// layout, asks what came in, and takes the bundle away again.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { type BuiltFunction, buildFunction, buildInfo } from '../build/build.ts';
import { functionSpec } from './function-image.ts';
import { type Image, writeImage } from './image.ts';
import { type SystemPackage, builtInto, npmPackagesOf, systemPackageOf } from './installed.ts';
import { writeArchive } from './layout.ts';
import { librariesOf } from './libraries.ts';
import { assertPublished, NODE_BINARY, NODE_VERSION } from './published-node.ts';
import { type Contents, billOf } from './sbom.ts';

export interface ImageOrder {
  readonly name: string;
  readonly outDir: string;
  readonly repository: string;
  readonly tag: string;
  readonly writesArchives: boolean;
}

/** Leaves `<outDir>/<name>` (the layout), `<name>.cdx.json`, and `<name>.tar` when asked. */
export async function buildImage(order: ImageOrder): Promise<Image> {
  const { name, outDir, repository, tag } = order;
  const workDir = await mkdtemp(join(tmpdir(), 'ballast-bundle-'));
  try {
    const built = await buildFunction(name, join(workDir, name));
    const spec = await functionSpec({
      name,
      image: `${repository}/${name}:${tag}`,
      purpose: built.purpose,
      ...(await buildInfo()),
      bundleDir: built.dir,
    });
    await mkdir(outDir, { recursive: true });
    const image = await writeImage(spec, join(outDir, name));
    const bill = billOf(image, await contentsOf(built));
    await writeFile(join(outDir, `${name}.cdx.json`), `${JSON.stringify(bill, undefined, 2)}\n`);
    if (order.writesArchives) await writeArchive(image.directory, join(outDir, `${name}.tar`));
    return image;
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function contentsOf({ sources }: BuiltFunction): Promise<Contents> {
  const system = new Map<string, SystemPackage>();
  for (const { path } of await librariesOf(NODE_BINARY)) {
    const found = await systemPackageOf(path);
    if (found !== undefined) system.set(found.name, found);
  }
  return {
    version: manifest.version,
    nodeVersion: NODE_VERSION,
    nodeSha256: await assertPublished(),
    insideNode: await builtInto(NODE_BINARY),
    npm: await npmPackagesOf(sources),
    system: [...system.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
