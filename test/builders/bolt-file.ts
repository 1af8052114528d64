// Writes a bbolt file as etcd's snapshots are, from records in the order of their revisions: for
// tests that damage one byte of it, and for a benchmark that needs a large one quickly. etcdutl
// reads what it writes.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

export interface HistoryRecord {
  readonly main: number | bigint;
  readonly key: string;
  /** Undefined for a delete. */
  readonly value: string | Buffer | undefined;
}

export interface BoltOptions {
  readonly hasDigest?: boolean;
  /** Up to this revision there is one record of each key, as after a compaction of etcd. */
  readonly compacted?: number | bigint;
}

const PAGE = 4096;
const HEADER = 16;
const ELEMENT = 16;
/** etcd leaves a tenth of each page free. */
const FILL = Math.floor(PAGE * 0.9);
const [BRANCH, LEAF, META, FREELIST] = [1, 2, 4, 16];
const BUCKET = 1;

interface Item {
  readonly flags: number;
  readonly key: Buffer;
  readonly value: Buffer;
}

interface Child {
  readonly key: Buffer;
  readonly page: number;
}

/** Returns the size of the file. */
export function writeBoltFile(
  path: string,
  records: Iterable<HistoryRecord>,
  { hasDigest = true, compacted }: BoltOptions = {},
): number {
  const fd = openSync(path, 'w+');
  try {
    const file = new BoltFile(fd);
    const root = file.tree(itemsOf(records));
    const buckets = [
      { flags: BUCKET, key: Buffer.from('key'), value: bucketValue(root) },
      // etcdutl looks for the version of the storage in it.
      { flags: BUCKET, key: Buffer.from('meta'), value: metaBucket(compacted) },
    ];
    file.finish(file.leaf(buckets).page);
    return hasDigest ? appendDigest(fd, file.sizeBytes) : file.sizeBytes;
  } finally {
    closeSync(fd);
  }
}

/** mvccpb.KeyValue under its revision. */
function* itemsOf(records: Iterable<HistoryRecord>): Generator<Item> {
  const versions = new Map<string, { created: number | bigint; version: number }>();
  for (const { main, key, value } of records) {
    const revision = revisionKey(main, value === undefined);
    const keyField = field(1, Buffer.from(key));
    if (value === undefined) {
      versions.delete(key);
      yield { flags: 0, key: revision, value: keyField };
      continue;
    }
    const { created, version } = versions.get(key) ?? { created: main, version: 0 };
    versions.set(key, { created, version: version + 1 });
    const numbers = [0x10, ...varint(created), 0x18, ...varint(main), 0x20, ...varint(version + 1)];
    const fields = [keyField, Buffer.from(numbers), field(5, Buffer.from(value))];
    yield { flags: 0, key: revision, value: Buffer.concat(fields) };
  }
}

function revisionKey(main: number | bigint, isTombstone: boolean): Buffer {
  const key = Buffer.alloc(isTombstone ? 18 : 17);
  key.writeBigUInt64BE(BigInt(main), 0);
  key[8] = 0x5f;
  if (isTombstone) key[17] = 0x74;
  return key;
}

const field = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);

function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  if (typeof value === 'bigint') {
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    return [...bytes, Number(rest)];
  }
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

function bucketValue(root: number): Buffer {
  const value = Buffer.alloc(16);
  value.writeBigUInt64LE(BigInt(root));
  return value;
}

/** Small enough to lie in the page that names it. */
function metaBucket(compacted: number | bigint | undefined): Buffer {
  const key = Buffer.from('finishedCompactRev');
  const value = revisionKey(compacted ?? 0, false);
  const rows = compacted === undefined ? [] : [leafRow({ flags: 0, key, value })];
  const page = pageOf(0, LEAF, rows);
  return Buffer.concat([bucketValue(0), page]);
}

const leafRow = ({ flags, key, value }: Item): Row => ({
  bytes: Buffer.concat([key, value]),
  write: (table, pos) => {
    for (const [index, number] of [flags, pos, key.length, value.length].entries()) {
      table.writeUInt32LE(number, 4 * index);
    }
  },
});

