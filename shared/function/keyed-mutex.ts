// One piece of work at a time per key. Of several calls that wait for the same key only one runs:
// it starts after they all came, so it sees everything that they would have seen.

export class KeyedMutex {
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #waiting = new Set<string>();

  async run(key: string, work: () => Promise<void>): Promise<void> {
    if (this.#waiting.has(key)) return;
    const before = this.#underWay.get(key);
    if (before !== undefined) {
      this.#waiting.add(key);
      // The failure was already thrown to the caller that began this work.
      await before.catch(() => undefined);
      this.#waiting.delete(key);
    }
    const own = work().finally(() => {
      if (this.#underWay.get(key) === own) this.#underWay.delete(key);
    });
    this.#underWay.set(key, own);
    await own;
  }
}
