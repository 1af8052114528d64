// The hash of all keys as a member tells it (HashKV), from records that come from the last to the
// first. It covers every record behind the last compaction, and of those before it only the newest
// of each key that is not deleted: it is the same before and after etcd has cleaned up.
import { BLOCK_BYTES, type Bytes } from './bytes.ts';
import { crc32c, Crc32cFromEnd } from './crc32c.ts';
import type { Page } from './page.ts';
import { compareMain, type Revision } from './record.ts';

/** etcd's name of the bucket that holds the records: its hash begins with it. */
const BUCKET = Buffer.from('key');

/** Bytes of the page that lie side by side. */
interface Run {
  from: number;
  readonly end: number;
}

export class KvHash {
  readonly #bytes: Bytes;
  readonly #compacted: Revision | undefined;
  readonly #hash = new Crc32cFromEnd();
  /** Where no key is left at all, etcd leaves nothing out. */
  readonly #hashOfAll = new Crc32cFromEnd();
  #hasLive = false;
  readonly #runs: Run[] = [];
  readonly #runsOfAll: Run[] = [];

  constructor(bytes: Bytes, compacted: Revision | undefined) {
    this.#bytes = bytes;
    this.#compacted = compacted;
  }

  /** The next record before, and whether it is the newest of its key and no delete. */
  take(offset: number, sizeBytes: number, revision: Revision, isLive: boolean): void {
    this.#hasLive ||= isLive;
    const compacted = this.#compacted;
    const order = compacted === undefined ? 1 : compareMain(revision, compacted);
    // Some versions of etcd keep a delete that was compacted just there, and some do not.
    if (order === 0 && revision.isTombstone) return;
    if (order > 0 || isLive) extend(this.#runs, offset, sizeBytes);
    if (!this.#hasLive) extend(this.#runsOfAll, offset, sizeBytes);
  }

  /** After the first record of a page: what was taken of it is read. */
  endPage(page: Page): void {
    this.#add(this.#hash, this.#runs, page);
    if (this.#hasLive) this.#runsOfAll.length = 0;
    else this.#add(this.#hashOfAll, this.#runsOfAll, page);
  }

  /** After the first record of all. */
  value(): number {
    const hash = this.#hasLive ? this.#hash : this.#hashOfAll;
    hash.prepend(crc32c(0, BUCKET), BUCKET.length);
    return hash.value;
  }

  #add(hash: Crc32cFromEnd, runs: Run[], page: Page): void {
    for (const { from, end } of runs) hash.prepend(this.#crcOf(from, end, page), end - from);
    runs.length = 0;
  }

  #crcOf(from: number, end: number, page: Page): number {
    if (page.bytes !== undefined) {
      return crc32c(0, page.bytes.subarray(from - page.offset, end - page.offset));
    }
    // A record may be as large as etcd lets it: it is read block by block, and nothing is copied.
    let crc = 0;
    for (let at = from; at < end;) {
      const length = Math.min(end - at, BLOCK_BYTES - (at % BLOCK_BYTES));
      crc = crc32c(crc, this.#bytes.page(at, length));
      at += length;
    }
    return crc;
  }
}

function extend(runs: Run[], offset: number, sizeBytes: number): void {
  const last = runs.at(-1);
  if (last?.from === offset + sizeBytes) last.from = offset;
  else runs.push({ from: offset, end: offset + sizeBytes });
}
