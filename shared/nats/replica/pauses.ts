// Pauses that grow from one try to the next, and differ from reader to reader: a thousand of them
// that fail for the same reason shall not all come back in the same moment.
import type { Clock } from '../../clock.ts';

export interface PauseBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The part of a pause that is not random. */
const LEAST_PART = 0.1;

export class Pauses {
  readonly #clock: Clock;
  readonly #bounds: PauseBounds;
  #tries = 0;

  constructor(clock: Clock, bounds: PauseBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  async next(signal: AbortSignal): Promise<void> {
    const { firstMs, longestMs } = this.#bounds;
    const boundMs = Math.min(longestMs, firstMs * 2 ** this.#tries);
    this.#tries += 1;
    await this.#clock.sleep(boundMs * (LEAST_PART + (1 - LEAST_PART) * Math.random()), signal);
  }

  reset(): void {
    this.#tries = 0;
  }
}
