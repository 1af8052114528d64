// A pause that ends early when something happened, or when everything ends.

export class Bell {
  readonly #end: AbortSignal;
  #hasRung = false;
  #wake: () => void = () => undefined;

  constructor(end: AbortSignal) {
    this.#end = end;
    end.addEventListener('abort', () => this.ring(), { once: true });
  }

  /** Ends the pause that is going on, or else the next one. */
  ring(): void {
    this.#hasRung = true;
    this.#wake();
  }

  async orAfter(ms: number): Promise<void> {
    if (!this.#hasRung && !this.#end.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#hasRung = false;
  }
}
