// The sums of ledgers before each of their latest changes. A checkpoint for an earlier version can
// then be compared a little later, while ledgers go on changing. Bounded in time and in bytes over
// all ledgers: a burst shortens the memory and takes no more of it.
import type { Digest, Fingerprint } from '../../feed/digest.ts';

/** Checkpoints arrive within seconds of what they sum up, also at the end of a long sweep. */
const KEPT_MS = 60_000;
const CHUNK_CHANGES = 1_024;
/** With 36 bytes for each change some 1.2 MB; at 2,000 changes a second, the last 16 s. */
const CHUNKS_MAX = 32;

export interface Remembered {
  readonly digest: Digest;
  /** Its latest change that was noted. */
  latest: number;
  /** The sum is known from this version on. */
  since: number;
}

export interface Sum extends Fingerprint {
  readonly objects: number;
}

const NONE = -1;

class Chunk {
  readonly sequences = new Float64Array(CHUNK_CHANGES);
  /** The change before of the same ledger. */
  readonly previous = new Float64Array(CHUNK_CHANGES);
  readonly objects = new Int32Array(CHUNK_CHANGES);
  readonly highs = new Int32Array(CHUNK_CHANGES);
  readonly lows = new Int32Array(CHUNK_CHANGES);
  readonly ledgers: Remembered[] = [];
  latestMs = 0;
}

export class PastSums {
  #chunks: Chunk[] = [];
  /** The number of the first change that is kept; they are numbered as they come. */
  #first = 0;
  #next = 0;

  /** How many changes are kept. */
  get size(): number {
    return this.#next - this.#first;
  }

  /** The ledger is about to change at this sequence, which is higher than those of before. */
  note(ledger: Remembered, sequence: number, nowMs: number): void {
    const at = this.#next % CHUNK_CHANGES;
    if (at === 0) this.#begin(nowMs);
    const chunk = this.#chunkOf(this.#next);
    if (chunk === undefined) return;
    const { objects, sum } = ledger.digest;
    chunk.sequences[at] = sequence;
    chunk.previous[at] = ledger.latest;
    chunk.objects[at] = objects;
    chunk.highs[at] = sum.high;
    chunk.lows[at] = sum.low;
    chunk.ledgers.push(ledger);
    chunk.latestMs = nowMs;
    ledger.latest = this.#next;
    this.#next += 1;
  }

  /** The sum as of a version; undefined when it is not remembered. */
  at(ledger: Remembered, version: number): Sum | undefined {
    if (version < ledger.since) return undefined;
    const { digest } = ledger;
    let found: Sum = { objects: digest.objects, ...digest.sum };
    for (let number = ledger.latest; number >= this.#first;) {
      const chunk = this.#chunkOf(number);
      const at = number % CHUNK_CHANGES;
      if (chunk === undefined || (chunk.sequences[at] ?? 0) <= version) break;
      const [objects = 0, high = 0, low = 0] = [chunk.objects[at], chunk.highs[at], chunk.lows[at]];
      found = { objects, high, low };
      number = chunk.previous[at] ?? NONE;
    }
    return found;
  }

  clear(): void {
    for (const chunk of this.#chunks) for (const ledger of chunk.ledgers) ledger.latest = NONE;
    this.#chunks = [];
    this.#first = 0;
    this.#next = 0;
  }

  #chunkOf(number: number): Chunk | undefined {
    return this.#chunks[Math.floor((number - this.#first) / CHUNK_CHANGES)];
  }

  #begin(nowMs: number): void {
    const isOver = ({ latestMs }: Chunk): boolean =>
      nowMs - latestMs > KEPT_MS || this.#chunks.length >= CHUNKS_MAX;
    for (let [oldest] = this.#chunks; oldest && isOver(oldest); [oldest] = this.#chunks) {
      for (const [at, ledger] of oldest.ledgers.entries()) {
        ledger.since = Math.max(ledger.since, oldest.sequences[at] ?? 0);
      }
      this.#chunks.shift();
      this.#first += CHUNK_CHANGES;
    }
    this.#chunks.push(new Chunk());
  }
}
