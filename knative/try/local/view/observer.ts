// Observes a running plane: its parts' processes, the events of its broker, and the answers of its
// functions. A part that does not answer in time keeps its last numbers; the view says elsewhere
// that it is dead.
import { readDeliveryStats } from '../delivery/part.ts';
import type { DeliveryStats } from '../delivery/stats.ts';
import type { Part, PartChange } from '../process/part.ts';
import { residentBytes } from '../process/proc.ts';
import { readSeries } from './metrics-text.ts';
import { type Counted, Rates } from './rates.ts';
import type { PartView, Snapshot } from './snapshot.ts';

/** Shorter than the pause between two looks, so that a paused part holds up nothing. */
const LOOK_TIMEOUT_MS = 500;
const BROKER = 'broker';
const FUNCTION_PREFIX = 'function/';

export class Observer {
  readonly #startedMs = Date.now();
  readonly #deaths = new Map<string, number>();
  readonly #answers = new Map<string, Rates>();
  readonly #events = new Rates();
  readonly #delivered = new Rates();
  /** As the broker last told them. */
  #triggers: DeliveryStats['triggers'] = {};

  partChanged({ part, state }: PartChange): void {
    if (state === 'dead') this.#deaths.set(part.name, (this.#deaths.get(part.name) ?? 0) + 1);
  }

  async observe(parts: readonly Part[]): Promise<Omit<Snapshot, 'feeds'>> {
    const functions = parts.filter(({ name }) => name.startsWith(FUNCTION_PREFIX));
    const broker = parts.find(({ name }) => name === BROKER);
    const [views, answers, stats] = await Promise.all([
      Promise.all(parts.map((part) => this.#viewOf(part))),
      Promise.all(functions.map((part) => this.#answersOf(part))),
      broker === undefined ? undefined : statsOf(broker),
    ]);
    return {
      upMs: Date.now() - this.#startedMs,
      parts: views,
      ...this.#deliveryOf(stats),
      answers: new Map(answers),
    };
  }

  #deliveryOf(stats: DeliveryStats | undefined): Pick<Snapshot, 'events' | 'triggers'> {
    const nowMs = Date.now();
    const eventsIn = stats?.eventsIn ?? [];
    const events = new Map(
      eventsIn.map(({ type, kind, count }) => [`${type} ${kind}`.trim(), count]),
    );
    const triggers = Object.entries(stats?.triggers ?? this.#triggers);
    this.#triggers = Object.fromEntries(triggers);
    const delivered = this.#delivered.read(
      nowMs,
      new Map(triggers.map(([name, trigger]) => [name, trigger.delivered])),
    );
    return {
      events: this.#events.read(nowMs, events),
      triggers: triggers.map(([name, { pending, retries, failed }]) => ({
        name,
        pending,
        retries,
        failed,
        delivered: delivered.get(name) ?? { total: 0, perSecond: 0 },
      })),
    };
  }

  async #viewOf({ name, state, pid, sinceMs }: Part): Promise<PartView> {
    return {
      name,
      state,
      pid,
      inStateMs: Date.now() - sinceMs,
      residentBytes: pid === undefined ? undefined : await residentBytes(pid),
      deaths: this.#deaths.get(name) ?? 0,
    };
  }

  async #answersOf({ name, url }: Part): Promise<[string, ReadonlyMap<string, Counted>]> {
    const page = await textOf(`${url}/metrics`);
    const totals = new Map<string, number>();
    for (const { labels, value } of readSeries(page ?? '', 'ballast_events_total')) {
      const outcome = labels['outcome'] ?? '';
      totals.set(outcome, (totals.get(outcome) ?? 0) + value);
    }
    const rates = this.#answers.get(name) ?? new Rates();
    this.#answers.set(name, rates);
    return [name.slice(FUNCTION_PREFIX.length), rates.read(Date.now(), totals)];
  }
}

/** Undefined when there is no answer in time. */
async function statsOf({ url }: Part): Promise<DeliveryStats | undefined> {
  return readDeliveryStats(url, AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => undefined);
}

/** Undefined when there is no answer in time. */
async function textOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}
