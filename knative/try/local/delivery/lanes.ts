// How many requests may be on their way to one address at a time; the others wait in the order in
// which they came.

export class Lanes {
  readonly #limitOf: (address: string) => number;
  readonly #lanes = new Map<string, Lane>();

  constructor(limitOf: (address: string) => number) {
    this.#limitOf = limitOf;
  }

  async run<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    const lane = this.#laneOf(address);
    await lane.enter();
    try {
      return await work();
    } finally {
      this.#leave(address, lane);
    }
  }

  #laneOf(address: string): Lane {
    const known = this.#lanes.get(address);
    if (known !== undefined) return known;
    const lane = new Lane(this.#limitOf(address));
    this.#lanes.set(address, lane);
    return lane;
  }

  #leave(address: string, lane: Lane): void {
    lane.leave();
    if (lane.isIdle) this.#lanes.delete(address);
  }
}

class Lane {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  async enter(): Promise<void> {
    if (this.#inFlight < this.#limit) this.#inFlight += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes to the next one in line without becoming free in between. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inFlight -= 1;
    else next();
  }
}
