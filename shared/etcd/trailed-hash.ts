// The sha256 of a snapshot while it streams by: its last 32 bytes are the hash of all before, by
// which etcd says that nothing is missing.
import { createHash } from 'node:crypto';

const HASH_BYTES = 32;

export class TrailedHash {
  readonly #hash = createHash('sha256');
  #tail: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  update(blob: Buffer): void {
    const bytes = Buffer.concat([this.#tail, blob]);
    const known = Math.max(0, bytes.length - HASH_BYTES);
    this.#hash.update(bytes.subarray(0, known));
    this.#tail = Buffer.from(bytes.subarray(known));
    this.#sizeBytes += blob.length;
  }

  /** As etcd tells it; throws when the bytes do not match. */
  checked(): string {
    const sha256 = this.#hash.copy().digest('hex');
    if (this.#sizeBytes > HASH_BYTES && sha256 === this.#tail.toString('hex')) return sha256;
    throw new Error(`its ${this.#sizeBytes} bytes do not match the hash that etcd sent with them`);
  }

  /** As `sha256sum` tells it, of the whole file with its trailer. */
  ofFile(): string {
    return this.#hash.copy().update(this.#tail).digest('hex');
  }
}
