// Time that passes by waiting alone.
import type { Clock } from '../../shared/clock.ts';

export class HandClock implements Clock {
  #nowMs = 0;
  nowMs(): number {
    return this.#nowMs;
  }
  async sleep(ms: number): Promise<void> {
    this.#nowMs += ms;
  }
}
