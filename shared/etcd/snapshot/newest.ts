// Takes the records of a history from the last to the first, and keeps of each key the first that
// it meets, unless that is a delete. Records that contradict their revision or their order are
// damage.
import type { EtcdEntry } from '../entry.ts';
import type { KvHash } from './kv-hash.ts';
import type { Bytes } from './bytes.ts';
import { Damage } from './damage.ts';
import { elementAt, type Page } from './page.ts';
import {
  compareMain,
  type KeyValue,
  keyValueAt,
  mainOf,
  type Revision,
  revisionAt,
} from './record.ts';
import { KeySet } from './key-set.ts';

/** Enough of a record in a run of pages: its revisions, its key and the head of its value. */
const RECORD_HEAD_BYTES = 4096;
const NO_KEY = Buffer.alloc(0);

/** Where a record lies in the file. */
interface Place {
  readonly offset: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** Set for the last record of a page: the end of the page. */
  readonly endsAt: number | undefined;
}

/** The part of a record that is in memory: from its first byte, perhaps not up to its last. */
interface Read {
  readonly bytes: Buffer;
  readonly start: number;
}

export class Newest {
  readonly #bytes: Bytes;
  readonly #compacted: Revision | undefined;
  readonly #known = new KeySet();
  readonly #hash: KvHash | undefined;
  /** Whether the record that was read last is the newest of its key, and no delete. */
  #isLive = false;
  #keys = 0;
  #revision = 0n;
  #records = 0;
  #before: Revision | undefined;

  /** No key has two records up to revision `compacted`; undefined when it may have everywhere. */
  constructor(bytes: Bytes, compacted: Revision | undefined, hash: KvHash | undefined) {
    this.#bytes = bytes;
    this.#compacted = compacted;
    this.#hash = hash;
  }

  facts(): { readonly revision: bigint; readonly records: number; readonly keys: number } {
    return { revision: this.#revision, records: this.#records, keys: this.#keys };
  }

  /** From the last of the page to its first. */
  entriesIn(page: Page): EtcdEntry[] {
    const batch: EtcdEntry[] = [];
    for (let index = page.count - 1; index >= 0; index -= 1) {
      const { start, keyBytes, valueBytes } = elementAt(page, index);
      const isLast = index === page.count - 1;
      const endsAt = isLast ? page.offset + page.sizeBytes : undefined;
      const place = { offset: page.offset + start, keyBytes, valueBytes, endsAt };
      const read =
        page.bytes === undefined
          ? this.#read(place, RECORD_HEAD_BYTES)
          : { bytes: page.bytes, start };
      const entry = this.#entry(read, place);
      if (entry !== undefined) batch.push(entry);
    }
    this.#hash?.endPage(page);
    return batch;
  }

  #read({ offset, keyBytes, valueBytes }: Place, sizeBytesMax: number): Read {
    return {
      bytes: this.#bytes.copy(offset, Math.min(keyBytes + valueBytes, sizeBytesMax)),
      start: 0,
    };
  }

  #entry(read: Read, place: Place): EtcdEntry | undefined {
    const { offset, keyBytes, valueBytes } = place;
    const revision = revisionAt(read.bytes, read.start, keyBytes);
    if (revision === undefined) throw new Damage(offset, 'a key that is no revision of etcd');
    this.#follow(revision, offset);
    const entry = this.#entryOf(read, place, revision);
    this.#hash?.take(offset, keyBytes + valueBytes, revision, this.#isLive);
    return entry;
  }

  #entryOf(read: Read, place: Place, revision: Revision): EtcdEntry | undefined {
    const { keyBytes, valueBytes } = place;
    const { isTombstone } = revision;
    if (valueBytes === 0 && !isTombstone) return this.#passEmpty(place);
    const fields = keyValueAt(read.bytes, read.start + keyBytes, valueBytes, isTombstone);
    if (fields !== 'short') return this.#live(read, place, revision, fields);
    // A lease behind a large value, or a key of thousands of bytes.
    const whole = this.#read(place, Infinity);
    const all = keyValueAt(whole.bytes, keyBytes, valueBytes, isTombstone);
    return this.#live(whole, place, revision, all);
  }

  /**
   * A restore with `--bump-revision` leaves such a record at the revision that it makes up, for
   * good. Where a length is wrong instead, its value still lies there.
   */
  #passEmpty({ offset, keyBytes, endsAt }: Place): undefined {
    const at = offset + keyBytes;
    const isFull = endsAt === undefined || at === endsAt;
    // etcd takes it for a value of the key that is empty.
    this.#isLive = this.#known.add(NO_KEY, 0, 0, false);
    if (isFull || this.#bytes.copy(at, 1)[0] === 0) return undefined;
    throw new Damage(at, 'a record that is none of etcd');
  }

  /** Undefined when it is not the newest of its key, or the key is deleted. */
  #live(
    { bytes, start }: Read,
    { offset, keyBytes }: Place,
    revision: Revision,
    fields: KeyValue | 'short' | 'broken',
  ): EtcdEntry | undefined {
    if (typeof fields === 'string') {
      throw new Damage(offset + keyBytes, 'a record that is none of etcd');
    }
    const { keyStart, keyEnd, modHigh, modLow, valueStart, valueBytes } = fields;
    const { mainHigh, mainLow, isTombstone } = revision;
    if (!isTombstone && (modHigh !== mainHigh || modLow !== mainLow)) {
      const said = mainOf({ ...revision, mainHigh: modHigh, mainLow: modLow });
      throw new Damage(
        offset,
        `a record of revision ${mainOf(revision)} that says it is of ${said}`,
      );
    }
    const compacted = this.#compacted;
    const isLast = compacted !== undefined && compareMain(revision, compacted) <= 0;
    const isNewest = this.#known.add(bytes, keyStart, keyEnd, isLast);
    this.#isLive = isNewest && !isTombstone;
    if (isNewest) this.#keys += 1;
    if (!this.#isLive) return undefined;
    const head = bytes.subarray(valueStart, Math.min(bytes.length, valueStart + valueBytes));
    const isWhole = head.length === valueBytes;
    const valueOffset = offset + valueStart - start;
    return {
      key: bytes.toString('utf8', keyStart, keyEnd),
      head,
      sizeBytes: valueBytes,
      whole: () => (isWhole ? head : this.#bytes.copy(valueOffset, valueBytes)),
    };
  }

  #follow(revision: Revision, offset: number): void {
    const before = this.#before;
    if (before === undefined) this.#revision = mainOf(revision);
    else {
      const order = compareMain(revision, before) || revision.sub - before.sub;
      if (order >= 0) {
        const why = `revision ${mainOf(revision)} lies before ${mainOf(before)}, which is older`;
        throw new Damage(offset, why);
      }
    }
    this.#before = revision;
    this.#records += 1;
  }
}
