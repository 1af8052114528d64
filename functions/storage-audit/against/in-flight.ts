// Work that goes on while more of it is read, a fixed number at once: memory is that of so many.

export class InFlight {
  readonly #max: number;
  readonly #open = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Waits for a place. Throws what an earlier piece threw. */
  async add(work: () => Promise<void>): Promise<void> {
    while (this.#open.size >= this.#max) await Promise.race(this.#open);
    this.#throwIfFailed();
    const one: Promise<void> = work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#open.delete(one));
    this.#open.add(one);
  }

  async end(): Promise<void> {
    await Promise.all(this.#open);
    this.#throwIfFailed();
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
