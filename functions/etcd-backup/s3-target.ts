// A backup as an object: its parts go out while the snapshot comes in, and are put together only
// when it was checked. Beside it, this machine's disk has the same bytes to read them through.
import { createHash, randomUUID } from 'node:crypto';
import { factsNameOf } from '../../shared/api/etcd-backup.ts';
import { Failure } from '../../shared/errors.ts';
import type { Bucket, Part, Upload } from '../../shared/s3/bucket.ts';
import { isS3Failure, S3Failure } from '../../shared/s3/errors.ts';
import { type Place, shownPlace } from '../../shared/s3/place.ts';
import { assertRoom, Spool } from '../../shared/spool.ts';
import { type Facts, textOfFacts } from './facts.ts';
import type { StreamPart } from './part-queue.ts';
import { backupExists, type Target } from './target.ts';

export interface S3TargetOptions {
  readonly place: Place;
  readonly spoolDir: string;
  /** As the member tells it, before it sends: what is sent may be a little more. */
  readonly dbSizeBytes: number;
}

const MIB = 1024 * 1024;
const PART_BYTES_MIN = 8 * MIB;
/** S3 takes 10,000; the database may double until it is sent. */
const PARTS = 5_000;
/** A pod that is to end has half a minute. */
const ABORT_MS = 15_000;

export class S3Target implements Target {
  readonly name: string;
  readonly partBytes: number;
  readonly partsAtOnce = 4;
  readonly #bucket: Bucket;
  readonly #options: S3TargetOptions;
  /** By which our own objects are known from those of others. */
  readonly #writer = randomUUID();
  readonly #parts = new Map<number, Part>();
  readonly #digests = new Map<number, Buffer>();
  #spool: Spool | undefined;
  #upload: Upload | undefined;

  constructor(bucket: Bucket, options: S3TargetOptions) {
    this.name = shownPlace(options.place);
    this.#bucket = bucket;
    this.#options = options;
    const fitting = Math.ceil(options.dbSizeBytes / PARTS / MIB) * MIB;
    this.partBytes = Math.max(PART_BYTES_MIN, fitting);
  }

  get spool(): Spool {
    if (this.#spool === undefined) throw new Error('nothing has begun');
    return this.#spool;
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { place, spoolDir, dbSizeBytes } = this.#options;
    for (const key of [place.key, factsNameOf(place.key)]) {
      const found = await this.#bucket.head(key, signal);
      if (found !== undefined) throw backupExists(shownPlace({ ...place, key }));
    }
    await assertRoom(spoolDir, dbSizeBytes);
    this.#spool = await Spool.inDirectory(spoolDir);
    this.#upload = await this.#bucket.createUpload(place.key, this.#writer, signal);
  }

  async send({ bytes, number, offset }: StreamPart, signal: AbortSignal): Promise<void> {
    const sending = this.#bucket.uploadPart(this.#begun(), number, bytes, { offset, signal });
    // Both have ended when this has: the buffer is used again, and an abort comes last.
    const [sent, spooled] = await Promise.allSettled([sending, this.spool.write(bytes, offset)]);
    if (spooled.status === 'rejected') throw spooled.reason;
    if (sent.status === 'rejected') throw sent.reason;
    this.#parts.set(number, sent.value);
    this.#digests.set(number, createHash('sha256').update(bytes).digest());
  }

  async finish(facts: Facts, signal: AbortSignal): Promise<void> {
    const { place } = this.#options;
    const upload = this.#begun();
    const parts = inOrder(this.#parts);
    await this.#refusing(place.key, async () => {
      await this.#bucket.completeUpload(upload, parts, this.#writer, signal);
    });
    this.#upload = undefined;
    try {
      await this.#assertStored(facts.sizeBytes, signal);
      const beside = factsNameOf(place.key);
      await this.#refusing(beside, async () => {
        await this.#bucket.putNew(beside, textOfFacts(facts), this.#writer, signal);
      });
    } catch (error) {
      await this.#deleteOwn(error);
      throw error;
    }
  }

  async abort(): Promise<void> {
    if (this.#upload === undefined) return;
    await this.#bucket.abortUpload(this.#upload, AbortSignal.timeout(ABORT_MS));
    this.#upload = undefined;
  }

  async close(): Promise<void> {
    await this.#spool?.close();
    await this.#bucket.close();
  }

  #begun(): Upload {
    if (this.#upload === undefined) throw new Error('nothing has begun');
    return this.#upload;
  }

  async #refusing(key: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isS3Failure(error, 'S3_CONFLICT') || error.refused?.statusCode !== 412) throw error;
      throw backupExists(shownPlace({ ...this.#options.place, key }), error);
    }
  }

  /** The storage says that it has what it was sent. */
  async #assertStored(sizeBytes: number, signal: AbortSignal): Promise<void> {
    const found = await this.#bucket.head(this.#options.place.key, signal);
    const digests = inOrder(this.#digests);
    const sum = createHash('sha256').update(Buffer.concat(digests)).digest('base64');
    const sent = `${sum}-${digests.length}`;
    // A single number is of the whole, where the storage reckons that by itself.
    const told = found?.sha256?.includes('-') === true ? found.sha256 : sent;
    if (found?.writer === this.#writer && found.sizeBytes === sizeBytes && told === sent) return;
    const has = `${found?.sizeBytes ?? 'no'} bytes with the sha256 ${told}`;
    const message =
      `${this.name} was written, and the storage says that it has ${has}, not ${sizeBytes} bytes ` +
      `with ${sent}. It is removed. Try again.`;
    throw new S3Failure('S3_CHECKSUM', message, this.name);
  }

  /** A backup without its facts is none; nobody has heard of it yet. */
  async #deleteOwn(cause: unknown): Promise<void> {
    const { place } = this.#options;
    const signal = AbortSignal.timeout(ABORT_MS);
    try {
      await this.#bucket.deleteOwn(place.key, this.#writer, signal);
      await this.#bucket.deleteOwn(factsNameOf(place.key), this.#writer, signal);
    } catch (error) {
      const [why, left] = [cause, error].map((one) => (one instanceof Error ? one.message : ''));
      const message = `${why} ${this.name} could not be removed, and is left: ${left}`;
      throw new Failure('S3_UNAVAILABLE', message, { object: this.name, cause });
    }
  }
}

const inOrder = <Item>(items: ReadonlyMap<number, Item>): Item[] =>
  [...items].toSorted(([one], [other]) => one - other).map(([, item]) => item);
