// How long ago a Lease was renewed, as far as can be told from here. Who saw it change counts by
// his own time; only of a Lease that has not changed yet under his eyes he has to believe what it
// says, by clocks that agree to within a minute.

interface Seen {
  readonly renewTime: string | undefined;
  readonly sinceMs: number;
  readonly hasMoved: boolean;
}

export class Renewals {
  readonly #seen = new Map<string, Seen>();

  /** To be told at each look. Of a Lease that is not there, for how long that was seen. */
  ageMs(lease: string, renewTime: string | undefined, nowMs: number): number {
    const before = this.#seen.get(lease);
    const isSame = before !== undefined && before.renewTime === renewTime;
    const hasMoved = before !== undefined;
    const seen = isSame ? before : { renewTime, sinceMs: nowMs, hasMoved };
    this.#seen.set(lease, seen);
    const watchedMs = nowMs - seen.sinceMs;
    const saidMs = seen.hasMoved ? 0 : nowMs - Date.parse(renewTime ?? '');
    // Of no time, or of one to come, what was seen is all there is.
    return saidMs > watchedMs ? saidMs : watchedMs;
  }
}
