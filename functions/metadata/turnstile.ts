// Lets a few through at a time: what they hold meanwhile may be large.

export class Turnstile {
  readonly #max: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async pass<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.#inside >= this.#max) {
      await new Promise<void>((enter) => {
        this.#waiting.push(enter);
      });
    } else this.#inside += 1;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      // The place goes on to who waits longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
