// An OCI image layout (oci-layout, index.json, blobs/sha256) written as content comes, named by its
// digests, and put in place by one rename.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { replaceDirectory } from '../replaced-directory.ts';
import { type Chunks, type TarEntry, tarOf } from './tar.ts';

export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly size: number;
}

const BLOBS = 'blobs/sha256';
const MARK = 'oci-layout';

/** Writes one blob, of any size, in the memory of one chunk. */
export async function writeBlob(
  directory: string,
  mediaType: string,
  content: Chunks,
): Promise<Descriptor> {
  const blobs = join(directory, BLOBS);
  await mkdir(blobs, { recursive: true });
  const unnamed = join(blobs, `.${randomUUID()}`);
  const hash = createHash('sha256');
  let size = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  };
  await pipeline(counted, createWriteStream(unnamed));
  const hex = hash.digest('hex');
  await rename(unnamed, join(blobs, hex));
  return { mediaType, digest: `sha256:${hex}`, size };
}

export const writeJsonBlob = (
  directory: string,
  mediaType: string,
  value: object,
): Promise<Descriptor> => writeBlob(directory, mediaType, [Buffer.from(JSON.stringify(value))]);

/** `fill` writes the blobs and says what the index lists. A layout that was there before goes. */
export function writeLayout<Written extends { index: readonly object[] }>(
  directory: string,
  fill: (unfinished: string) => Promise<Written>,
): Promise<Written> {
  return replaceDirectory({ directory, mark: MARK, is: 'an image' }, async (unfinished) => {
    const written = await fill(unfinished);
    const index = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: written.index,
    };
    await writeFile(join(unfinished, 'index.json'), JSON.stringify(index));
    await writeFile(join(unfinished, MARK), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    return written;
  });
}

/** The layout as one tar, as `ctr images import` and `podman load` take it. */
export async function writeArchive(layout: string, path: string): Promise<void> {
  const blobs = (await readdir(join(layout, BLOBS))).toSorted();
  const files = [...blobs.map((name) => `${BLOBS}/${name}`), 'index.json', MARK];
  const entries: TarEntry[] = [
    { path: 'blobs', mode: 0o755, content: { kind: 'directory' } },
    { path: BLOBS, mode: 0o755, content: { kind: 'directory' } },
  ];
  for (const file of files) {
    const host = join(layout, file);
    const { size } = await stat(host);
    const read = (): Chunks => createReadStream(host);
    entries.push({ path: file, mode: 0o644, content: { kind: 'file', sizeBytes: size, read } });
  }
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${randomUUID()}`;
  try {
    await pipeline(tarOf(entries), createWriteStream(unfinished));
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}
