// One piece of work at a time for each name: who comes meanwhile waits for the next turn, and of
// several who wait one is enough, since what they all tell of is seen then.

export class Turns {
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #waiting = new Set<string>();

  async take(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#waiting.has(name)) return;
    const before = this.#underWay.get(name);
    if (before !== undefined) {
      this.#waiting.add(name);
      // Who made it fail was told.
      await before.catch(() => undefined);
      this.#waiting.delete(name);
    }
    const own = work().finally(() => {
      if (this.#underWay.get(name) === own) this.#underWay.delete(name);
    });
    this.#underWay.set(name, own);
    await own;
  }
}
