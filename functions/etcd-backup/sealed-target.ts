// A target whose bytes are sealed before they leave this machine, before another target takes them.
// A copy on this machine's disk, without a name, has them as etcd sent them; it alone is read.
import { createHash } from 'node:crypto';
import { SEALED_FORMAT, sealedSizeOf } from '../../shared/sealed/chunks.ts';
import type { SealKey } from '../../shared/sealed/key.ts';
import { Sealer } from '../../shared/sealed/seal.ts';
import type { Spool } from '../../shared/spool.ts';
import type { Facts } from './facts.ts';
import { beginSpool, type SpoolOptions } from './own-spool.ts';
import { PartQueue, settle, type StreamPart } from './part-queue.ts';
import type { Storage, Target } from './target.ts';

const PART_BYTES = 1024 * 1024;

export class SealedTarget implements Target {
  readonly name: string;
  readonly partBytes = PART_BYTES;
  readonly isSpoolHeld = false;
  // Chunks are sealed in their order; those that are sealed go out beside each other.
  readonly partsAtOnce = 1;
  readonly #target: Storage;
  readonly #key: SealKey;
  readonly #spooling: SpoolOptions;
  readonly #sealer: Sealer;
  readonly #sha256 = createHash('sha256');
  readonly #stop = new AbortController();
  #sizeBytes = 0;
  #queue: PartQueue | undefined;
  #spool: Spool | undefined;

  constructor(target: Storage, key: SealKey, spooling: SpoolOptions) {
    this.name = target.name;
    this.#target = target;
    this.#key = key;
    this.#spooling = spooling;
    this.#sealer = new Sealer(key);
  }

  get spool(): Spool {
    if (this.#spool === undefined) throw new Error('nothing has begun');
    return this.#spool;
  }

  earlier(signal: AbortSignal): Promise<Facts | undefined> {
    return this.#target.earlier(signal);
  }

  async begin(dbSizeBytes: number, signal: AbortSignal): Promise<void> {
    const target = this.#target;
    this.#spool = await beginSpool(this.#spooling, dbSizeBytes);
    await target.begin(sealedSizeOf(dbSizeBytes), signal);
    this.#queue = new PartQueue(target.partBytes, target.partsAtOnce, (part) =>
      target.send(part, this.#stop.signal),
    );
  }

  async send({ bytes, offset }: StreamPart, signal: AbortSignal): Promise<void> {
    await this.spool.write(bytes, offset);
    await this.#write(this.#sealer.update(bytes), signal);
  }

  async finish(facts: Facts, signal: AbortSignal): Promise<Facts> {
    await this.#write(this.#sealer.end(), signal, (queue) => queue.end());
    const { sizeBytes: plainSizeBytes, sha256: plainSha256 } = facts;
    const { id: keyId } = this.#key;
    const sealed = { sizeBytes: this.#sizeBytes, sha256: this.#sha256.digest('hex') };
    const encryption = { format: SEALED_FORMAT, keyId, plainSizeBytes, plainSha256 };
    return this.#target.finish({ ...facts, ...sealed, encryption }, signal);
  }

  async abort(): Promise<void> {
    if (this.#queue !== undefined) await settle(this.#queue, this.#stop);
    await this.#target.abort();
  }

  async close(): Promise<void> {
    await this.#spool?.close();
    await this.#target.close();
  }

  async #write(
    sealed: readonly Buffer[],
    signal: AbortSignal,
    andThen?: (queue: PartQueue) => Promise<void>,
  ): Promise<void> {
    if (this.#queue === undefined) throw new Error('nothing has begun');
    signal.throwIfAborted();
    const stop = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (const bytes of sealed) {
        this.#sha256.update(bytes);
        this.#sizeBytes += bytes.length;
        await this.#queue.write(bytes);
      }
      await andThen?.(this.#queue);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
