// The bounds of the narrow cache, with their reasons. Each can be set by whoever opens one.

export interface Limits {
  /**
   * Objects held at once. Each is a watch, a stream on an HTTP/2 connection that many share: enough
   * for every Secret that a function refers to, few enough for any API server.
   */
  readonly entriesMax: number;
  /** An object that nobody asked for so long, and that wakes nobody, is no longer watched. */
  readonly idleMs: number;
  /**
   * How long the last value is given out after its watch broke. A restart of the API server is
   * mostly shorter; a longer outage is told, by a live read that fails.
   */
  readonly staleMaxMs: number;
  /** For the first answer on a new connection; then the object is listed before it is watched. */
  readonly answerTimeoutMs: number;
  /** For a live read with all its attempts: what is left of it, the caller does something else. */
  readonly readTimeoutMs: number;
  /**
   * An immutable Secret or ConfigMap cannot change, but it can be deleted and made anew: it is
   * read again after this time.
   */
  readonly immutableMs: number;
  /** Before a watch that was refused is tried again: somebody has to allow it, or make the CRD. */
  readonly refusedPauseMs: number;
  /** How often idle objects are removed and immutable ones woken. */
  readonly tidyMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  entriesMax: 256,
  idleMs: 15 * 60_000,
  staleMaxMs: 30_000,
  answerTimeoutMs: 5_000,
  readTimeoutMs: 10_000,
  immutableMs: 5 * 60_000,
  refusedPauseMs: 30_000,
  tidyMs: 30_000,
};
