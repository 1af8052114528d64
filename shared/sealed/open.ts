// Opens a sealed stream: takes sealed bytes as they come, and gives the plain ones of each chunk
// once that is proved. Whether the stream is whole is known at its end alone.
import { type Header, HEADER_BYTES, headerIn, isSealed, openedChunk, TAG_BYTES } from './chunks.ts';
import type { SealKey } from './key.ts';
import { changed, notSealed } from './refusals.ts';

export class Opener {
  readonly #name: string;
  readonly #key: SealKey;
  #header: Header | undefined;
  #held: Buffer = Buffer.alloc(HEADER_BYTES);
  #heldBytes = 0;
  /** Those before the ones that are held. */
  #doneBytes = 0;
  #number = 0;

  /** `name` is for messages. */
  constructor(name: string, key: SealKey) {
    this.#name = name;
    this.#key = key;
  }

  /** Keeps nothing of the buffer that it is given. */
  update(bytes: Buffer): readonly Buffer[] {
    const opened: Buffer[] = [];
    for (let done = 0; done < bytes.length;) {
      if (this.#heldBytes === this.#held.length) opened.push(this.#open(false));
      const copied = bytes.copy(this.#held, this.#heldBytes, done);
      done += copied;
      this.#heldBytes += copied;
      if (this.#header === undefined) this.#begin();
    }
    return opened;
  }

  /** The last bytes; fails when they are not the last ones. */
  end(): Buffer {
    if (this.#header === undefined) {
      const held = this.#held.subarray(0, this.#heldBytes);
      throw isSealed(held) ? this.#endsEarly() : notSealed(this.#name);
    }
    return this.#open(true);
  }

  #begin(): void {
    const held = this.#held.subarray(0, this.#heldBytes);
    // A large file that is something else is not read further.
    if (!isSealed(held)) throw notSealed(this.#name);
    if (this.#heldBytes < HEADER_BYTES) return;
    this.#header = headerIn(held, this.#key, this.#name);
    this.#held = Buffer.allocUnsafeSlow(this.#header.chunkBytes + TAG_BYTES);
    this.#doneBytes = HEADER_BYTES;
    this.#heldBytes = 0;
  }

  #open(isLast: boolean): Buffer {
    if (this.#header === undefined) throw new Error('nothing has begun');
    const sealed = this.#held.subarray(0, this.#heldBytes);
    const plain = openedChunk(this.#header, { number: this.#number, isLast }, sealed);
    if (plain === undefined) throw isLast ? this.#endsEarly() : this.#isOther();
    this.#doneBytes += this.#heldBytes;
    this.#heldBytes = 0;
    this.#number += 1;
    return plain;
  }

  #isOther(): Error {
    const end = this.#doneBytes + this.#heldBytes;
    return changed(
      this.#name,
      `has other bytes than were written, from ${this.#doneBytes} to ${end}`,
    );
  }

  #endsEarly(): Error {
    const end = this.#doneBytes + this.#heldBytes;
    const how = `was cut off at byte ${end}, or has other bytes than were written`;
    return changed(this.#name, `${how} from ${this.#doneBytes} on`);
  }
}
