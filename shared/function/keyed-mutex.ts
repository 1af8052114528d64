// One piece of work at a time per key. Several calls that wait for the same key share the next one,
// and how it went: it starts after they all came, so it sees everything that they would have seen.

/** Each keeps a request open meanwhile. */
const WAITING_MAX = 4;

interface Next {
  readonly done: Promise<void>;
  waiting: number;
}

export class KeyedMutex {
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Next>();

  /** `work` is told whether it had to wait: what its caller read before that may be old. */
  async run(key: string, work: (hasWaited: boolean) => Promise<void>): Promise<void> {
    const next = this.#next.get(key);
    if (next !== undefined) return this.#await(next);
    const before = this.#underWay.get(key);
    if (before === undefined) return this.#begin(key, () => work(false));
    const done = this.#after(before, key, () => work(true));
    this.#next.set(key, { done, waiting: 1 });
    return done;
  }

  /**
   * Callers beyond these return at once: when the work fails, those who wait for it are told, and
   * try again.
   */
  async #await(next: Next): Promise<void> {
    if (next.waiting >= WAITING_MAX) return;
    next.waiting += 1;
    await next.done;
  }

  async #after(before: Promise<void>, key: string, work: () => Promise<void>): Promise<void> {
    // The failure was already thrown to the caller that began this work.
    await before.catch(() => undefined);
    this.#next.delete(key);
    await this.#begin(key, work);
  }

  #begin(key: string, work: () => Promise<void>): Promise<void> {
    const own = work().finally(() => {
      if (this.#underWay.get(key) === own) this.#underWay.delete(key);
    });
    this.#underWay.set(key, own);
    return own;
  }
}
