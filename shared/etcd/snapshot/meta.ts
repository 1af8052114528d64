// The two meta pages of a bbolt file, each with a checksum of its own: the valid one of the newest
// transaction says how large a page is, how many there are, and where the tree begins.
import type { Bytes } from './bytes.ts';
import { Damage } from './damage.ts';

export interface Meta {
  readonly pageBytes: number;
  readonly rootPage: number;
  /** No page has this number or a higher one. */
  readonly pageCount: number;
  readonly txid: bigint;
}

const MAGIC = 0xed0cdaed;
const VERSION = 2;
const PAGE_HEADER_BYTES = 16;
const META_BYTES = 64;
const CHECKED_BYTES = 56;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 64 * 1024;

export function readMeta(bytes: Bytes): Meta {
  const packed = packedBy(bytes);
  if (packed !== undefined) throw new Damage(0, `it is compressed by ${packed}: unpack it first`);
  if (bytes.sizeBytes < PAGE_HEADER_BYTES + META_BYTES) {
    throw new Damage(bytes.sizeBytes, 'the file ends before its first meta page does');
  }
  const first = metaAt(bytes, 0);
  const second = first === undefined ? findSecond(bytes) : metaAt(bytes, first.pageBytes);
  const found = [first, second].filter((meta) => meta !== undefined);
  const newest = found.toSorted((a, b) => (a.txid > b.txid ? -1 : 1))[0];
  if (newest !== undefined) return checked(newest, bytes.sizeBytes);
  const isForeign = bytes.page(PAGE_HEADER_BYTES, 4).readUInt32LE(0) !== MAGIC;
  throw new Damage(
    PAGE_HEADER_BYTES,
    isForeign
      ? 'it does not begin as a bbolt file does'
      : 'neither of its meta pages matches its own checksum',
  );
}

/** Archive formats in which snapshots are often kept, by their first bytes. */
const PACKED: readonly (readonly [magic: string, by: string])[] = [
  ['1f8b', 'gzip'],
  ['28b52ffd', 'zstd'],
  ['fd377a585a00', 'xz'],
  ['425a68', 'bzip2'],
  ['504b0304', 'zip'],
];

/** In a database, page 0 begins with its own number. */
function packedBy(bytes: Bytes): string | undefined {
  const head = bytes.copy(0, Math.min(8, bytes.sizeBytes)).toString('hex');
  return PACKED.find(([magic]) => head.startsWith(magic))?.[1];
}

/** The first one is broken, so where the second one begins is not known. */
function findSecond(bytes: Bytes): Meta | undefined {
  for (let size = PAGE_BYTES_MIN; size <= PAGE_BYTES_MAX; size *= 2) {
    const meta = metaAt(bytes, size);
    if (meta?.pageBytes === size) return meta;
  }
  return undefined;
}

/** Undefined where there is no meta page that is whole. */
function metaAt(bytes: Bytes, pageOffset: number): Meta | undefined {
  const offset = pageOffset + PAGE_HEADER_BYTES;
  if (offset + META_BYTES > bytes.sizeBytes) return undefined;
  const meta = bytes.copy(offset, META_BYTES);
  if (meta.readUInt32LE(0) !== MAGIC || meta.readUInt32LE(4) !== VERSION) return undefined;
  if (fnv64a(meta.subarray(0, CHECKED_BYTES)) !== meta.readBigUInt64LE(56)) return undefined;
  return {
    pageBytes: meta.readUInt32LE(8),
    rootPage: Number(meta.readBigUInt64LE(16)),
    pageCount: Number(meta.readBigUInt64LE(40)),
    txid: meta.readBigUInt64LE(48),
  };
}

function checked(meta: Meta, sizeBytes: number): Meta {
  const { pageBytes, pageCount, rootPage } = meta;
  const isPower = Number.isInteger(Math.log2(pageBytes));
  if (!isPower || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) {
    throw new Damage(PAGE_HEADER_BYTES + 8, `a page size of ${pageBytes} bytes cannot be`);
  }
  if (pageCount * pageBytes > sizeBytes) {
    const wanted = pageCount * pageBytes;
    throw new Damage(
      sizeBytes,
      `the file is cut off here, its meta page speaks of ${wanted} bytes`,
    );
  }
  if (rootPage < 2 || rootPage >= pageCount) {
    throw new Damage(PAGE_HEADER_BYTES + 16, `its tree begins in page ${rootPage}, which is none`);
  }
  return meta;
}

function fnv64a(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
