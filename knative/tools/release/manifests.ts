// The folder knative as people apply it, in an archive, with the images of a release by digest.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ArchivedFile, writeArchive } from '../build/plugin/archive.ts';
import type { Image } from '../images/image.ts';
import { filesBelow } from '../images/layer.ts';

/** Commands, and what tries and tests the manifests. */
const LEFT_OUT = /^knative\/(tools|try)\//;
const UNNAMED = 'dev.local/ballast/';

/** `images` by function. */
export async function writeManifests(
  repository: string,
  images: ReadonlyMap<string, Image>,
  outfile: string,
): Promise<void> {
  const named = new Set<string>();
  const files: ArchivedFile[] = [];
  for (const { path, from } of await manifestsIn(repository)) {
    let text = await readFile(from.host, 'utf8');
    for (const [name, image] of images) {
      const before = text;
      text = withDigest(path, before, name, image);
      if (text !== before) named.add(name);
    }
    files.push({ path, from: { text } });
  }
  const missed = [...images.keys()].find((name) => !named.has(name));
  if (missed !== undefined) throw new Error(`No manifest names the image of ${missed}.`);
  await writeArchive(files, outfile);
}

async function manifestsIn(repository: string): ReturnType<typeof filesBelow> {
  const found = await filesBelow(join(repository, 'knative'), 'knative');
  return found.filter(({ path }) => !LEFT_OUT.test(path));
}

/** As text, since comments say what is there to be changed. */
function withDigest(path: string, text: string, name: string, { digest, ...of }: Image): string {
  const repository = of.name.slice(0, of.name.lastIndexOf(':'));
  if (basename(path) === 'kustomization.yaml') {
    const entry = new RegExp(`newName: ${UNNAMED}${name}\n( +)newTag: .*`, 'g');
    return text.replaceAll(
      entry,
      (_, indent: string) => `newName: ${repository}\n${indent}digest: ${digest}`,
    );
  }
  if (basename(path) !== 'settings.env') return text;
  return text.replaceAll(
    new RegExp(`=${UNNAMED}${name}:.*`, 'g'),
    () => `=${repository}@${digest}`,
  );
}
