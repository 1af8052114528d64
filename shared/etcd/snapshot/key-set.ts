// The set of keys that a reader has met, as 64 bits of hash each: 10 to 13 bytes a key, whatever
// its length. Two of ten million keys share a hash in one of 370,000 files; the seed changes each
// time.
import { randomBytes } from 'node:crypto';

/** Tables of their own grow one after the other, so that growing never doubles the memory. */
const TABLES = 256;
const SLOTS_FIRST = 64;
const LOAD_MAX = 0.8;
const GROWTH = 1.25;
/** Some 13 MB. Beyond it, keys are kept only where an older record of them may still come. */
const KEPT_MAX = 1_000_000;

const SEED_A = 0x9e3779b1;
const SEED_B = 0x85ebca77;

interface Table {
  slots: Uint32Array;
  count: number;
}

export class KeySet {
  readonly #tables: Table[] = Array.from({ length: TABLES }, () => ({
    slots: new Uint32Array(2 * SLOTS_FIRST),
    count: 0,
  }));
  readonly #seed = randomBytes(4).readUInt32LE();
  readonly #keptMax: number;
  #kept = 0;

  constructor(keptMax = KEPT_MAX) {
    this.#keptMax = keptMax;
  }

  /**
   * False when the key was there. `isLast`: no other record of the key can come, so that it is kept
   * only as long as there is room, as a control.
   */
  add(bytes: Buffer, start: number, end: number, isLast: boolean): boolean {
    let a = (this.#seed ^ SEED_A) | 0;
    let b = (~this.#seed ^ SEED_B) | 0;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      a = Math.imul(a ^ byte, SEED_B);
      a ^= a >>> 15;
      b = Math.imul((b ^ byte) + ((b << 7) | (b >>> 25)), SEED_A);
      b ^= b >>> 13;
    }
    const length = end - start;
    // Zero is an empty slot.
    const high = mixed(a ^ length) || 1;
    return this.#insert(high, mixed(b + length), isLast && this.#kept >= this.#keptMax);
  }

  #insert(high: number, low: number, isLookOnly: boolean): boolean {
    const table = this.#tables[low & (TABLES - 1)];
    if (table === undefined) throw new Error('a table is missing');
    const slot = slotOf(table.slots, high, low);
    if (table.slots[2 * slot] !== 0) return false;
    if (isLookOnly) return true;
    table.slots[2 * slot] = high;
    table.slots[2 * slot + 1] = low;
    table.count += 1;
    this.#kept += 1;
    if (table.count > (table.slots.length / 2) * LOAD_MAX) grow(table);
    return true;
  }
}

/** Where it is, or the free slot where it would be. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  const count = slots.length / 2;
  let slot = Math.floor((high / 2 ** 32) * count);
  for (;;) {
    const there = slots[2 * slot];
    if (there === 0 || (there === high && slots[2 * slot + 1] === low)) return slot;
    slot = (slot + 1) % count;
  }
}

function grow(table: Table): void {
  const old = table.slots;
  const slots = new Uint32Array(2 * Math.ceil((old.length / 2) * GROWTH));
  for (let at = 0; at < old.length; at += 2) {
    const high = old[at] ?? 0;
    const low = old[at + 1] ?? 0;
    if (high !== 0) slots.set([high, low], 2 * slotOf(slots, high, low));
  }
  table.slots = slots;
}

/** murmur3's last step: every bit of the input moves half of the output. */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
