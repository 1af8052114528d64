// The sha256 of a snapshot while it streams by: its last 32 bytes are the hash of all before, by
// which etcd says that nothing is missing.
import { createHash } from 'node:crypto';

const HASH_BYTES = 32;

export class TrailedHash {
  readonly #hash = createHash('sha256');
  readonly #tail = Buffer.alloc(HASH_BYTES);
  #tailBytes = 0;
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  update(blob: Buffer): void {
    this.#sizeBytes += blob.length;
    // So much of the end so far is no longer the end.
    const passed = Math.max(
      0,
      Math.min(this.#tailBytes, this.#tailBytes + blob.length - HASH_BYTES),
    );
    this.#hash.update(this.#tail.subarray(0, passed));
    this.#tail.copyWithin(0, passed, this.#tailBytes);
    this.#tailBytes -= passed;
    const known = Math.max(0, blob.length - HASH_BYTES);
    this.#hash.update(blob.subarray(0, known));
    this.#tailBytes += blob.copy(this.#tail, this.#tailBytes, known);
  }

  /** As etcd tells it; throws when the bytes do not match. */
  checked(): string {
    const sha256 = this.#hash.copy().digest('hex');
    if (this.#sizeBytes > HASH_BYTES && sha256 === this.#end().toString('hex')) return sha256;
    throw new Error(`its ${this.#sizeBytes} bytes do not match the hash that etcd sent with them`);
  }

  /** As `sha256sum` tells it, of the whole file with its trailer. */
  ofFile(): string {
    return this.#hash.copy().update(this.#end()).digest('hex');
  }

  #end(): Buffer {
    return this.#tail.subarray(0, this.#tailBytes);
  }
}
