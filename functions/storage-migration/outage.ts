// Tells a server that fails for all from objects that fail for themselves: after some failures in a
// row, and at the end of a page, a sample is asked for as before the first write.
import type { KubeError } from '../../shared/kube/errors.ts';
import type { Rewritten } from './rewrite.ts';

/** So many objects one after the other, none of them written: it may not be the objects. */
const IN_A_ROW_MAX = 5;

export class OutageWatch {
  readonly #isOutage: () => Promise<boolean>;
  #inARow = 0;
  #cause: KubeError | undefined;

  /** `isOutage`: whether objects that nobody complained of fail as well. */
  constructor(isOutage: () => Promise<boolean>) {
    this.#isOutage = isOutage;
  }

  /** Throws what the server said once it is the server. */
  async note(rewritten: Rewritten): Promise<void> {
    this.#cause = rewritten.outcome === 'failed' ? rewritten.cause : undefined;
    this.#inARow = this.#cause === undefined ? 0 : this.#inARow + 1;
    if (this.#inARow === IN_A_ROW_MAX) await this.ended();
  }

  /** Nothing more is noted of this page, or not before it is known. */
  async ended(): Promise<void> {
    const cause = this.#cause;
    if (this.#inARow === 0 || cause === undefined) return;
    this.#inARow = 0;
    if (await this.#isOutage()) throw cause;
  }
}
