// The state as it was read last: many that look at once, or again within two seconds, cost the API
// server one look. Nobody looks, nothing is read.
import type { Clock } from '../../shared/clock.ts';
import type { ReplicaState } from '../../shared/nats/replica/state.ts';
import { observeKinds, observeLetters, type Kube } from './observe.ts';
import type { ShownState } from './answers.ts';
import { shownState } from './shown.ts';

/** A person sees no difference, and a hundred of them cost no more than one. */
const FRESH_MS = 2_000;
/** Its deadline is its own: who asked first may leave before the others. */
const LOOK_MS = 15_000;

export interface Looks {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly namespace: string;
  readonly replica: { readonly state: ReplicaState };
}

export class StateReader {
  readonly #looks: Looks;
  #last: ShownState | undefined;
  #atMs = 0;
  #looking: Promise<ShownState> | undefined;

  constructor(looks: Looks) {
    this.#looks = looks;
  }

  read(): Promise<ShownState> {
    const nowMs = this.#looks.clock.nowMs();
    const ageMs = nowMs - this.#atMs;
    if (this.#last !== undefined && ageMs >= 0 && ageMs < FRESH_MS) {
      return Promise.resolve(this.#last);
    }
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<ShownState> {
    const { kube, namespace, clock, replica } = this.#looks;
    const signal = AbortSignal.timeout(LOOK_MS);
    const [kinds, letters] = await Promise.all([
      observeKinds(kube, namespace, signal),
      observeLetters(kube, namespace, signal),
    ]);
    const nowMs = clock.nowMs();
    const state = shownState({ nowMs, kinds, letters, replica: replica.state });
    this.#last = state;
    this.#atMs = nowMs;
    return state;
  }
}