/** Header, table and data, without what fills it up to whole pages of the file. */
function pageOf(number: number, kind: number, rows: readonly Row[]): Buffer {
  const tableEnd = HEADER + rows.length * ELEMENT;
  const sizeBytes = rows.reduce((sum, { bytes }) => sum + bytes.length, tableEnd);
  const page = Buffer.alloc(sizeBytes);
  page.writeBigUInt64LE(BigInt(number), 0);
  page.writeUInt16LE(kind, 8);
  page.writeUInt16LE(rows.length, 10);
  page.writeUInt32LE(Math.ceil(sizeBytes / PAGE) - 1, 12);
  let start = tableEnd;
  for (const [index, { bytes, write }] of rows.entries()) {
    const at = HEADER + index * ELEMENT;
    write(page.subarray(at, at + ELEMENT), start - at);
    bytes.copy(page, start);
    start += bytes.length;
  }
  return page;
}

class BoltFile {
  readonly #fd: number;
  /** The two meta pages come last. */
  #pages = 2;
  #waiting: Buffer[] = [];
  #waitingFrom = 2;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get sizeBytes(): number {
    return this.#pages * PAGE;
  }

  tree(items: Iterable<Item>): number {
    let children: Child[] = [];
    let waiting: Item[] = [];
    let sizeBytes = HEADER;
    for (const item of items) {
      const more = ELEMENT + item.key.length + item.value.length;
      if (waiting.length > 1 && sizeBytes + more > FILL) {
        children.push(this.leaf(waiting));
        waiting = [];
        sizeBytes = HEADER;
      }
      waiting.push(item);
      sizeBytes += more;
    }
    children.push(this.leaf(waiting));
    while (children.length > 1) children = this.#level(children);
    return children[0]?.page ?? 0;
  }

  leaf(items: readonly Item[]): Child {
    const rows = items.map((item) => leafRow(item));
    return { key: items[0]?.key ?? Buffer.alloc(0), page: this.#page(LEAF, rows) };
  }

  finish(root: number): void {
    this.#flush();
    const freelist = this.#page(FREELIST, []);
    this.#flush();
    for (const number of [0, 1]) {
      const page = Buffer.alloc(PAGE);
      page.writeBigUInt64LE(BigInt(number), 0);
      page.writeUInt16LE(META, 8);
      page.writeUInt32LE(0xed0cdaed, 16);
      page.writeUInt32LE(2, 20);
      page.writeUInt32LE(PAGE, 24);
      const numbers = [root, 0, freelist, this.#pages, 7 + number];
      for (const [index, value] of numbers.entries()) {
        page.writeBigUInt64LE(BigInt(value), 32 + 8 * index);
      }
      page.writeBigUInt64LE(metaChecksum(page), 72);
      writeSync(this.#fd, page, 0, PAGE, number * PAGE);
    }
  }

  #level(children: readonly Child[]): Child[] {
    const perPage = Math.floor((FILL - HEADER) / (ELEMENT + 18));
    const parents: Child[] = [];
    for (let at = 0; at < children.length; at += perPage) {
      const own = children.slice(at, at + perPage);
      const rows = own.map(({ key, page }) => ({
        bytes: key,
        write: (table: Buffer, pos: number) => {
          table.writeUInt32LE(pos, 0);
          table.writeUInt32LE(key.length, 4);
          table.writeBigUInt64LE(BigInt(page), 8);
        },
      }));
      parents.push({ key: own[0]?.key ?? Buffer.alloc(0), page: this.#page(BRANCH, rows) });
    }
    return parents;
  }

  #page(kind: number, rows: readonly Row[]): number {
    const number = this.#pages;
    const page = pageOf(number, kind, rows);
    const count = Math.ceil(page.length / PAGE);
    this.#pages += count;
    this.#waiting.push(page, Buffer.alloc(count * PAGE - page.length));
    if (this.#waiting.length >= 512) this.#flush();
    return number;
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#waiting);
    writeSync(this.#fd, bytes, 0, bytes.length, this.#waitingFrom * PAGE);
    this.#waiting = [];
    this.#waitingFrom = this.#pages;
  }
}

interface Row {
  readonly bytes: Buffer;
  readonly write: (table: Buffer, pos: number) => void;
}

/** FNV-64a of the meta page's fields; a test that changes one of them writes it anew. */
export function metaChecksum(page: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of page.subarray(16, 72)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
}

function appendDigest(fd: number, sizeBytes: number): number {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(1 << 20);
  for (let at = 0; at < sizeBytes; at += chunk.length) {
    hash.update(chunk.subarray(0, readSync(fd, chunk, 0, chunk.length, at)));
  }
  const digest = hash.digest();
  writeSync(fd, digest, 0, digest.length, sizeBytes);
  return sizeBytes + digest.length;
}
