// Takes the records of a history from the last to the first, and keeps of each key the first that
// it meets, unless that is a delete. Records that contradict their revision or their order are
// damage.
import type { EtcdEntry } from '../entry.ts';
import type { Bytes } from './bytes.ts';
import { Damage } from './damage.ts';
import { elementAt, type Page } from './page.ts';
import { type KeyValue, keyValueAt, type Revision, revisionAt } from './record.ts';
import { SeenKeys } from './seen.ts';

/** Enough of a record in a run of pages: its revisions, its key and the head of its value. */
const RECORD_HEAD_BYTES = 4096;

/** Where a record lies in the file. */
interface Place {
  readonly offset: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
}

/** What is in memory of a record: from its first byte, perhaps not up to its last. */
interface Read {
  readonly bytes: Buffer;
  readonly start: number;
}

export class Newest {
  readonly #bytes: Bytes;
  readonly #compacted: number;
  readonly #seen = new SeenKeys();
  #keys = 0;
  #revision = 0;
  #records = 0;
  #before: Revision | undefined;

  /** No key has two records up to revision `compacted`. */
  constructor(bytes: Bytes, compacted: number) {
    this.#bytes = bytes;
    this.#compacted = compacted;
  }

  facts(): { readonly revision: number; readonly records: number; readonly keys: number } {
    return { revision: this.#revision, records: this.#records, keys: this.#keys };
  }

  /** From the last of the page to its first. */
  entriesIn(page: Page): EtcdEntry[] {
    const batch: EtcdEntry[] = [];
    for (let index = page.count - 1; index >= 0; index -= 1) {
      const { start, keyBytes, valueBytes } = elementAt(page, index);
      const place = { offset: page.offset + start, keyBytes, valueBytes };
      const read =
        page.bytes === undefined
          ? this.#read(place, RECORD_HEAD_BYTES)
          : { bytes: page.bytes, start };
      const entry = this.#entry(read, place);
      if (entry !== undefined) batch.push(entry);
    }
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
    const fields = keyValueAt(read.bytes, read.start + keyBytes, valueBytes);
    if (fields !== 'short') return this.#live(read, place, revision, fields);
    // A key of thousands of bytes: nothing that an API server writes, but a key.
    const whole = this.#read(place, Infinity);
    return this.#live(whole, place, revision, keyValueAt(whole.bytes, keyBytes, valueBytes));
  }

  /** Undefined when it is not the newest of its key, or the key is deleted. */
  #live(
    { bytes, start }: Read,
    { offset, keyBytes }: Place,
    { main, isTombstone }: Revision,
    fields: KeyValue | 'short' | 'broken',
  ): EtcdEntry | undefined {
    if (typeof fields === 'string') {
      throw new Damage(offset + keyBytes, 'a record that is none of etcd');
    }
    const { keyStart, keyEnd, modRevision, valueStart, valueBytes } = fields;
    if (!isTombstone && modRevision !== main) {
      throw new Damage(offset, `a record of revision ${main} that says it is of ${modRevision}`);
    }
    if (!this.#seen.add(bytes, keyStart, keyEnd, main <= this.#compacted)) return undefined;
    this.#keys += 1;
    if (isTombstone) return undefined;
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
    const { main, sub } = revision;
    const before = this.#before;
    if (before === undefined) this.#revision = main;
    else if (main > before.main || (main === before.main && sub >= before.sub)) {
      throw new Damage(offset, `revision ${main} lies before ${before.main}, which is older`);
    }
    this.#before = revision;
    this.#records += 1;
  }
}
