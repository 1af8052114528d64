// Admission of requests: refuses a request when too many are in flight or the process is draining,
// and gives every admitted request a deadline. A slot is free again only when the work has really
// ended.
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { Deadlines } from './deadlines.ts';
import { BUSY_RETRY_AFTER_MS } from './runtime-config.ts';

/**
 * One admitted request. `expire` is called at most once, at the deadline or at the end of a drain.
 */
export interface Admitted {
  expire(reason: Failure): void;
}

export class Admission {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #admitted = new Set<Admitted>();
  /** Holds only the requests whose deadline has not passed. */
  readonly #deadlines: Deadlines<Admitted>;
  #isDraining = false;
  #refusedMs = 0;
  #onEmpty: (() => void) | undefined;

  constructor(clock: Clock, max: number, deadlineMs: number) {
    this.#clock = clock;
    this.#max = max;
    const message =
      `The work took longer than the ${deadlineMs / 1_000} s it may take; send the ` +
      'request again.';
    this.#deadlines = new Deadlines(clock, deadlineMs, (request) =>
      request.expire(new Failure('DEADLINE_EXCEEDED', message)),
    );
  }

  get inFlight(): number {
    return this.#admitted.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Every slot is held by work that goes on after its deadline: nothing but a restart helps. */
  get isStuck(): boolean {
    return this.#admitted.size - this.#deadlines.size >= this.#max;
  }

  /** Throws when there is no free slot. An admitted request must be released. */
  admit(request: Admitted): void {
    if (this.#isDraining) {
      this.#refusedMs = this.#clock.nowMs();
      throw instanceEnds(
        'This instance is about to end; send the request again, another one takes it.',
      );
    }
    if (this.#admitted.size >= this.#max) {
      const message =
        `${this.#max} requests are being worked on, which is the limit; send this one again ` +
        'later.';
      throw new Failure('OVERLOADED', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
    }
    this.#admitted.add(request);
    this.#deadlines.add(request);
  }

  /** Does nothing for a request that was never admitted. */
  release(request: Admitted): void {
    this.#deadlines.delete(request);
    if (this.#admitted.delete(request) && this.#admitted.size === 0) this.#onEmpty?.();
  }

  /** Resolves when no request is left; those left after `graceMs` are expired first. */
  async drain(graceMs: number): Promise<{ readonly cutShort: number }> {
    this.#isDraining = true;
    this.#refusedMs = this.#clock.nowMs();
    const left = new AbortController();
    const empty = new Promise<'empty'>((resolve) => {
      this.#onEmpty = () => resolve('empty');
      if (this.#admitted.size === 0) resolve('empty');
    });
    const grace = this.#clock.sleep(graceMs, left.signal).then(
      () => 'over' as const,
      () => 'over' as const,
    );
    const first = await Promise.race([empty, grace]);
    left.abort();
    const cutShort = first === 'empty' ? 0 : this.#expireAll();
    this.#deadlines.end();
    return { cutShort };
  }

  /**
   * After the drain began: resolves when no request came for `quietMs`, or after `graceMs` though
   * requests still come.
   */
  async quiet(quietMs: number, graceMs: number): Promise<void> {
    const lastMs = this.#clock.nowMs() + Math.max(quietMs, graceMs);
    for (;;) {
      const untilMs = Math.min(this.#refusedMs + quietMs, lastMs);
      const leftMs = untilMs - this.#clock.nowMs();
      if (leftMs <= 0) return;
      await this.#clock.sleep(leftMs);
    }
  }

  #expireAll(): number {
    const message = 'This instance ended before the work was done; send the request again.';
    const left = [...this.#deadlines.items()];
    for (const request of left) {
      this.#deadlines.delete(request);
      request.expire(instanceEnds(message));
    }
    return left.length;
  }
}

export const instanceEnds = (message: string): Failure =>
  new Failure('DRAINING', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
