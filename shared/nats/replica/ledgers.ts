// The sums that a replica keeps of what it holds, one per ledger, and how they compare with the
// checkpoints of the feed. A checkpoint says what was so as of its version: it is compared with the
// sum as of that version, also when the ledger has changed since.
import { Digest, type Fingerprint, digestText } from '../../feed/digest.ts';
import type { Checkpoint } from '../../feed/messages.ts';
import { PastSums, type Remembered } from './past-sums.ts';

interface LedgerState extends Remembered {
  readonly name: string;
  /** The sequence of the newest message that was counted here. */
  lastSequence: number;
  checkpoint: (Checkpoint & { readonly sequence: number }) | undefined;
  /** The checkpoints that were last counted as different, and as passed over. */
  accused: number;
  passed: number;
  /** The newest checkpoint that agreed; 0 before there is one. */
  verified: number;
}

interface Difference {
  readonly sequence: number;
  readonly why: string;
}

export interface LedgerRow {
  readonly name: string;
  readonly objects: number;
  /** The newest checkpoint that agreed; 0 before there is one. */
  readonly verified: number;
}

export class Ledgers {
  readonly #states = new Map<string, LedgerState>();
  readonly #differences = new Map<string, Difference>();
  readonly #counts: (ledger: string) => boolean;
  readonly #nowMs: () => number;
  readonly #past = new PastSums();
  /** Messages are applied one by one in their order, so each state is one that the feed had. */
  #isFollowing = false;
  /** Changes before it are unknown; only their result is known. */
  #unknownUpTo = 0;
  #verified = 0;
  #mismatches = 0;
  #passedOver = 0;

  constructor(counts: (ledger: string) => boolean, nowMs: () => number) {
    this.#counts = counts;
    this.#nowMs = nowMs;
  }

  /** The newest checkpoint that agreed; 0 before there is one. */
  get verified(): number {
    return this.#verified;
  }

  /** How many checkpoints did not agree, each counted once. */
  get mismatches(): number {
    return this.#mismatches;
  }

  /** How many checkpoints were of a state that is not remembered. */
  get passedOver(): number {
    return this.#passedOver;
  }

  get rows(): readonly LedgerRow[] {
    const own = [...this.#states.values()].filter(({ name }) => this.#counts(name));
    return own.map(({ name, digest: { objects }, verified }) => ({ name, objects, verified }));
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

  /** The message with this sequence is about to change the ledger. */
  touch(ledger: string, sequence: number): void {
    const state = this.#stateOf(ledger);
    if (this.#isFollowing) this.#past.note(state, sequence, this.#nowMs());
    if (sequence > state.lastSequence) state.lastSequence = sequence;
  }

  /** The content was applied before this process began, up to this version. */
  restored(version: number): void {
    this.#unknownUpTo = version;
  }

  /** From here on messages come as they are read, and not as they were written. */
  startCatchingUp(): void {
    this.#isFollowing = false;
    this.#past.clear();
  }

  /** Differences concerned the content before the snapshot; ledgers are compared again. */
  tookSnapshot(): void {
    this.#differences.clear();
  }

  /** Notes it, to be compared when all that came before it has been applied. */
  note(ledger: string, sequence: number, checkpoint: Checkpoint): void {
    // A checkpoint cannot sum up messages that are not written yet: a stranger wrote it.
    if (!this.#counts(ledger) || checkpoint.version >= sequence) return;
    const state = this.#stateOf(ledger);
    if (sequence >= (state.checkpoint?.sequence ?? 0)) {
      state.checkpoint = { ...checkpoint, sequence };
    }
  }

  /**
   * All messages up to `version` are applied, and the next ones come in order. In a state before
   * `trusted` deletes may be missing, so a difference there proves nothing. True when one
   * checkpoint agrees.
   */
  caughtUp(version: number, trusted: number): boolean {
    let agrees = false;
    this.#isFollowing = true;
    for (const state of this.#states.values()) {
      state.since = Math.max(state.lastSequence, this.#unknownUpTo);
      if ((state.checkpoint?.sequence ?? Infinity) > version) continue;
      if (this.#compare(state, trusted)) agrees = true;
    }
    return agrees;
  }

  /** All before its newest checkpoint has been applied. True when that agrees. */
  compare(ledger: string): boolean {
    const state = this.#states.get(ledger);
    return this.#isFollowing && state !== undefined && this.#compare(state, 0);
  }

  /** Messages from here on belong to another stream, with new sequences and new checkpoints. */
  startOver(): void {
    this.#verified = 0;
    this.#differences.clear();
    this.forgetSequences();
    for (const state of this.#states.values()) {
      state.accused = 0;
      state.passed = 0;
      state.verified = 0;
    }
  }

  /** Former checkpoints may be of a stream that lost its end, and would keep out the newer ones. */
  forgetSequences(): void {
    this.#unknownUpTo = 0;
    this.startCatchingUp();
    for (const state of this.#states.values()) {
      state.lastSequence = 0;
      state.since = 0;
      state.checkpoint = undefined;
    }
  }

  #compare(state: LedgerState, trusted: number): boolean {
    const { name, checkpoint } = state;
    if (checkpoint === undefined) return false;
    const { sequence, version } = checkpoint;
    const own = this.#past.at(state, version);
    if (own === undefined) {
      if (state.passed !== sequence) this.#passedOver += 1;
      state.passed = sequence;
      return false;
    }
    const digest = digestText(own);
    if (own.objects === checkpoint.objects && digest === checkpoint.digest) {
      this.#differences.delete(name);
      state.verified = sequence;
      this.#verified = Math.max(this.#verified, sequence);
      return true;
    }
    if (version < trusted) return false;
    if (state.accused !== sequence) this.#mismatches += 1;
    state.accused = sequence;
    const said = `the checkpoint of ${name} at ${sequence}`;
    const expected = `${checkpoint.objects} objects with digest ${checkpoint.digest}`;
    const here = `${own.objects} with ${digest}`;
    const why = `${said} says ${expected} as of ${version}, but here were ${here}`;
    this.#differences.set(name, { sequence, why });
    return false;
  }

  #stateOf(name: string): LedgerState {
    let state = this.#states.get(name);
    if (state === undefined) {
      state = {
        name,
        digest: new Digest(),
        latest: -1,
        since: this.#unknownUpTo,
        lastSequence: 0,
        checkpoint: undefined,
        accused: 0,
        passed: 0,
        verified: 0,
      };
      this.#states.set(name, state);
    }
    return state;
  }
}
