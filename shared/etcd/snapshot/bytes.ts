// The bytes of a snapshot by offset, from a file or from memory, with a few blocks kept: pages that
// lie side by side are read together, and memory does not grow with the file.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { Damage } from './damage.ts';

export interface Bytes {
  readonly sizeBytes: number;
  /** Good until the next call of `page`. */
  page(offset: number, length: number): Buffer;
  /** A copy, which stays as it is. */
  copy(offset: number, length: number): Buffer;
  /** Undefined, or why what was read is not of one moment. */
  changed(): string | undefined;
  close(): void;
}

/** A multiple of every page size that bbolt has been given. */
export const BLOCK_BYTES = 128 * 1024;
const BLOCKS = 16;
/** The head of a record, which lies in the block that its page was found in. */
const SMALL_BYTES = 4096;

export function bytesOfBuffer(buffer: Buffer): Bytes {
  const slice = (offset: number, length: number): Buffer => {
    if (offset + length > buffer.length) throw cutOff(buffer.length, offset + length);
    return buffer.subarray(offset, offset + length);
  };
  const close = (): void => undefined;
  return { sizeBytes: buffer.length, page: slice, copy: slice, changed: () => undefined, close };
}

/** Read-only, never mapped into memory: a file that shrinks ends in an error, not in a signal. */
export function bytesOfFile(path: string): Bytes {
  // To open a pipe is to wait for its writer, and no signal ends that.
  if (!statSync(path).isFile()) throw new Error('it is no regular file');
  const fd = openSync(path, 'r');
  const before = fstatSync(fd);
  return new FileBytes(fd, before.size, before.mtimeMs);
}

class FileBytes implements Bytes {
  readonly sizeBytes: number;
  readonly #fd: number;
  readonly #mtimeMs: number;
  /** In the order of their last use, the oldest first. */
  readonly #blocks = new Map<number, Buffer>();

  constructor(fd: number, sizeBytes: number, mtimeMs: number) {
    this.#fd = fd;
    this.sizeBytes = sizeBytes;
    this.#mtimeMs = mtimeMs;
  }

  page(offset: number, length: number): Buffer {
    const index = Math.floor(offset / BLOCK_BYTES);
    const from = offset - index * BLOCK_BYTES;
    if (from + length > BLOCK_BYTES) return this.copy(offset, length);
    const block = this.#block(index);
    if (from + length > block.length) throw cutOff(this.sizeBytes, offset + length);
    return block.subarray(from, from + length);
  }

  copy(offset: number, length: number): Buffer {
    if (offset + length > this.sizeBytes) throw cutOff(this.sizeBytes, offset + length);
    const isWithinOne = (offset % BLOCK_BYTES) + length <= BLOCK_BYTES;
    if (length <= SMALL_BYTES && isWithinOne) return Buffer.from(this.page(offset, length));
    const bytes = Buffer.allocUnsafeSlow(length);
    this.#fill(bytes, offset);
    return bytes;
  }

  changed(): string | undefined {
    const { size, mtimeMs } = fstatSync(this.#fd);
    if (size === this.sizeBytes && mtimeMs === this.#mtimeMs) return undefined;
    return 'it was written to while it was read';
  }

  close(): void {
    closeSync(this.#fd);
  }

  #block(index: number): Buffer {
    const kept = this.#blocks.get(index);
    if (kept !== undefined) {
      this.#blocks.delete(index);
      this.#blocks.set(index, kept);
      return kept;
    }
    const offset = index * BLOCK_BYTES;
    const length = Math.max(0, Math.min(BLOCK_BYTES, this.sizeBytes - offset));
    const bytes = this.#room().subarray(0, length);
    this.#fill(bytes, offset);
    this.#blocks.set(index, bytes);
    return bytes;
  }

  /** New memory for the first blocks, that of the block longest unused from then on. */
  #room(): Buffer {
    const [oldest] = this.#blocks;
    if (this.#blocks.size < BLOCKS || oldest === undefined) {
      return Buffer.allocUnsafeSlow(BLOCK_BYTES);
    }
    const [index, { buffer }] = oldest;
    this.#blocks.delete(index);
    return Buffer.from(buffer);
  }

  #fill(bytes: Buffer, offset: number): void {
    for (let done = 0; done < bytes.length;) {
      const read = readSync(this.#fd, bytes, done, bytes.length - done, offset + done);
      if (read === 0) throw new Damage(offset + done, 'the file ends here now, it was longer');
      done += read;
    }
  }
}

const cutOff = (sizeBytes: number, wanted: number): Damage =>
  new Damage(sizeBytes, `the file ends here, and goes on to ${wanted} by what it says itself`);
