// How long ago each function swept, by the time that it writes into its Lease, or into the status
// of each feed. An instance that saw that time change counts by its own clock. While it has not
// changed yet, the time has to be trusted, and so that clocks agree to within a minute.

interface Sweep {
  readonly sweptAt: string | undefined;
  readonly sinceMs: number;
  readonly hasMoved: boolean;
}

export class SweepAges {
  readonly #sweeps = new Map<string, Sweep>();

  /**
   * Call it at each check. The age of a time that is not there is that for which this was seen.
   */
  ageMs(key: string, sweptAt: string | undefined, nowMs: number): number {
    const before = this.#sweeps.get(key);
    const isSame = before !== undefined && before.sweptAt === sweptAt;
    const hasMoved = before !== undefined;
    const sweep = isSame ? before : { sweptAt, sinceMs: nowMs, hasMoved };
    this.#sweeps.set(key, sweep);
    const watchedMs = nowMs - sweep.sinceMs;
    const reportedMs = sweep.hasMoved ? 0 : nowMs - Date.parse(sweptAt ?? '');
    // A time that is missing or in the future says nothing, so the time watched counts.
    return reportedMs > watchedMs ? reportedMs : watchedMs;
  }

  /** Frees the memory of others. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#sweeps.keys()) if (!keys.has(key)) this.#sweeps.delete(key);
  }
}
