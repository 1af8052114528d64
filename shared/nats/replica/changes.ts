// Hands what changes in a replica to any number of consumers, each at its own pace. One that is too
// slow loses its place, is told so, and gets all that is held then; it delays nobody.
import type { Entry } from './entry.ts';

export type Change =
  | { readonly type: 'added'; readonly version: number; readonly entry: Entry }
  | {
      readonly type: 'changed';
      readonly version: number;
      readonly entry: Entry;
      readonly previous: Entry;
    }
  | {
      readonly type: 'removed';
      readonly version: number;
      /** The object as it was last. */
      readonly entry: Entry;
      /** The object is elsewhere now; readers of that place are told of it as added. */
      readonly moved?: true;
    }
  /** Forget everything: `missed` changes were lost, and what is held follows as added. */
  | { readonly type: 'resync'; readonly version: number; readonly missed: number };

/** How many changes a consumer may be behind; each costs some hundred bytes. */
const QUEUE_MAX = 10_000;

export interface Content {
  readonly version: number;
  readonly entries: Iterable<Entry>;
}

export class Changes {
  readonly #content: () => Content;
  readonly #consumers = new Set<Consumer>();
  #isClosed = false;
  #slow = 0;

  constructor(content: () => Content) {
    this.#content = content;
  }

  /** How often a consumer lost its place. */
  get slow(): number {
    return this.#slow;
  }

  emit(change: Change): void {
    for (const consumer of this.#consumers) {
      if (consumer.offer(change)) this.#slow += 1;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const consumer of this.#consumers) consumer.end();
  }

  /** First all that is held, as added; ends with the signal, or when the replica is closed. */
  async *stream(signal?: AbortSignal): AsyncGenerator<Change, void> {
    if (this.#isClosed || signal?.aborted === true) return;
    const consumer = new Consumer(this.#content);
    const end = (): void => consumer.end();
    this.#consumers.add(consumer);
    signal?.addEventListener('abort', end, { once: true });
    try {
      while (await consumer.ready()) {
        for (let next = consumer.take(); next !== undefined; next = consumer.take()) yield next;
      }
    } finally {
      this.#consumers.delete(consumer);
      signal?.removeEventListener('abort', end);
    }
  }
}

class Consumer {
  readonly #content: () => Content;
  #queue: Change[] = [];
  #at = 0;
  /** The objects held at the start that were not delivered yet. */
  #held: readonly Entry[];
  #heldAt = 0;
  #missed = 0;
  #isEnded = false;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(content: () => Content) {
    this.#content = content;
    this.#held = [...content().entries];
  }

  /** True when this change cost the consumer its place. */
  offer(change: Change): boolean {
    this.#waiting?.resolve();
    if (this.#missed > 0) {
      this.#missed += 1;
      return false;
    }
    this.#queue.push(change);
    const queued = this.#queue.length - this.#at;
    if (queued <= QUEUE_MAX) return false;
    this.#missed = queued;
    this.#forget();
    return true;
  }

  end(): void {
    this.#isEnded = true;
    this.#forget();
    this.#missed = 0;
    this.#waiting?.resolve();
  }

  /** False at the end. */
  async ready(): Promise<boolean> {
    const isEmpty = (): boolean =>
      this.#missed === 0 && this.#heldAt === this.#held.length && this.#at === this.#queue.length;
    while (isEmpty() && !this.#isEnded) {
      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
    }
    this.#waiting = undefined;
    return !this.#isEnded;
  }

  take(): Change | undefined {
    if (this.#missed > 0) return this.#resync();
    const entry = this.#held[this.#heldAt];
    if (entry !== undefined) {
      this.#heldAt += 1;
      return { type: 'added', version: entry.version, entry };
    }
    if (this.#held.length > 0) this.#held = [];
    this.#heldAt = 0;
    const change = this.#queue[this.#at];
    this.#at += 1;
    if (change === undefined) this.#forget();
    // Frees delivered changes now and then: once they are half of the queue, the cost for each is
    // constant.
    else if (this.#at * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#at);
      this.#at = 0;
    }
    return change;
  }

  #resync(): Change {
    const missed = this.#missed;
    const { version, entries } = this.#content();
    this.#missed = 0;
    this.#held = [...entries];
    return { type: 'resync', version, missed };
  }

  #forget(): void {
    this.#queue = [];
    this.#at = 0;
    this.#held = [];
    this.#heldAt = 0;
  }
}
