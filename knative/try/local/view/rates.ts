// Turns counters that are read now and then into rates over the last seconds.

export interface Counted {
  readonly total: number;
  readonly perSecond: number;
}

interface Sample {
  readonly atMs: number;
  readonly totals: ReadonlyMap<string, number>;
}

/** Long enough to be read, short enough to show that something just stopped. */
const WINDOW_MS = 5_000;

export class Rates {
  #samples: readonly Sample[] = [];
  /** Counters as they were before their process was started anew. */
  readonly #before = new Map<string, number>();
  readonly #lastRaw = new Map<string, number>();

  /**
   * Totals go on counting when a counter starts anew; a counter that is not read keeps its total.
   */
  read(atMs: number, raw: ReadonlyMap<string, number>): ReadonlyMap<string, Counted> {
    const totals = this.#continued(raw);
    const kept = this.#samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
    this.#samples = [...kept, { atMs, totals }];
    const oldest = this.#samples[0] ?? { atMs, totals };
    const seconds = (atMs - oldest.atMs) / 1000;
    const counted = [...totals].map(([key, total]): [string, Counted] => {
      const grown = total - (oldest.totals.get(key) ?? 0);
      return [key, { total, perSecond: seconds > 0 ? grown / seconds : 0 }];
    });
    return new Map(counted);
  }

  /**
   * The last value that was read. A counter that began anew counts from there: a version belongs to
   * one stream.
   */
  lastRead(key: string): number | undefined {
    return this.#lastRaw.get(key);
  }

  #continued(raw: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    for (const [key, value] of raw) {
      const last = this.#lastRaw.get(key) ?? 0;
      if (value < last) this.#before.set(key, (this.#before.get(key) ?? 0) + last);
      this.#lastRaw.set(key, value);
    }
    return new Map(
      [...this.#lastRaw].map(([key, value]) => [key, value + (this.#before.get(key) ?? 0)]),
    );
  }
}
