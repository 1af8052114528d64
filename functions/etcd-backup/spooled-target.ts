// A backup as an object, by way of this machine's disk: what comes in lies there, and its parts are
// sent from there, each with the hash of the bytes that came. The stream never waits for the
// storage, and no part is held in memory.
import { createHash, type Hash } from 'node:crypto';
import { PIECE_BYTES } from '../../shared/s3/content.ts';
import type { Spool } from '../../shared/spool.ts';
import type { Facts } from './facts.ts';
import { beginSpool, type SpoolOptions } from './own-spool.ts';
import type { StreamPart } from './part-queue.ts';
import { PartUploads } from './part-uploads.ts';
import type { ObjectPart, S3Target } from './s3-target.ts';
import type { Target } from './target.ts';

/** Every part of an object is a multiple of it. */
const WRITE_BYTES = 1024 * 1024;

/** A part of which not all bytes are on the disk. */
interface Coming {
  readonly number: number;
  readonly hash: Hash;
  sizeBytes: number;
  /** Those that are there. */
  spooledBytes: number;
}

export class SpooledTarget implements Target {
  readonly name: string;
  readonly partBytes = WRITE_BYTES;
  /** The storage takes the bytes of the disk by the hash of what came. */
  readonly isSpoolHeld = true;
  // The next one fills while one is written.
  readonly partsAtOnce = 2;
  readonly #target: S3Target;
  readonly #spooling: SpoolOptions;
  readonly #uploads: PartUploads<ObjectPart>;
  readonly #coming = new Map<number, Coming>();
  /** For pieces of parts that are under way; a new one for each would be garbage for minutes. */
  readonly #rooms: Buffer[] = [];
  #spool: Spool | undefined;

  constructor(target: S3Target, spooling: SpoolOptions) {
    this.name = target.name;
    this.#target = target;
    this.#spooling = spooling;
    this.#uploads = new PartUploads({
      atOnce: target.partsAtOnce,
      upload: (part, signal) => target.sendContent(part, signal),
    });
  }

  get spool(): Spool {
    if (this.#spool === undefined) throw new Error('nothing has begun');
    return this.#spool;
  }

  earlier(signal: AbortSignal): Promise<Facts | undefined> {
    return this.#target.earlier(signal);
  }

  async begin(dbSizeBytes: number, signal: AbortSignal): Promise<void> {
    this.#spool = await beginSpool(this.#spooling, dbSizeBytes);
    await this.#target.begin(dbSizeBytes, signal);
  }

  /** Called in the order of the stream; each is told when it is on the disk. */
  async send({ bytes, offset }: StreamPart): Promise<void> {
    this.#uploads.assertNoneFailed();
    const coming = this.#comingAt(offset);
    coming.hash.update(bytes);
    coming.sizeBytes += bytes.length;
    await this.spool.write(bytes, offset);
    coming.spooledBytes += bytes.length;
    if (coming.spooledBytes === this.#target.partBytes) this.#upload(coming);
  }

  async finish(facts: Facts, signal: AbortSignal): Promise<Facts> {
    for (const last of this.#coming.values()) this.#upload(last);
    await this.#uploads.end(signal);
    return this.#target.finish(facts, signal);
  }

  async abort(): Promise<void> {
    await this.#uploads.settle();
    await this.#target.abort();
  }

  async close(): Promise<void> {
    await this.#spool?.close();
    await this.#target.close();
  }

  #comingAt(offset: number): Coming {
    const number = Math.floor(offset / this.#target.partBytes) + 1;
    const known = this.#coming.get(number);
    if (known !== undefined) return known;
    const coming = { number, hash: createHash('sha256'), sizeBytes: 0, spooledBytes: 0 };
    this.#coming.set(number, coming);
    return coming;
  }

  #upload({ number, hash, sizeBytes }: Coming): void {
    this.#coming.delete(number);
    const offset = (number - 1) * this.#target.partBytes;
    const pieces = () => this.#pieces(offset, sizeBytes);
    const content = { sizeBytes, sha256: hash.digest(), pieces };
    this.#uploads.add({ number, offset, content });
  }
  /** The storage holds what the disk gives against the hash of what came. */
  async *#pieces(offset: number, sizeBytes: number): AsyncGenerator<Buffer> {
    const room = this.#rooms.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let done = 0; done < sizeBytes; done += room.length) {
      const piece = room.subarray(0, Math.min(room.length, sizeBytes - done));
      await this.spool.read(piece, offset + done);
      yield piece;
    }
    // Where it ended otherwise, a connection may still have it.
    this.#rooms.push(room);
  }
}
