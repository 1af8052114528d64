// Errors that come in swarms, such as every change while the API server is away: one is told, the
// others of the same seconds are counted.

/** A death lasts some seconds; one line for it is enough. */
const QUIET_MS = 10_000;

export class Complaints {
  readonly #print: (text: string) => void;
  #quietUntilMs = 0;
  #untold = 0;

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  add(error: unknown): void {
    if (Date.now() < this.#quietUntilMs) {
      this.#untold += 1;
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    this.#print(
      this.#untold === 0 ? message : `${message} (and ${this.#untold} more errors before)`,
    );
    this.#untold = 0;
    this.#quietUntilMs = Date.now() + QUIET_MS;
  }
}
