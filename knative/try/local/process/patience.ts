// How long a part may take to become ready. A loaded machine makes a healthy start slow, and to
// kill a slow part only makes it start again: so it has time for as long as something moves.

export interface PatienceLimits {
  /** Nothing moved for so long: it hangs, or waits for what does not come. */
  readonly stillMs: number;
  /** Something moves and it never gets there. */
  readonly wholeMs: number;
}

/**
 * kube-apiserver needs 2.5 s on an idle machine, and was seen to need more than 30 s on one with
 * ten times as much work as cores. A minute without another answer, or a hundredth of a second of
 * the processor, was never seen of a part that then came up.
 */
export const PATIENCE: PatienceLimits = { stillMs: 60_000, wholeMs: 600_000 };

export class Patience {
  readonly #limits: PatienceLimits;
  readonly #sinceMs: number;
  #movedMs: number;
  #signs = '';

  constructor(limits: PatienceLimits, nowMs: number) {
    this.#limits = limits;
    this.#sinceMs = nowMs;
    this.#movedMs = nowMs;
  }

  /** `signs` differ from those before when something moved. Says why it is over, once it is. */
  whyOver(signs: string, nowMs: number): string | undefined {
    if (signs !== this.#signs) this.#movedMs = nowMs;
    this.#signs = signs;
    const { stillMs, wholeMs } = this.#limits;
    const seconds = (ms: number): string => `${ms / 1000} s`;
    if (nowMs - this.#sinceMs >= wholeMs) return `not ready within ${seconds(wholeMs)}`;
    if (nowMs - this.#movedMs >= stillMs)
      return `not ready, and nothing moved for ${seconds(stillMs)}`;
    return undefined;
  }
}
