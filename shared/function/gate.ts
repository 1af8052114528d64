// Who may work: counts requests in flight, turns newcomers away when there are too many or the
// process is about to end, and gives every admitted one a deadline. A slot is free again only
// when the work has really ended.
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { Deadlines } from './deadlines.ts';
import { BUSY_RETRY_AFTER_MS } from './runtime-config.ts';

/**
 * One admitted request. The gate calls `expire` at most once, at the deadline or at the end of a
 * drain.
 */
export interface Guest {
  expire(reason: Failure): void;
}

export class Gate {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #guests = new Set<Guest>();
  /** Of those whose time is not over. */
  readonly #deadlines: Deadlines<Guest>;
  #isDraining = false;
  #turnedAwayMs = 0;
  #onEmpty: (() => void) | undefined;

  constructor(clock: Clock, max: number, deadlineMs: number) {
    this.#clock = clock;
    this.#max = max;
    const message =
      `The work took longer than the ${deadlineMs / 1_000} s it may take; send the ` +
      'request again.';
    this.#deadlines = new Deadlines(clock, deadlineMs, (guest) =>
      guest.expire(new Failure('DEADLINE_EXCEEDED', message)),
    );
  }

  get inFlight(): number {
    return this.#guests.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Every slot is held by work that goes on after its deadline: nothing but a restart helps. */
  get isStuck(): boolean {
    return this.#guests.size - this.#deadlines.size >= this.#max;
  }

  /** Throws when there is no place. Whoever comes in must `leave`. */
  enter(guest: Guest): void {
    if (this.#isDraining) {
      this.#turnedAwayMs = this.#clock.nowMs();
      throw instanceEnds(
        'This instance is about to end; send the request again, another one takes it.',
      );
    }
    if (this.#guests.size >= this.#max) {
      const message =
        `${this.#max} requests are being worked on, which is the limit; send this one again ` +
        'later.';
      throw new Failure('OVERLOADED', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
    }
    this.#guests.add(guest);
    this.#deadlines.add(guest);
  }

  /** Nothing happens to who never came in. */
  leave(guest: Guest): void {
    this.#deadlines.delete(guest);
    if (this.#guests.delete(guest) && this.#guests.size === 0) this.#onEmpty?.();
  }

  /** Resolves when nobody is left; whoever is still there after `graceMs` is expired first. */
  async drain(graceMs: number): Promise<{ readonly cutShort: number }> {
    this.#isDraining = true;
    this.#turnedAwayMs = this.#clock.nowMs();
    const left = new AbortController();
    const empty = new Promise<'empty'>((resolve) => {
      this.#onEmpty = () => resolve('empty');
      if (this.#guests.size === 0) resolve('empty');
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
   * After the drain began: resolves when nobody has come for `quietMs`, or when `graceMs` are over
   * and senders still come.
   */
  async quiet(quietMs: number, graceMs: number): Promise<void> {
    const lastMs = this.#clock.nowMs() + Math.max(quietMs, graceMs);
    for (;;) {
      const untilMs = Math.min(this.#turnedAwayMs + quietMs, lastMs);
      const leftMs = untilMs - this.#clock.nowMs();
      if (leftMs <= 0) return;
      await this.#clock.sleep(leftMs);
    }
  }

  #expireAll(): number {
    const message = 'This instance ended before the work was done; send the request again.';
    const left = [...this.#deadlines.items()];
    for (const guest of left) {
      this.#deadlines.delete(guest);
      guest.expire(instanceEnds(message));
    }
    return left.length;
  }
}

export const instanceEnds = (message: string): Failure =>
  new Failure('DRAINING', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
