// The sums that a replica keeps of what it holds, one per ledger, and how they compare with the
// checkpoints of the feed.
import { Digest, type Fingerprint } from '../../feed/digest.ts';
import type { Checkpoint } from '../../feed/messages.ts';

interface LedgerState {
  readonly name: string;
  readonly digest: Digest;
  /** Of the newest message that was counted here. */
  lastSequence: number;
  checkpoint: (Checkpoint & { readonly sequence: number }) | undefined;
}

interface Difference {
  readonly sequence: number;
  readonly why: string;
}

export class Ledgers {
  readonly #states = new Map<string, LedgerState>();
  readonly #differences = new Map<string, Difference>();
  readonly #counts: (ledger: string) => boolean;
  #verified = 0;
  #mismatches = 0;

  constructor(counts: (ledger: string) => boolean) {
    this.#counts = counts;
  }

  /** The newest checkpoint that agreed; 0 before there is one. */
  get verified(): number {
    return this.#verified;
  }

  /** How many checkpoints did not agree, each counted once. */
  get mismatches(): number {
    return this.#mismatches;
  }

  /** The newest checkpoint that does not agree, as long as its ledger has not agreed since. */
  get difference(): Difference | undefined {
    let newest: Difference | undefined;
    for (const each of this.#differences.values()) {
      if (newest === undefined || each.sequence > newest.sequence) newest = each;
    }
    return newest;
  }

  add(ledger: string, fingerprint: Fingerprint): void {
    this.#stateOf(ledger).digest.add(fingerprint);
  }

  remove(ledger: string, fingerprint: Fingerprint): void {
    this.#stateOf(ledger).digest.remove(fingerprint);
  }

  touch(ledger: string, sequence: number): void {
    const state = this.#stateOf(ledger);
    if (sequence > state.lastSequence) state.lastSequence = sequence;
  }

  /** Notes it, to be compared when all that came before it has been applied. */
  note(ledger: string, sequence: number, checkpoint: Checkpoint): void {
    if (!this.#counts(ledger)) return;
    const state = this.#stateOf(ledger);
    if (sequence >= (state.checkpoint?.sequence ?? 0)) {
      state.checkpoint = { ...checkpoint, sequence };
    }
  }

  /**
   * All up to `version` has been applied. Below `trusted` a checkpoint may have been followed by a
   * delete that the stream has forgotten: that it differs then says nothing. True when one agrees.
   */
  compareAll(version: number, trusted: number): boolean {
    let agrees = false;
    for (const state of this.#states.values()) {
      if ((state.checkpoint?.sequence ?? Infinity) > version) continue;
      if (this.#compare(state, trusted)) agrees = true;
    }
    return agrees;
  }

  /** All before its newest checkpoint has been applied. True when that agrees. */
  compare(ledger: string): boolean {
    const state = this.#states.get(ledger);
    return state !== undefined && this.#compare(state, 0);
  }

  /** What follows is of another stream: its sequences begin anew, and so do its checkpoints. */
  startOver(): void {
    this.#verified = 0;
    this.#differences.clear();
    this.forgetSequences();
  }

  /** Those of before may be of a stream that lost its end: they would keep out the newer ones. */
  forgetSequences(): void {
    for (const state of this.#states.values()) {
      state.lastSequence = 0;
      state.checkpoint = undefined;
    }
  }

  #compare({ name, digest, lastSequence, checkpoint }: LedgerState, trusted: number): boolean {
    // Servers in a cluster may put a write before a checkpoint that did not see it.
    if (checkpoint === undefined || checkpoint.version < lastSequence) return false;
    const { sequence } = checkpoint;
    const own = digest.toString();
    if (digest.objects === checkpoint.objects && own === checkpoint.digest) {
      this.#differences.delete(name);
      this.#verified = Math.max(this.#verified, sequence);
      return true;
    }
    if (sequence < trusted || this.#differences.get(name)?.sequence === sequence) return false;
    this.#mismatches += 1;
    const said = `the checkpoint of ${name} at ${sequence}`;
    const what = `${checkpoint.objects} objects with digest ${checkpoint.digest}`;
    const why = `${said} says ${what}, but here are ${digest.objects} with ${own}`;
    this.#differences.set(name, { sequence, why });
    return false;
  }

  #stateOf(name: string): LedgerState {
    let state = this.#states.get(name);
    if (state === undefined) {
      state = { name, digest: new Digest(), lastSequence: 0, checkpoint: undefined };
      this.#states.set(name, state);
    }
    return state;
  }
}
