// A ustar archive that depends on nothing but paths, modes and content: no owner but root, no time,
// no extension. By hand, since it is a header of 512 bytes, and an async generator gives
// back-pressure for nothing where a package's streams have to be waited for.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Entries of the archive, in the given order. */
export interface TarEntry {
  /** Relative, without a slash at either end. */
  readonly path: string;
  readonly mode: number;
  readonly content: TarContent;
}

type File = { readonly kind: 'file'; readonly sizeBytes: number };
type Other = { readonly kind: 'link'; readonly target: string } | { readonly kind: 'directory' };

type FileContent = File & { readonly read: () => Chunks };
export type TarContent = FileContent | Other;

/** A file that is there, or one of this text. */
export type FileSource = { readonly host: string } | { readonly text: string };

interface Header extends Omit<TarEntry, 'content'> {
  readonly content: File | Other;
}

export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export const BLOCK_BYTES = 512;
/** Two empty blocks end an archive. */
export const END = Buffer.alloc(2 * BLOCK_BYTES);

/** Eleven octal digits are all that the field of the size has. */
const SIZE_BYTES_MAX = 8 ** 11 - 1;

export async function* tarOf(entries: Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    yield headerOf(entry);
    if (entry.content.kind === 'file') yield* contentOf(entry.path, entry.content);
  }
  yield END;
}

async function* contentOf(
  path: string,
  { sizeBytes, read }: Extract<TarContent, { kind: 'file' }>,
): AsyncGenerator<Uint8Array> {
  let writtenBytes = 0;
  for await (const chunk of read()) {
    writtenBytes += chunk.length;
    yield chunk;
  }
  // The header has gone out: what grew or shrank since would shift everything behind it.
  if (writtenBytes !== sizeBytes) {
    const message = `${path} has ${writtenBytes} bytes, and had ${sizeBytes} a moment ago`;
    throw new Error(`${message}: it changed while the archive was written. Try again.`);
  }
  const padding = paddingOf(sizeBytes);
  if (padding > 0) yield Buffer.alloc(padding);
}

export async function fileContent(from: FileSource): Promise<FileContent> {
  if ('text' in from) {
    const bytes = Buffer.from(from.text);
    return { kind: 'file', sizeBytes: bytes.length, read: () => [bytes] };
  }
  const { size } = await stat(from.host);
  return { kind: 'file', sizeBytes: size, read: () => createReadStream(from.host) };
}

/** Bytes up to the next block. */
export const paddingOf = (sizeBytes: number): number =>
  Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES - sizeBytes;

const TYPES: Readonly<Record<TarContent['kind'], string>> = {
  file: '0',
  link: '2',
  directory: '5',
};

/** The name of the format, and its version. */
const MAGIC = 'ustar\u000000';

/** The header of an entry, whose content may be elsewhere. */
export function headerOf({ path, mode, content }: Header): Buffer {
  const sizeBytes = content.kind === 'file' ? content.sizeBytes : 0;
  if (sizeBytes > SIZE_BYTES_MAX) throw new Error(`${path} is too large for a tar: ${sizeBytes}.`);
  const { prefix, name } = splitPath(content.kind === 'directory' ? `${path}/` : path);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108); // uid
  header.write(octal(0, 7), 116); // gid
  header.write(octal(sizeBytes, 11), 124);
  header.write(octal(0, 11), 136); // mtime
  header.write(' '.repeat(8), 148); // the checksum counts as spaces
  header.write(TYPES[content.kind], 156);
  if (content.kind === 'link') header.write(fitting(content.target, 100), 157);
  header.write(MAGIC, 257, 'latin1');
  header.write(prefix, 345);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 6)}\0 `, 148, 'latin1');
  return header;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** A path that is longer than the name field is cut at a slash. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { prefix: '', name: path };
  for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', cut + 1)) {
    const name = path.slice(cut + 1);
    if (name !== '' && Buffer.byteLength(name) <= NAME_BYTES)
      return { prefix: fitting(path.slice(0, cut), PREFIX_BYTES), name };
  }
  throw new Error(`The path ${path} is too long for a tar; shorten it.`);
}

function fitting(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  throw new Error(`${text} is too long for a tar: ${maxBytes} bytes are the most. Shorten it.`);
}
