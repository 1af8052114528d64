// Makes a release: each of its files, their bills of materials, their hashes and a signature. Two
// of the same commit are the same, but for the signature.
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { stringify } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { sourcesIn } from '../build/bundle.ts';
import { emitChart, shippedSource } from '../build/chart/build.ts';
import { writeArchive } from '../build/plugin/archive.ts';
import { emitPlugin } from '../build/plugin/build.ts';
import { PROGRAM } from '../build/plugin/bundle.ts';
import { emitReader } from '../build/reader/build.ts';
import { buildImages, nodeContents, writeBill } from '../images/build-image.ts';
import { hashOfFile } from '../images/hashed.ts';
import { type Image, PLATFORM } from '../images/image.ts';
import { npmPackagesOf } from '../images/installed.ts';
import { filesBelow } from '../images/layer.ts';
import { fileComponent } from '../images/sbom.ts';
import { replaceDirectory } from '../replaced-directory.ts';
import { writeManifests } from './manifests.ts';
import type { ReleaseOptions } from './options.ts';
import { signatureOf } from './signature.ts';

const root = resolve(import.meta.dirname, '../../..');
const { version } = manifest;
const SUMS = 'SHA256SUMS';
const READER = 'ballast-reader';
const LIBRARY = 'shared/nats/replica/library.ts';

export async function makeRelease(
  { functions, outDir, repository, url, key }: ReleaseOptions,
  say: (line: string) => void,
): Promise<void> {
  await replaceDirectory({ directory: outDir, mark: SUMS, is: 'a release' }, async (dir) => {
    const work = join(dir, '.work');
    await mkdir(work);
    say(`images of ${functions.length} functions...`);
    const archive = join(dir, `ballast-images-${version}-linux-${PLATFORM.architecture}.tar`);
    const order = { names: functions, repository, tag: version, archive, outDir: dir };
    const images = await buildImages(order);
    await writeFile(join(dir, 'images.txt'), listOf(images));
    await writeManifests(root, images, join(dir, `ballast-manifests-${version}.tar.gz`));
    say('chart...');
    const chart = await emitChart(shippedSource, join(work, 'chart'));
    await rename(chart, join(dir, basename(chart)));
    await writeFile(join(dir, 'images-values.yaml'), valuesOf(repository, images));
    say('kubectl ballast...');
    await releasePlugin(dir, join(work, 'plugin'), url);
    say('reader...');
    await releaseReader(dir, join(work, 'reader'));
    await rm(work, { recursive: true });
    const sums = await sumsOf(dir);
    await writeFile(join(dir, SUMS), sums);
    if (key !== undefined) await writeFile(join(dir, `${SUMS}.sig`), signatureOf(sums, key));
  });
}

const listOf = (images: ReadonlyMap<string, Image>): string =>
  [...images.values()].map(({ name, digest }) => `${name}@${digest}\n`).join('');

/** For the chart. */
const valuesOf = (repository: string, images: ReadonlyMap<string, Image>): string => {
  const digests = Object.fromEntries([...images].map(([name, { digest }]) => [name, digest]));
  return stringify({ images: { repository, digests } });
};

async function releasePlugin(dir: string, work: string, url: string | undefined): Promise<void> {
  await mkdir(work);
  const { archive, manifest: krew, bundle, sha256, sources } = await emitPlugin(work, url);
  for (const name of [archive, krew, bundle]) await rename(join(work, name), join(dir, name));
  const itself = fileComponent('application', PROGRAM, version, sha256);
  const contents = { npm: await npmPackagesOf(sources), node: await nodeContents() };
  await writeBill(itself, contents, join(dir, `${PROGRAM}.cdx.json`));
}

/** As npm packs it, and takes it. */
async function releaseReader(dir: string, work: string): Promise<void> {
  await mkdir(work);
  await emitReader(work);
  const files = await filesBelow(work, 'package');
  const sha256 = await writeArchive(files, join(dir, `${READER}-${version}.tgz`));
  const { metafile } = await build({
    entryPoints: [LIBRARY],
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
  });
  const itself = fileComponent('library', READER, version, sha256);
  const contents = { npm: await npmPackagesOf(sourcesIn(metafile)) };
  await writeBill(itself, contents, join(dir, `${READER}.cdx.json`));
}

/** As sha256sum writes and checks it. */
async function sumsOf(dir: string): Promise<Buffer> {
  const lines: string[] = [];
  for (const name of (await readdir(dir)).toSorted()) {
    lines.push(`${await hashOfFile(join(dir, name))}  ${name}\n`);
  }
  return Buffer.from(lines.join(''));
}
