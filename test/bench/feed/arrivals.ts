// Counts the writer's changes that a reader has seen, and notes when the first of each turn came.
// Times are the machine's monotonic clock, which every process reads alike.
export const TURN_LABEL = 'bench-turn';

export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export interface Seen {
  readonly changes: number;
  /** Pairs of turn and time, flat; empty unless times were asked for. */
  readonly times: Float64Array;
}

export class Arrivals {
  readonly #times: number[] = [];
  readonly #isTimed: boolean;
  #changes = 0;

  constructor(isTimed: boolean) {
    this.#isTimed = isTimed;
  }

  note(labels: Readonly<Record<string, string>> | undefined): void {
    const turn = labels?.[TURN_LABEL];
    if (turn === undefined) return;
    this.#changes += 1;
    if (this.#isTimed) this.#times.push(Number(turn), nowMs());
  }

  /** Everything since the last call. */
  take(): Seen {
    const seen = { changes: this.#changes, times: new Float64Array(this.#times) };
    this.#times.length = 0;
    this.#changes = 0;
    return seen;
  }
}
