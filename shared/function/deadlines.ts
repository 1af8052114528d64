// One timer for all who may take equally long: the first in is the first whose time is over.
import type { Clock } from '../clock.ts';

export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #timeMs: number;
  readonly #onOver: (item: Item) => void;
  /** In order of their coming, which is the order of their ends too. */
  readonly #untilMs = new Map<Item, number>();
  readonly #ended = new AbortController();
  #isWatching = false;

  /** An item whose time is over is removed before `onOver` is called with it. */
  constructor(clock: Clock, timeMs: number, onOver: (item: Item) => void) {
    this.#clock = clock;
    this.#timeMs = timeMs;
    this.#onOver = onOver;
  }

  get size(): number {
    return this.#untilMs.size;
  }

  add(item: Item): void {
    this.#untilMs.set(item, this.#clock.nowMs() + this.#timeMs);
    if (!this.#isWatching) void this.#watch();
  }

  /** False when its time was over before, or it never came. */
  delete(item: Item): boolean {
    return this.#untilMs.delete(item);
  }

  has(item: Item): boolean {
    return this.#untilMs.has(item);
  }

  /** The eldest first. */
  items(): IterableIterator<Item> {
    return this.#untilMs.keys();
  }

  /** Nothing is waited for any more. */
  end(): void {
    this.#ended.abort();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    for (let untilMs = this.#next(); untilMs !== undefined; untilMs = this.#next()) {
      const waitMs = untilMs - this.#clock.nowMs();
      if (waitMs > 0 && !(await this.#slept(waitMs))) break;
      this.#endOverdue();
    }
    this.#isWatching = false;
  }

  #next(): number | undefined {
    const [untilMs] = this.#untilMs.values();
    return untilMs;
  }

  /** False when all has ended meanwhile. */
  #slept(ms: number): Promise<boolean> {
    return this.#clock.sleep(ms, this.#ended.signal).then(
      () => true,
      () => false,
    );
  }

  #endOverdue(): void {
    const nowMs = this.#clock.nowMs();
    for (const [item, untilMs] of this.#untilMs) {
      if (untilMs > nowMs) return;
      this.#untilMs.delete(item);
      this.#onOver(item);
    }
  }
}
