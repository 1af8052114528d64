// The answer to `GET /stats` of the broker process: enough for a live view, and bounded however odd
// the traffic is.
import type { Clock } from '../../../../shared/clock.ts';
import { COUNTED_TYPES_MAX, LAST_ERRORS_MAX } from './limits.ts';

export interface DeliveryStats {
  readonly sinceMs: number;
  /**
   * Accepted by an ingress, by event type and by the `kind` of the object (empty when the event
   * names none).
   */
  readonly eventsIn: readonly EventCount[];
  /** Not accepted, by the status that the sender got. */
  readonly refused: Readonly<Record<string, number>>;
  /** Accepted, and passed by the filter of no trigger. */
  readonly unmatched: number;
  /** By `namespace/name`. */
  readonly triggers: Readonly<Record<string, TriggerStats>>;
  readonly pings: Readonly<Record<string, PingStats>>;
  /** Oldest first. */
  readonly lastErrors: readonly DeliveryError[];
}

export interface EventCount {
  readonly type: string;
  readonly kind: string;
  readonly count: number;
}

export interface TriggerStats {
  /** On their way, or waiting for a retry. */
  pending: number;
  delivered: number;
  replies: number;
  /** Tries that came after a failed one. */
  retries: number;
  /** Given up; each is also counted as deadLettered, or is lost. */
  failed: number;
  deadLettered: number;
  /** Failed tries by status; 0 is no answer. */
  readonly failedTries: Record<string, number>;
}

export interface PingStats {
  sent: number;
  failed: number;
}

export interface DeliveryError {
  readonly atMs: number;
  /** The trigger or ping source. */
  readonly of: string;
  readonly message: string;
}

const OTHER = 'other';

export class StatsBook {
  readonly #clock: Clock;
  readonly #sinceMs: number;
  readonly #eventsIn = new Map<string, { type: string; kind: string; count: number }>();
  readonly #refused: Record<string, number> = {};
  readonly #triggers: Record<string, TriggerStats> = {};
  readonly #pings: Record<string, PingStats> = {};
  readonly #lastErrors: DeliveryError[] = [];
  #unmatched = 0;

  constructor(clock: Clock, triggers: readonly string[], pings: readonly string[]) {
    this.#clock = clock;
    this.#sinceMs = clock.nowMs();
    for (const key of triggers) this.#triggers[key] = emptyTrigger();
    for (const key of pings) this.#pings[key] = { sent: 0, failed: 0 };
  }

  countIn(type: string, kind: string): void {
    const isNew = !this.#eventsIn.has(`${type} ${kind}`);
    const row =
      isNew && this.#eventsIn.size >= COUNTED_TYPES_MAX
        ? { type: OTHER, kind: OTHER }
        : { type, kind };
    const key = `${row.type} ${row.kind}`;
    this.#eventsIn.set(key, { ...row, count: (this.#eventsIn.get(key)?.count ?? 0) + 1 });
  }

  countRefused(status: number): void {
    this.#refused[status] = (this.#refused[status] ?? 0) + 1;
  }

  countUnmatched(): void {
    this.#unmatched += 1;
  }

  trigger(key: string): TriggerStats {
    return (this.#triggers[key] ??= emptyTrigger());
  }

  ping(key: string): PingStats {
    return (this.#pings[key] ??= { sent: 0, failed: 0 });
  }

  error(of: string, message: string): void {
    this.#lastErrors.push({ atMs: this.#clock.nowMs(), of, message });
    if (this.#lastErrors.length > LAST_ERRORS_MAX) this.#lastErrors.shift();
  }

  read(): DeliveryStats {
    return {
      sinceMs: this.#sinceMs,
      eventsIn: [...this.#eventsIn.values()],
      refused: this.#refused,
      unmatched: this.#unmatched,
      triggers: this.#triggers,
      pings: this.#pings,
      lastErrors: this.#lastErrors,
    };
  }
}

const emptyTrigger = (): TriggerStats => ({
  pending: 0,
  delivered: 0,
  replies: 0,
  retries: 0,
  failed: 0,
  deadLettered: 0,
  failedTries: {},
});
