// What this function holds while it is awake: the API server, the counter, and what it needs to
// stay cheap in a flood: which letters it has counted, how many objects it named this minute, and
// whose turn it is to write. All of it may be lost.
import { createHash } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';
import type { Counter, Metrics } from '../../shared/function/metrics.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Place } from './decide.ts';
import { Renewals } from './renewals.ts';

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly place: Place;
  readonly functions: readonly string[];
  readonly instance: string;
}

/** A letter comes again within the minute for which a broker tries. */
const SEEN_MAX = 2_000;
/** Enough to show which objects; a person reads no more, and each costs the API server a write. */
const OBJECTS_PER_MINUTE = 30;
/** On the broker: functions times what they answer, on a very bad day. */
const CAUSES_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

interface Batch {
  count: number;
  readonly written: Promise<void>;
}

/** The first names of each minute. */
class FewPerMinute {
  readonly #clock: Clock;
  readonly #max: number;
  #minute = -1;
  readonly #names = new Set<string>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Whether it is one of them, or has become one. */
  has(name: string): boolean {
    const minute = Math.floor(this.#clock.nowMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#names.clear();
    this.#minute = minute;
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#max) return false;
    this.#names.add(name);
    return true;
  }
}

export class Deps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly place: Place;
  readonly functions: ReadonlySet<string>;
  readonly instance: string;
  readonly renewals = new Renewals();
  readonly #counter: Counter;
  /** Of each the hash alone: ids and sources are as long as their senders please. */
  readonly #seen = new Set<string>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Batch>();
  readonly #objects: FewPerMinute;
  readonly #causes: FewPerMinute;

  constructor({ kube, clock, metrics, place, functions, instance }: DepsOptions) {
    this.kube = kube;
    this.clock = clock;
    this.place = place;
    this.functions = new Set(functions);
    this.#objects = new FewPerMinute(clock, OBJECTS_PER_MINUTE);
    this.#causes = new FewPerMinute(clock, CAUSES_PER_MINUTE);
    this.instance = instance;
    const help = 'Events that a broker gave up on, by the function that did not take them.';
    this.#counter = metrics.counter('ballast_dead_letters_total', help, ['function', 'code']);
  }

  /** Once for a letter, however often it is delivered. */
  count(letter: string, labels: { readonly function: string; readonly code: string }): void {
    const id = createHash('sha256').update(letter).digest('base64url');
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > SEEN_MAX && oldest !== undefined) this.#seen.delete(oldest);
    this.#counter.add(1, labels);
  }

  /** Whether this Event may still be written; in a flood only those of the first objects are. */
  mayName(event: string): boolean {
    return this.#objects.has(event);
  }

  /** The same of those on the broker, which the first causes have. */
  mayTell(event: string): boolean {
    return this.#causes.has(event);
  }

  /**
   * One write at a time for each Event; those who come meanwhile are written together by the next.
   * Resolves when the caller's own is written.
   */
  inTurn(event: string, write: (count: number) => Promise<void>): Promise<void> {
    const waiting = this.#waiting.get(event);
    if (waiting !== undefined) {
      waiting.count += 1;
      return waiting.written;
    }
    const before = this.#writing.get(event);
    const batch: Batch = { count: 1, written: this.#writeAfter(before, event, write) };
    this.#waiting.set(event, batch);
    return batch.written;
  }

  async close(): Promise<void> {
    await this.kube.close();
  }

  async #writeAfter(
    before: Promise<void> | undefined,
    event: string,
    write: (count: number) => Promise<void>,
  ): Promise<void> {
    // Who made it fail was told. Awaited even if there is none: the batch has to be there first.
    await before?.catch(() => undefined);
    const batch = this.#waiting.get(event);
    this.#waiting.delete(event);
    const own = write(batch?.count ?? 1);
    this.#writing.set(event, own);
    try {
      await own;
    } finally {
      if (this.#writing.get(event) === own) this.#writing.delete(event);
    }
  }
}
