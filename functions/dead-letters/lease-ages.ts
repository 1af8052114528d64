// How long ago each Lease was renewed. An instance that saw the Lease change counts by its own
// clock. For a Lease that has not changed yet it has to trust renewTime, and so that clocks agree
// to within a minute.

interface Renewal {
  readonly renewTime: string | undefined;
  readonly sinceMs: number;
  readonly hasMoved: boolean;
}

export class LeaseAges {
  readonly #renewals = new Map<string, Renewal>();

  /**
   * Call it at each check. The age of a Lease that does not exist is the time for which that was
   * seen.
   */
  ageMs(lease: string, renewTime: string | undefined, nowMs: number): number {
    const before = this.#renewals.get(lease);
    const isSame = before !== undefined && before.renewTime === renewTime;
    const hasMoved = before !== undefined;
    const renewal = isSame ? before : { renewTime, sinceMs: nowMs, hasMoved };
    this.#renewals.set(lease, renewal);
    const watchedMs = nowMs - renewal.sinceMs;
    const reportedMs = renewal.hasMoved ? 0 : nowMs - Date.parse(renewTime ?? '');
    // A renewTime that is missing or in the future says nothing, so the time watched counts.
    return reportedMs > watchedMs ? reportedMs : watchedMs;
  }
}
