// The sum over a set of messages that both sides of a feed keep as the set changes: equal sums mean
// equal sets. A message counts as the first 64 bits of SHA-256 over its subject, a line feed and
// its bytes; the sum is their XOR, so the order does not matter and what is added twice is gone.
import { hash } from 'node:crypto';

/** 64 bits as two signed halves: small integers, which cost an object nothing extra. */
export interface Fingerprint {
  readonly high: number;
  readonly low: number;
}

export function fingerprint(subject: string, data: Uint8Array): Fingerprint {
  const bytes = Buffer.concat([Buffer.from(`${subject}\n`), data]);
  const sum = hash('sha256', bytes, 'buffer');
  return { high: sum.readInt32BE(0), low: sum.readInt32BE(4) };
}

export class Digest {
  #high = 0;
  #low = 0;
  #objects = 0;

  get objects(): number {
    return this.#objects;
  }

  /** The digest of the present content. */
  get sum(): Fingerprint {
    return { high: this.#high, low: this.#low };
  }

  add({ high, low }: Fingerprint): void {
    this.#toggle(high, low);
    this.#objects += 1;
  }

  remove({ high, low }: Fingerprint): void {
    this.#toggle(high, low);
    this.#objects -= 1;
  }

  /** Takes in all that another one sums up. */
  merge(other: Digest): void {
    this.#toggle(other.#high, other.#low);
    this.#objects += other.#objects;
  }

  toString(): string {
    return digestText(this.sum);
  }

  #toggle(high: number, low: number): void {
    this.#high ^= high;
    this.#low ^= low;
  }
}

/** Sixteen hexadecimal digits. */
export function digestText({ high, low }: Fingerprint): string {
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
