// Who may work: counts requests in flight, turns newcomers away when there are too many or the
// process is about to end, and gives every admitted one a deadline. A slot is free again only
// when the work has really ended.
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { BUSY_RETRY_AFTER_MS } from './runtime-config.ts';

/**
 * One admitted request. The gate calls `expire` at most once, at the deadline or at the end of a
 * drain.
 */
export interface Guest {
  expire(reason: Failure): void;
}

interface Stay {
  readonly guest: Guest;
  readonly untilMs: number;
  isExpired: boolean;
}

export class Gate {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #deadlineMs: number;
  /** In order of admission, which is the order of the deadlines too. */
  readonly #stays = new Map<Guest, Stay>();
  readonly #ended = new AbortController();
  #isWatching = false;
  #expired = 0;
  #isDraining = false;
  #onEmpty: (() => void) | undefined;

  constructor(clock: Clock, max: number, deadlineMs: number) {
    this.#clock = clock;
    this.#max = max;
    this.#deadlineMs = deadlineMs;
  }

  get inFlight(): number {
    return this.#stays.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Every slot is held by work that goes on after its deadline: nothing but a restart helps. */
  get isStuck(): boolean {
    return this.#expired >= this.#max;
  }

  /** Throws when there is no place. Whoever comes in must `leave`. */
  enter(guest: Guest): void {
    if (this.#isDraining) {
      const message =
        'This instance is about to end; send the request again, another one takes it.';
      throw new Failure('DRAINING', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
    }
    if (this.#stays.size >= this.#max) {
      const message =
        `${this.#max} requests are being worked on, which is the limit; send this one again ` +
        'later.';
      throw new Failure('OVERLOADED', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
    }
    const untilMs = this.#clock.nowMs() + this.#deadlineMs;
    this.#stays.set(guest, { guest, untilMs, isExpired: false });
    if (!this.#isWatching) void this.#watch();
  }

  leave(guest: Guest): void {
    if (this.#stays.get(guest)?.isExpired === true) this.#expired -= 1;
    this.#stays.delete(guest);
    if (this.#stays.size === 0) this.#onEmpty?.();
  }

  /** Resolves when nobody is left; whoever is still there after `graceMs` is expired first. */
  async drain(graceMs: number): Promise<{ readonly cutShort: number }> {
    this.#isDraining = true;
    const empty = new Promise<'empty'>((resolve) => {
      this.#onEmpty = () => resolve('empty');
      if (this.#stays.size === 0) resolve('empty');
    });
    const grace = this.#clock.sleep(graceMs, this.#ended.signal).then(
      () => 'over' as const,
      () => 'over' as const,
    );
    const first = await Promise.race([empty, grace]);
    const cutShort = first === 'empty' ? 0 : this.#expireAll();
    this.#ended.abort();
    return { cutShort };
  }

  #expireAll(): number {
    const message = 'This instance ended before the work was done; send the request again.';
    const reason = new Failure('DRAINING', message, { retryAfterMs: BUSY_RETRY_AFTER_MS });
    const left = [...this.#stays.values()].filter((stay) => !stay.isExpired);
    for (const stay of left) this.#expire(stay, reason);
    return left.length;
  }

  /** One timer for all: deadlines are equally long, so the first in is the first to expire. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const waitMs = next.untilMs - this.#clock.nowMs();
      if (waitMs > 0 && !(await this.#slept(waitMs))) break;
      this.#expireOverdue();
    }
    this.#isWatching = false;
  }

  #next(): Stay | undefined {
    for (const stay of this.#stays.values()) if (!stay.isExpired) return stay;
    return undefined;
  }

  /** False when the gate has ended meanwhile. */
  #slept(ms: number): Promise<boolean> {
    return this.#clock.sleep(ms, this.#ended.signal).then(
      () => true,
      () => false,
    );
  }

  #expireOverdue(): void {
    const nowMs = this.#clock.nowMs();
    for (const stay of this.#stays.values()) {
      if (stay.untilMs > nowMs) return;
      if (stay.isExpired) continue;
      const message =
        `The work took longer than the ${this.#deadlineMs / 1_000} s it may take; send the ` +
        'request again.';
      this.#expire(stay, new Failure('DEADLINE_EXCEEDED', message));
    }
  }

  #expire(stay: Stay, reason: Failure): void {
    stay.isExpired = true;
    this.#expired += 1;
    stay.guest.expire(reason);
  }
}
