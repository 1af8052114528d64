// When a replica that differs from a checkpoint takes the snapshot: soon, but not at the same time
// as all others; and not again for a checkpoint that a snapshot has not satisfied, because then it
// is the checkpoint that is wrong.
import type { Clock } from '../../clock.ts';
import type { Ledgers } from './ledgers.ts';
import { Pauses } from './pauses.ts';

/**
 * Spread out: of a thousand readers some three hundred a second ask for a snapshot, each for its
 * scope.
 */
const PAUSES = { firstMs: 4_000, longestMs: 300_000 };

export class Healing {
  readonly #ledgers: Ledgers;
  readonly #pauses: Pauses;
  readonly #heal: () => void;
  /** Checkpoints up to here were given a snapshot that came after them. */
  #triedThrough = 0;
  #isPlanned = false;

  constructor(ledgers: Ledgers, clock: Clock, heal: () => void) {
    this.#ledgers = ledgers;
    this.#pauses = new Pauses(clock, PAUSES);
    this.#heal = heal;
  }

  tookSnapshot(version: number): void {
    this.#triedThrough = version;
  }

  /** To be called whenever checkpoints were compared. */
  consider(signal: AbortSignal): void {
    if (this.#ledgers.difference === undefined) this.#pauses.reset();
    if (this.#isPlanned || !this.#isDue()) return;
    this.#isPlanned = true;
    // Rejects only when the replica is closed, and then there is nothing left to do.
    void this.#later(signal).catch(() => undefined);
  }

  async #later(signal: AbortSignal): Promise<void> {
    await this.#pauses.next(signal);
    this.#isPlanned = false;
    if (this.#isDue()) this.#heal();
  }

  #isDue(): boolean {
    const { difference } = this.#ledgers;
    return difference !== undefined && difference.sequence > this.#triedThrough;
  }
}
