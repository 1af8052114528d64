// Entries by one value that they have, such as a uid. Most values belong to one entry, which then
// stands there alone: a list or a set for each would cost more than the rest of the index.
import type { Entry } from './entry.ts';

/** Up to here a list is made anew and fits exactly; beyond, it grows with room to spare. */
const EXACT_MAX = 8;
const NONE: readonly Entry[] = [];

export class EntryIndex {
  readonly #held = new Map<string, Entry | Entry[]>();

  get(value: string): readonly Entry[] {
    const held = this.#held.get(value);
    if (held === undefined) return NONE;
    return Array.isArray(held) ? held : [held];
  }

  first(value: string): Entry | undefined {
    const held = this.#held.get(value);
    return Array.isArray(held) ? held[0] : held;
  }

  get size(): number {
    return this.#held.size;
  }

  values(): IterableIterator<string> {
    return this.#held.keys();
  }

  add(value: string, entry: Entry): void {
    const held = this.#held.get(value);
    if (held === undefined) this.#held.set(value, entry);
    else if (!Array.isArray(held)) this.#held.set(value, [held, entry]);
    else if (held.length < EXACT_MAX) this.#held.set(value, [...held, entry]);
    else held.push(entry);
  }

  /** As remove and add, but leaves no hole in the map: most changes of an object move nothing. */
  replace(value: string, entry: Entry, by: Entry): void {
    const held = this.#held.get(value);
    if (held === entry) this.#held.set(value, by);
    else if (Array.isArray(held)) held[held.indexOf(entry)] = by;
  }

  remove(value: string, entry: Entry): void {
    const held = this.#held.get(value);
    if (held === entry) this.#held.delete(value);
    if (!Array.isArray(held)) return;
    const at = held.indexOf(entry);
    const last = held.at(-1);
    if (at === -1 || last === undefined) return;
    held[at] = last;
    held.pop();
    const [only] = held;
    if (held.length === 1 && only !== undefined) this.#held.set(value, only);
  }
}
