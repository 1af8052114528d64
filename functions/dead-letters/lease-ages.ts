// How long ago each Lease was renewed. An instance that saw the Lease change counts by its own
// clock. For a Lease that has not changed yet it has to trust renewTime, and so that clocks agree
// to within a minute.

interface Seen {
  readonly renewTime: string | undefined;
  readonly sinceMs: number;
  readonly hasMoved: boolean;
}

export class LeaseAges {
  readonly #seen = new Map<string, Seen>();

  /**
   * Call it at each check. The age of a Lease that does not exist is the time for which that was
   * seen.
   */
  ageMs(lease: string, renewTime: string | undefined, nowMs: number): number {
    const before = this.#seen.get(lease);
    const isSame = before !== undefined && before.renewTime === renewTime;
    const hasMoved = before !== undefined;
    const seen = isSame ? before : { renewTime, sinceMs: nowMs, hasMoved };
    this.#seen.set(lease, seen);
    const watchedMs = nowMs - seen.sinceMs;
    const saidMs = seen.hasMoved ? 0 : nowMs - Date.parse(renewTime ?? '');
    // A renewTime that is missing or in the future says nothing, so the time watched counts.
    return saidMs > watchedMs ? saidMs : watchedMs;
  }
}
