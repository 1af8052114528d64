// Takes events in as a broker's ingress does and hands each to every trigger whose filter it
// passes. Knows nothing of HTTP on the way in; its answers are the statuses that the ingress gives.
import type { Clock } from '../../../../shared/clock.ts';
import { type TriggerWiring, keyOf } from '../manifests/wiring.ts';
import { type Event, withAttributes } from './event.ts';
import { passes } from './filter.ts';
import { PENDING_BYTES_MAX, PENDING_MAX, REPLY_HOPS_MAX } from './limits.ts';
import type { StatsBook } from './stats.ts';

export type IngressStatus = 202 | 400 | 404 | 503;

/** An accepted event, with the headers that travel along with it. */
export interface Letter {
  readonly event: Event;
  readonly headers: Readonly<Record<string, string>>;
}

export type Deliver = (trigger: TriggerWiring, letter: Letter) => Promise<void>;

/** Counts how often an event has come back as a reply. */
export const TTL = 'knativebrokerttl';
const ARRIVAL_TIME = 'knativearrivaltime';

export interface BrokerOptions {
  readonly brokers: readonly string[];
  readonly triggers: readonly TriggerWiring[];
  readonly stats: StatsBook;
  readonly clock: Clock;
  readonly deliver: Deliver;
}

export class Broker {
  readonly #options: BrokerOptions;
  readonly #triggers: ReadonlyMap<string, readonly TriggerWiring[]>;
  #pending = 0;
  #pendingBytes = 0;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#triggers = new Map(
      options.brokers.map((key) => [key, options.triggers.filter((of) => brokerKey(of) === key)]),
    );
  }

  /** `key` is the broker's `namespace/name`. */
  accept(key: string, letter: Letter): IngressStatus {
    const status = this.#take(key, letter);
    if (status !== 202) this.#options.stats.countRefused(status);
    return status;
  }

  #take(key: string, letter: Letter): IngressStatus {
    const triggers = this.#triggers.get(key);
    if (triggers === undefined) return 404;
    const hops = hopsLeft(letter.event);
    if (hops <= 0) return 400;
    const { clock, stats } = this.#options;
    const event = withAttributes(letter.event, {
      [TTL]: String(hops),
      [ARRIVAL_TIME]: new Date(clock.nowMs()).toISOString(),
    });
    const matching = triggers.filter(({ filter }) => passes(filter, event));
    // 503 and not Knative's 500: a source tries again after the one and drops the event at the
    // other.
    if (!this.#hasRoomFor(matching.length, event.data.length)) return 503;
    stats.countIn(event.attributes['type'] ?? '', event.attributes['kind'] ?? '');
    if (matching.length === 0) stats.countUnmatched();
    for (const trigger of matching) void this.#hand(trigger, { ...letter, event });
    return 202;
  }

  #hasRoomFor(count: number, bytes: number): boolean {
    const isCounted = this.#pending + count <= PENDING_MAX;
    return isCounted && this.#pendingBytes + count * bytes <= PENDING_BYTES_MAX;
  }

  async #hand(trigger: TriggerWiring, letter: Letter): Promise<void> {
    const { stats, deliver } = this.#options;
    const counts = stats.trigger(keyOf(trigger));
    const bytes = letter.event.data.length;
    this.#pending += 1;
    this.#pendingBytes += bytes;
    counts.pending += 1;
    try {
      await deliver(trigger, letter);
    } catch (error) {
      stats.error(keyOf(trigger), `delivery ended early: ${String(error)}`);
    } finally {
      this.#pending -= 1;
      this.#pendingBytes -= bytes;
      counts.pending -= 1;
    }
  }
}

const brokerKey = ({ namespace, broker }: TriggerWiring): string => `${namespace}/${broker}`;

function hopsLeft({ attributes }: Event): number {
  const hops = attributes[TTL];
  // A broker sets only numbers, so with any other value the event has not been here yet.
  return hops === undefined || !/^-?\d+$/.test(hops) ? REPLY_HOPS_MAX : Number(hops) - 1;
}
