// Seals a stream: takes plain bytes as they come, and gives sealed ones. Holds one chunk, since
// nobody knows of a full one whether it is the last.
import { CHUNK_BYTES, type Header, newHeader, sealedChunk } from './chunks.ts';
import type { SealKey } from './key.ts';

export class Sealer {
  readonly #header: Header;
  readonly #held: Buffer;
  #heldBytes = 0;
  #number = 0;
  #isBegun = false;

  constructor(key: SealKey, chunkBytes = CHUNK_BYTES) {
    this.#header = newHeader(key, chunkBytes);
    this.#held = Buffer.allocUnsafeSlow(chunkBytes);
  }

  /** Keeps nothing of the buffer that it is given. */
  update(bytes: Buffer): readonly Buffer[] {
    const sealed = this.#begin();
    for (let done = 0; done < bytes.length;) {
      if (this.#heldBytes === this.#held.length) sealed.push(this.#seal(false));
      const copied = bytes.copy(this.#held, this.#heldBytes, done);
      done += copied;
      this.#heldBytes += copied;
    }
    return sealed;
  }

  /** Gives the rest. */
  end(): readonly Buffer[] {
    return [...this.#begin(), this.#seal(true)];
  }

  #begin(): Buffer[] {
    if (this.#isBegun) return [];
    this.#isBegun = true;
    return [this.#header.bytes];
  }

  #seal(isLast: boolean): Buffer {
    const plain = this.#held.subarray(0, this.#heldBytes);
    const sealed = sealedChunk(this.#header, { number: this.#number, isLast }, plain);
    this.#number += 1;
    this.#heldBytes = 0;
    return sealed;
  }
}
