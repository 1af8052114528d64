// The archive in which kubectl ballast is published: the program, what kubectl asks to complete it,
// and the licences. The same files make the same archive.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { throughHash } from '../../images/hashed.ts';
import { EXECUTABLE_MODE } from './bundle.ts';
import { type TarEntry, tarOf } from '../../images/tar.ts';

export interface ArchivedFile {
  readonly path: string;
  readonly isExecutable?: boolean;
  readonly from: { readonly host: string } | { readonly text: string };
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
  if ('text' in from) {
    const bytes = Buffer.from(from.text);
    return { path, mode, content: { kind: 'file', sizeBytes: bytes.length, read: () => [bytes] } };
  }
  const { size } = await stat(from.host);
  const read = (): AsyncIterable<Buffer> => createReadStream(from.host);
  return { path, mode, content: { kind: 'file', sizeBytes: size, read } };
}
