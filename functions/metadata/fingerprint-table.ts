// Remembers what each subject last added to the sums, so that a newer message can take it out
// again. A hash table in one Int32Array: at most 60 bytes for each object, where a Map takes 225.
import { randomBytes } from 'node:crypto';
import { type Fingerprint, fingerprint } from '../../shared/feed/digest.ts';

export interface Entry extends Fingerprint {
  /** How many nodes the message names. */
  readonly nodes: number;
}

/** The layout of a slot: two halves of the subject's hash, two of the message's, and the state. */
const STRIDE = 5;
const STATE = 4;
/**
 * States of a slot: never used; used and emptied; from here on, in use, plus the number of nodes.
 */
const FREE = 0;
const EMPTIED = 1;
const SHOWN = 2;
const FIRST_SLOTS = 1_024;
/**
 * Tenants choose names. Without a secret, somebody could find two names with one hash within a day.
 */
const SECRET = randomBytes(16);

export class FingerprintTable {
  #slots = new Int32Array(FIRST_SLOTS * STRIDE);
  #used = 0;

  get bytes(): number {
    return this.#slots.byteLength;
  }

  /** Returns the entry of the message that it replaces. A tombstone has no entry. */
  swap(subject: string, mark: Entry | undefined): Entry | undefined {
    const key = fingerprint(subject, SECRET);
    let at = find(this.#slots, key);
    const state = this.#slots[at + STATE] ?? FREE;
    const before = state < SHOWN ? undefined : entryAt(this.#slots, at);
    if (state === FREE && mark === undefined) return undefined;
    if (state === FREE && this.#isFull()) {
      this.#grow();
      at = find(this.#slots, key);
    }
    if (state === FREE) this.#used += 1;
    put(this.#slots, at, key, mark);
    return before;
  }

  #isFull(): boolean {
    return this.#used * STRIDE * 3 >= this.#slots.length * 2;
  }

  #grow(): void {
    const grown = new Int32Array(this.#slots.length * 2);
    for (let from = 0; from < this.#slots.length; from += STRIDE) {
      if (this.#slots[from + STATE] === FREE) continue;
      const slot = this.#slots.subarray(from, from + STRIDE);
      const [high = 0, low = 0] = slot;
      grown.set(slot, find(grown, { high, low }));
    }
    this.#slots = grown;
  }
}

/** The slot of the key, or the free slot for it. */
function find(slots: Int32Array, { high, low }: Fingerprint): number {
  const count = slots.length / STRIDE;
  for (let slot = (high >>> 0) % count; ; slot = (slot + 1) % count) {
    const at = slot * STRIDE;
    if (slots[at + STATE] === FREE || (slots[at] === high && slots[at + 1] === low)) return at;
  }
}

function put(slots: Int32Array, at: number, key: Fingerprint, mark: Entry | undefined): void {
  const { high, low, nodes } = mark ?? { high: 0, low: 0, nodes: EMPTIED - SHOWN };
  slots.set([key.high, key.low, high, low, SHOWN + nodes], at);
}

function entryAt(slots: Int32Array, at: number): Entry {
  const [high = 0, low = 0, state = SHOWN] = slots.subarray(at + 2, at + STRIDE);
  return { high, low, nodes: state - SHOWN };
}
