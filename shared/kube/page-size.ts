// The number of objects on the next page of a list: as many as weigh a megabyte or two together. A
// page that does not fit is asked for again with fewer objects, down to one.

/**
 * JSON takes up to 19 times its bytes once it is parsed (`[{},{},...]`, which a node selector may
 * hold): such a page takes 60 MB, and functions ship with 64 to 128 MB of heap.
 */
const PAGE_BYTES_MAX = 3 * 1024 * 1024;
/** Half of it: the objects of the next page may be larger than those of this one. */
const PAGE_BYTES_WANTED = PAGE_BYTES_MAX / 2;
/**
 * etcd takes 1.5 MiB; written as JSON with an escape for every character it is six times as much,
 * and then it is text, which takes no more than its bytes when it is parsed.
 */
const OBJECT_BYTES_MAX = 12 * 1024 * 1024;
/** The first page of a kind of unknown size. */
const FIRST = 50;
const GROWTH_MAX = 4;

export class PageSize {
  readonly #max: number;
  #limit: number;

  constructor(max: number, first = FIRST) {
    this.#max = max;
    this.#limit = Math.min(first, max);
  }

  get limit(): number {
    return this.#limit;
  }

  get bytesMax(): number {
    return this.#limit === 1 ? OBJECT_BYTES_MAX : PAGE_BYTES_MAX;
  }

  /** A page came, with so many objects in so many bytes. */
  came(objects: number, bytes: number): void {
    const fitting = Math.floor((objects * PAGE_BYTES_WANTED) / Math.max(bytes, 1));
    this.#limit = Math.max(1, Math.min(fitting, this.#limit * GROWTH_MAX, this.#max));
  }

  /** A page did not fit. False when there is no smaller one. */
  shrink(): boolean {
    if (this.#limit === 1) return false;
    this.#limit = Math.ceil(this.#limit / GROWTH_MAX);
    return true;
  }
}
