// How many writes are under way at once: more while the API server answers as fast as it can, fewer
// when it becomes slow or says that it has too much to do, never more than was allowed.
import type { Clock } from '../../shared/clock.ts';

export interface PaceLimits {
  readonly concurrency: number;
  readonly requestsPerSecond?: number;
}

/** How one write went. */
export interface Took {
  readonly tookMs: number;
  /** It was turned away, with what the API server said about when to come again. */
  readonly throttled?: { readonly retryAfterMs: number };
}

const FIRST_LIMIT = 4;
/** Answers of a server that is not busy differ by about this factor among themselves. */
const SLOW_FACTOR = 3;
/** Below it latency is noise. */
const SLOW_MIN_MS = 15;
/** Weight of the newest answer in the average. */
const NEWEST = 0.1;
/** The best latency is forgotten slowly: a server may have become slower for good. */
const BEST_DRIFT = 1.001;
const BACK_OFF = 0.9;
const SECOND_MS = 1_000;

export class Pace {
  readonly #limits: PaceLimits;
  readonly #clock: Clock;
  #limit: number;
  #averageMs: number | undefined;
  #bestMs = Infinity;
  #notBeforeMs = 0;
  #nextMs = 0;

  constructor(limits: PaceLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#limit = Math.min(FIRST_LIMIT, limits.concurrency);
  }

  /** Writes that may be under way now. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Until the next one may begin; counts it as begun. */
  async turn(signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const atMs = Math.max(nowMs, this.#notBeforeMs, this.#nextMs);
    const { requestsPerSecond } = this.#limits;
    if (requestsPerSecond !== undefined) this.#nextMs = atMs + SECOND_MS / requestsPerSecond;
    if (atMs > nowMs) await this.#clock.sleep(atMs - nowMs, signal);
  }

  note({ tookMs, throttled }: Took): void {
    if (throttled !== undefined) {
      this.#limit = Math.max(1, this.#limit / 2);
      this.#notBeforeMs = this.#clock.nowMs() + throttled.retryAfterMs;
      return;
    }
    this.#averageMs =
      this.#averageMs === undefined
        ? tookMs
        : this.#averageMs + NEWEST * (tookMs - this.#averageMs);
    this.#bestMs = Math.min(this.#bestMs * BEST_DRIFT, this.#averageMs);
    const slowMs = Math.max(SLOW_MIN_MS, SLOW_FACTOR * this.#bestMs);
    // Spread over as many answers as are under way: all of them tell of the same moment.
    if (this.#averageMs > slowMs) this.#limit *= 1 - (1 - BACK_OFF) / this.limit;
    else this.#limit += 1 / this.limit;
    this.#limit = Math.min(this.#limits.concurrency, Math.max(1, this.#limit));
  }
}

interface Walk {
  readonly pace: Pace;
  readonly signal: AbortSignal;
  /** Whether no more is begun; the first item always is. */
  readonly isOver: () => boolean;
}

/** Works through the items in their order, as many side by side as the pace allows. */
export async function inPace<Item>(
  { pace, signal, isOver }: Walk,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  for (const [index, item] of items.entries()) {
    while (underWay.size >= pace.limit) await Promise.race(underWay);
    if (index > 0 && isOver()) break;
    await pace.turn(signal);
    if (failure !== undefined) break;
    signal.throwIfAborted();
    const one = work(item)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
  if (failure !== undefined) throw failure.error;
}
