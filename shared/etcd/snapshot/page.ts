// One page of the tree, checked before anything is taken from it: its number, its kind, and that
// its elements lie side by side from the first byte behind the table as bbolt writes them.
import type { Bytes } from './bytes.ts';
import { Damage } from './damage.ts';

/** Where a page lies; one inside another page's value (bbolt's small buckets) has no number. */
export interface PageAt {
  readonly offset: number;
  /** Undefined for a page of the file: its header says how many pages it fills. */
  readonly sizeBytes?: number;
  readonly number: number;
}

export interface Page {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly isLeaf: boolean;
  readonly count: number;
  readonly table: Buffer;
  /** The whole page, when it is one page of the file and not a run of them. */
  readonly bytes: Buffer | undefined;
}

export interface Element {
  /** From the beginning of the page. */
  readonly start: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** Leaf: 1 for a bucket. */
  readonly flags: number;
  /** Branch: the child. */
  readonly child: number;
}

const HEADER_BYTES = 16;
const ELEMENT_BYTES = 16;
const BRANCH = 1;
const LEAF = 2;

export function readPage(bytes: Bytes, at: PageAt, pageBytes: number, pageCount: number): Page {
  const { offset, number } = at;
  const header = bytes.page(offset, HEADER_BYTES);
  const id = Number(header.readBigUInt64LE(0));
  const kind = header.readUInt16LE(8);
  const count = header.readUInt16LE(10);
  const overflow = header.readUInt32LE(12);
  if (id !== number) throw new Damage(offset, `page ${number} is expected, and calls itself ${id}`);
  if (kind !== BRANCH && kind !== LEAF) {
    throw new Damage(offset + 8, `page ${number} is of the kind ${kind}, not one of a tree`);
  }
  if (at.sizeBytes === undefined && number + overflow >= pageCount) {
    throw new Damage(offset + 12, `page ${number} goes on for ${overflow} pages, beyond the last`);
  }
  const sizeBytes = at.sizeBytes ?? (overflow + 1) * pageBytes;
  const tableEnd = HEADER_BYTES + count * ELEMENT_BYTES;
  if (tableEnd > sizeBytes) {
    throw new Damage(offset + 10, `page ${number} has no room for its ${count} elements`);
  }
  const isLeaf = kind === LEAF;
  // An element over several pages is read piece by piece, because its value may have any length.
  const isSingle = sizeBytes <= pageBytes;
  const whole = isSingle ? bytes.page(offset, sizeBytes) : undefined;
  const table = (whole ?? bytes.copy(offset, tableEnd)).subarray(0, tableEnd);
  const page = { offset, sizeBytes, isLeaf, count, table, bytes: whole };
  checkElements(page, number);
  return page;
}

export function elementAt({ table, isLeaf }: Page, index: number): Element {
  const at = HEADER_BYTES + index * ELEMENT_BYTES;
  if (isLeaf) {
    return {
      flags: table.readUInt32LE(at),
      start: at + table.readUInt32LE(at + 4),
      keyBytes: table.readUInt32LE(at + 8),
      valueBytes: table.readUInt32LE(at + 12),
      child: 0,
    };
  }
  return {
    flags: 0,
    start: at + table.readUInt32LE(at),
    keyBytes: table.readUInt32LE(at + 4),
    valueBytes: 0,
    child: Number(table.readBigUInt64LE(at + 8)),
  };
}

/** Good until the next page is read. */
export function keyAt(bytes: Bytes, page: Page, index: number): Buffer {
  const { start, keyBytes } = elementAt(page, index);
  return page.bytes?.subarray(start, start + keyBytes) ?? bytes.copy(page.offset + start, keyBytes);
}

function checkElements(page: Page, number: number): void {
  let expected = page.table.length;
  for (let index = 0; index < page.count; index += 1) {
    const { start, keyBytes, valueBytes } = elementAt(page, index);
    if (start !== expected) {
      const offset = page.offset + HEADER_BYTES + index * ELEMENT_BYTES;
      const problem = `element ${index} of page ${number} begins at ${start}, not at ${expected}`;
      throw new Damage(offset, `${problem}, where the one before ends`);
    }
    expected = start + keyBytes + valueBytes;
  }
  if (expected > page.sizeBytes) {
    throw new Damage(page.offset, `the elements of page ${number} go on beyond its end`);
  }
  if (page.count === 0 && !page.isLeaf) {
    throw new Damage(page.offset + 10, `page ${number} is a branch without children`);
  }
}
