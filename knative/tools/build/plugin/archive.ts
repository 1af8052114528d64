// Archives in which files are published, such as kubectl ballast. The same files in the same order
// make the same archive.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { throughHash } from '../../images/hashed.ts';
import { EXECUTABLE_MODE } from './bundle.ts';
import { type FileSource, fileContent, type TarEntry, tarOf } from '../../images/tar.ts';

export interface ArchivedFile {
  readonly path: string;
  readonly isExecutable?: boolean;
  readonly from: FileSource;
}

/** Resolves with the SHA-256 of the archive. */
export async function writeArchive(
  files: readonly ArchivedFile[],
  outfile: string,
): Promise<string> {
  const entries = await Promise.all(files.map((file) => entryOf(file)));
  const hash = createHash('sha256');
  const tar = Readable.from(tarOf(entries));
  await pipeline(tar, createGzip(), throughHash(hash), createWriteStream(outfile));
  return hash.digest('hex');
}

async function entryOf({ path, isExecutable = false, from }: ArchivedFile): Promise<TarEntry> {
  const mode = isExecutable ? EXECUTABLE_MODE : 0o644;
  return { path, mode, content: await fileContent(from) };
}
