// How many writes are under way at once: as many as the API server works on side by side, fewer
// when they begin to wait there or it has too much to do, never more than was allowed.
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

/** The first answers tell how long one takes that waits for none of ours. */
const FIRST_LIMIT = 2;
/**
 * Number of our writes that may wait for each other in the API server. With fewer than the minimum
 * it has room for more; with more than the maximum they only make others wait.
 */
const WAITING_MIN = 1;
const WAITING_MAX = 2;
/** Weight of the newest answer in the average. */
const NEWEST = 0.1;
/** The best average is forgotten slowly: a server may have become slower for good. */
const BEST_DRIFT = 1.0001;
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
    // Time beyond the best answer was spent waiting behind other writes.
    const waiting = this.#limit * (1 - this.#bestMs / this.#averageMs);
    // Spread over as many answers as are under way: all of them tell of the same moment.
    if (waiting < WAITING_MIN) this.#limit += 1 / this.limit;
    if (waiting > WAITING_MAX) this.#limit -= 1 / this.limit;
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
