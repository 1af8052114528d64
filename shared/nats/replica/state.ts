// The state that a replica reports, and the callers that wait for it.
import { orAbort } from '../../or-abort.ts';
import type { SweepState } from './sweeps.ts';

export type Phase = 'connecting' | 'waiting' | 'catching-up' | 'current' | 'wrong';

/** How far it is. */
export interface ReadState {
  /**
   * `waiting`: the feed does not exist, or is not whole yet. `wrong`: a checkpoint disagrees, and
   * the replica is about to heal. Its content stays readable in every phase.
   */
  readonly phase: Phase;
  /** All changes up to here are held. */
  readonly version: number;
  /** While catching up: how many messages are still to be read. */
  readonly behind?: number;
  /** The newest checkpoint that agreed, and when that was seen. */
  readonly verifiedVersion?: number;
  readonly verifiedAtMs?: number;
  readonly why?: string;
}

export interface ReplicaState extends ReadState, SweepState {}

export class StateBoard {
  #read: ReadState = { phase: 'connecting', version: 0 };
  #swept: SweepState = {};
  #state: ReplicaState = this.#read;
  readonly #listeners = new Set<(state: ReplicaState) => void>();

  get state(): ReplicaState {
    return this.#state;
  }

  set(read: ReadState): void {
    this.#read = read;
    this.#tell();
  }

  setSwept(swept: SweepState): void {
    this.#swept = swept;
    this.#tell();
  }

  watch(listener: (state: ReplicaState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async until(condition: (state: ReplicaState) => boolean, signal: AbortSignal): Promise<void> {
    if (condition(this.#state)) return;
    const met = Promise.withResolvers<void>();
    const stop = this.watch((state) => {
      if (condition(state)) met.resolve();
    });
    try {
      await orAbort(met.promise, signal);
    } finally {
      stop();
    }
  }

  #tell(): void {
    this.#state = { ...this.#read, ...this.#swept };
    for (const listener of this.#listeners) listener(this.#state);
  }
}
