// Memory that many share and nobody owns: whoever holds most when it is used up has to let go. So
// what one sends without end is paid for by itself, and not by the others.

/** A holder of some of the allowance. */
export interface Holder {
  /** Must release everything it holds, by `release`, and ask for no more. */
  evict(): void;
}

export class Allowance {
  readonly #max: number;
  readonly #held = new Map<Holder, number>();
  #total = 0;

  constructor(bytesMax: number) {
    this.#max = bytesMax;
  }

  hold(holder: Holder, bytes: number): void {
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + bytes);
    this.#total += bytes;
    while (this.#total > this.#max) {
      const [greatest] = [...this.#held].toSorted(([, a], [, b]) => b - a);
      if (greatest === undefined) return;
      this.release(greatest[0]);
      greatest[0].evict();
    }
  }

  /** Some of it, or all. */
  release(holder: Holder, bytes = this.#held.get(holder) ?? 0): void {
    const left = (this.#held.get(holder) ?? 0) - bytes;
    this.#total -= Math.min(bytes, this.#held.get(holder) ?? 0);
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }
}
