// What each subject last added to the sums, so that it can be taken out again when a newer message
// replaces it: at most 60 bytes in an array of numbers for each object, where a Map takes 225.
import { randomBytes } from 'node:crypto';
import { type Fingerprint, fingerprint } from '../../shared/feed/digest.ts';

export interface Entry extends Fingerprint {
  /** How many nodes it names. */
  readonly nodes: number;
}

/** Two halves of the subject's hash, two of the message's, and the state. */
const STRIDE = 5;
const STATE = 4;
/** States: nothing was ever here; something was; from here on, so many nodes and this. */
const FREE = 0;
const EMPTIED = 1;
const SHOWN = 2;
const FIRST_SLOTS = 1_024;
/** Tenants choose names: without a secret, two with one hash could be found within a day. */
const SECRET = randomBytes(16);

export class FingerprintTable {
  #slots = new Int32Array(FIRST_SLOTS * STRIDE);
  #used = 0;

  get bytes(): number {
    return this.#slots.byteLength;
  }

  /** Answers the mark of the message that it replaces. What shows nothing has none. */
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

/** Where it is, or would be. */
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
