// Walks a bbolt tree from its last leaf to its first. Each page must hold the keys that the branch
// above it says, and the tree ends at a depth and with the file, so a pointer that loops or leads
// astray ends the walk with its offset.
import type { Bytes } from './bytes.ts';
import { Damage } from './damage.ts';
import type { Meta } from './meta.ts';
import { elementAt, keyAt, type Page, type PageAt, readPage } from './page.ts';

/** A branch has two children at least; more levels than this hold more than a file can. */
const DEPTH_MAX = 64;
const BUCKET = 1;

/**
 * Bounds that the branch above sets for the keys in a page: from `from` on, and before `before`.
 */
interface Bounds {
  readonly from?: Buffer | undefined;
  readonly before?: Buffer | undefined;
}

interface Step {
  readonly page: Page;
  readonly bounds: Bounds;
  /** The child to the right of this one was the last to be read. */
  next: number;
}
const BUCKET_HEADER_BYTES = 16;

export class Tree {
  readonly #bytes: Bytes;
  readonly #meta: Meta;

  constructor(bytes: Bytes, meta: Meta) {
    this.#bytes = bytes;
    this.#meta = meta;
  }

  /** The root pages of all buckets by name. */
  buckets(): ReadonlyMap<string, PageAt> {
    const found = new Map<string, PageAt>();
    for (const page of this.leaves(this.#pageAt(this.#meta.rootPage, 0))) {
      for (let index = 0; index < page.count; index += 1) {
        const { flags, start, keyBytes, valueBytes } = elementAt(page, index);
        if ((flags & BUCKET) === 0) continue;
        const at = page.offset + start;
        const name = this.#bytes.copy(at, keyBytes).toString('latin1');
        found.set(name, this.#bucketRoot(at + keyBytes, valueBytes));
      }
    }
    return found;
  }

  /** The value under a key of a bucket; undefined when there is none. */
  value(root: PageAt, key: string): Buffer | undefined {
    let value: Buffer | undefined;
    for (const page of this.leaves(root)) {
      for (let index = 0; index < page.count; index += 1) {
        const { start, keyBytes, valueBytes } = elementAt(page, index);
        const at = page.offset + start;
        if (keyBytes !== key.length) continue;
        if (this.#bytes.copy(at, keyBytes).toString('latin1') !== key) continue;
        value = this.#bytes.copy(at + keyBytes, valueBytes);
      }
    }
    return value;
  }

  /** From the last to the first. A page is good until the next one is asked for. */
  *leaves(root: PageAt): Generator<Page, void, undefined> {
    const stack: Step[] = [];
    let at: PageAt | undefined = root;
    let bounds: Bounds = {};
    let readBytes = 0;
    for (;;) {
      if (at !== undefined) {
        const page = this.#read(at);
        readBytes += page.sizeBytes;
        if (readBytes > this.#meta.pageCount * this.#meta.pageBytes) {
          throw new Damage(page.offset, 'the tree has more pages than the file, and so some twice');
        }
        if (at !== root) this.#assertWithin(page, bounds);
        if (page.isLeaf) yield page;
        else if (stack.length === DEPTH_MAX) {
          throw new Damage(page.offset, `the tree is deeper than ${DEPTH_MAX} pages`);
        } else stack.push({ page: kept(page), bounds, next: page.count });
      }
      const top = stack.at(-1);
      if (top === undefined) return;
      top.next -= 1;
      at = undefined;
      if (top.next < 0) stack.pop();
      else {
        bounds = this.#boundsOf(top);
        at = this.#pageAt(elementAt(top.page, top.next).child, top.page.offset);
      }
    }
  }

  #boundsOf({ page, bounds, next }: Step): Bounds {
    const from = keyAt(this.#bytes, page, next);
    const before = next + 1 < page.count ? keyAt(this.#bytes, page, next + 1) : bounds.before;
    return { from, before };
  }

  /** A pointer to a page that was something else, or belongs elsewhere, ends here. */
  #assertWithin(page: Page, { from, before }: Bounds): void {
    if (page.count === 0) throw new Damage(page.offset, 'a page of the tree is empty');
    const first = keyAt(this.#bytes, page, 0);
    const last = keyAt(this.#bytes, page, page.count - 1);
    const isBelow = from !== undefined && first.compare(from) < 0;
    const isAbove = before !== undefined && last.compare(before) >= 0;
    if (!isBelow && !isAbove) return;
    throw new Damage(page.offset, 'a page holds keys that the branch above it has elsewhere');
  }

  #read(at: PageAt): Page {
    return readPage(this.#bytes, at, this.#meta.pageBytes, this.#meta.pageCount);
  }

  #pageAt(number: number, parent: number): PageAt {
    // The first two are the meta pages.
    if (number >= 2 && number < this.#meta.pageCount) {
      return { number, offset: number * this.#meta.pageBytes };
    }
    throw new Damage(parent, `a branch points to page ${number}, and there is none`);
  }

  #bucketRoot(offset: number, sizeBytes: number): PageAt {
    if (sizeBytes < BUCKET_HEADER_BYTES) throw new Damage(offset, 'a bucket without its header');
    const number = Number(this.#bytes.copy(offset, 8).readBigUInt64LE(0));
    if (number !== 0) return this.#pageAt(number, offset);
    // A small bucket lies whole behind its header.
    const start = offset + BUCKET_HEADER_BYTES;
    return { number: 0, offset: start, sizeBytes: sizeBytes - BUCKET_HEADER_BYTES };
  }
}

/** A branch waits on the stack while the blocks under it are read anew. */
const kept = (page: Page): Page => ({
  ...page,
  table: Buffer.from(page.table),
  bytes: page.bytes && Buffer.from(page.bytes),
});
