// The dependencies of this function: the client for the API server, the counter, and the memory
// that bounds the cost of a flood: letters counted, Events allowed this minute, and writes in
// progress. All of it may be lost.
import { createHash } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';
import type { Counter, Metrics } from '../../shared/function/metrics.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { BrokerRef } from './decide.ts';
import { SweepAges } from './sweep-ages.ts';

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly place: BrokerRef;
  readonly functions: readonly string[];
  readonly instance: string;
}

/**
 * How many letters are remembered: a broker repeats a letter within the minute in which it retries.
 */
const SEEN_MAX = 2_000;
/**
 * Events on objects, for each minute. A person reads no more, and each costs the API server a
 * write.
 */
const OBJECTS_PER_MINUTE = 30;
/** Events on the broker, for each minute: functions times causes, on a very bad day. */
const CAUSES_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

interface Batch {
  count: number;
  readonly written: Promise<void>;
}

/** Lets the first names of each minute pass. */
class FirstNamesOfMinute {
  readonly #clock: Clock;
  readonly #max: number;
  #minute = -1;
  readonly #names = new Set<string>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** True if the name is one of them, or becomes one. */
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
  readonly place: BrokerRef;
  readonly functions: ReadonlySet<string>;
  readonly instance: string;
  readonly leaseAges = new SweepAges();
  readonly feedAges = new SweepAges();
  readonly #counter: Counter;
  /** Hashes only: ids and sources may have any length. */
  readonly #known = new Set<string>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Batch>();
  readonly #objects: FirstNamesOfMinute;
  readonly #causes: FirstNamesOfMinute;

  constructor({ kube, clock, metrics, place, functions, instance }: DepsOptions) {
    this.kube = kube;
    this.clock = clock;
    this.place = place;
    this.functions = new Set(functions);
    this.#objects = new FirstNamesOfMinute(clock, OBJECTS_PER_MINUTE);
    this.#causes = new FirstNamesOfMinute(clock, CAUSES_PER_MINUTE);
    this.instance = instance;
    const help = 'Events that a broker gave up on, by the function that did not take them.';
    this.#counter = metrics.counter('ballast_dead_letters_total', help, ['function', 'code']);
  }

  /** Counts a letter once, however often it is delivered. */
  count(letter: string, labels: { readonly function: string; readonly code: string }): void {
    const id = createHash('sha256').update(letter).digest('base64url');
    if (this.#known.has(id)) return;
    this.#known.add(id);
    const [oldest] = this.#known;
    if (this.#known.size > SEEN_MAX && oldest !== undefined) this.#known.delete(oldest);
    this.#counter.add(1, labels);
  }

  /** Whether this Event on an object may still be written in this minute. */
  mayWriteOnObject(event: string): boolean {
    return this.#objects.has(event);
  }

  /** Whether this Event on the broker may still be written in this minute. */
  mayWriteOnBroker(event: string): boolean {
    return this.#causes.has(event);
  }

  /**
   * Writes each Event by one request at a time. Letters that come meanwhile share the next write.
   * Resolves when the caller's own letter is written.
   */
  writeInBatch(event: string, write: (count: number) => Promise<void>): Promise<void> {
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
    // The caller of the failed write received its error. Awaited even without a write before: the
    // batch has to be registered first.
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
