// Time that passes when a test says so.
import type { Clock } from '../../shared/clock.ts';

export class MovedClock implements Clock {
  #nowMs = 1_000_000;
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#sleepers.add({ untilMs: this.#nowMs + ms, wake: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (const sleeper of this.#sleepers) if (sleeper.untilMs <= this.#nowMs) sleeper.wake();
    // Awaiting code runs before the test goes on.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
