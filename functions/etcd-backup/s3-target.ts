// A backup as an object: its parts go out while the snapshot comes in, and are put together only
// when it was checked.
import { createHash } from 'node:crypto';
import { factsNameOf } from '../../shared/api/etcd-backup.ts';
import { Failure } from '../../shared/errors.ts';
import type { Bucket, StoredObject } from '../../shared/s3/bucket.ts';
import type { Part } from '../../shared/s3/completion.ts';
import { type Content, contentOf } from '../../shared/s3/content.ts';
import { isS3Failure, S3Failure } from '../../shared/s3/errors.ts';
import type { Upload } from '../../shared/s3/lists.ts';
import { type Place, shownPlace } from '../../shared/s3/place.ts';
import { type Facts, textOfFacts } from './facts.ts';
import { isOfSameBackup, type Mark } from './mark.ts';
import type { StreamPart } from './part-queue.ts';
import { abortUploadsTo, earlierIn, type Looked, readFacts } from './s3-earlier.ts';
import { attemptsMet, backupExists, type Storage } from './target.ts';

export interface S3TargetOptions {
  readonly place: Place;
  readonly mark: Mark;
  /** Then uploads to it that are under way were left by earlier attempts. */
  readonly isNameOwn: boolean;
}

/** A part of the object, wherever its bytes lie. */
export interface ObjectPart {
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  readonly content: Content;
}

const MIB = 1024 * 1024;
const PART_BYTES_MIN = 8 * MIB;
/** S3 takes 10,000; the database may double until it is sent. */
const PARTS = 5_000;
/** A pod that is to end has half a minute. */
const ABORT_MS = 15_000;

export class S3Target implements Storage {
  readonly name: string;
  readonly partsAtOnce = 4;
  readonly #bucket: Bucket;
  readonly #options: S3TargetOptions;
  readonly #parts = new Map<number, Part>();
  readonly #digests = new Map<number, Buffer>();
  #partBytes = PART_BYTES_MIN;
  #upload: Upload | undefined;
  /** Then it may be carried out, whatever was answered. */
  #isCompleting = false;

  constructor(bucket: Bucket, options: S3TargetOptions) {
    this.name = shownPlace(options.place);
    this.#bucket = bucket;
    this.#options = options;
  }

  get partBytes(): number {
    return this.#partBytes;
  }

  async earlier(signal: AbortSignal): Promise<Facts | undefined> {
    const { place, isNameOwn } = this.#options;
    // An attempt that was killed by force could not do it, and an upload does not say whose it is.
    if (isNameOwn) await abortUploadsTo(this.#bucket, place.key, signal);
    return earlierIn(this.#looked, signal);
  }

  async begin(dbSizeBytes: number, signal: AbortSignal): Promise<void> {
    const { place, mark } = this.#options;
    const fitting = Math.ceil(dbSizeBytes / PARTS / MIB) * MIB;
    this.#partBytes = Math.max(PART_BYTES_MIN, fitting);
    this.#upload = await this.#bucket.createUpload(place.key, mark.run, signal);
  }

  send({ bytes, number, offset }: StreamPart, signal: AbortSignal): Promise<void> {
    return this.sendContent({ number, offset, content: contentOf(bytes) }, signal);
  }

  async sendContent({ number, offset, content }: ObjectPart, signal: AbortSignal): Promise<void> {
    const upload = this.#begun();
    const sent = await this.#bucket.uploadPart(upload, number, content, { offset, signal });
    this.#parts.set(number, sent);
    this.#digests.set(number, content.sha256);
  }

  async finish(facts: Facts, signal: AbortSignal): Promise<Facts> {
    const { place, mark } = this.#options;
    const upload = this.#begun();
    const parts = inOrder(this.#parts);
    this.#isCompleting = true;
    await this.#refusing(place.key, signal, async () => {
      await this.#bucket.completeUpload(upload, parts, mark.run, signal);
    });
    this.#upload = undefined;
    try {
      const stored = await this.#assertStored(facts.sizeBytes, signal);
      await this.#writeFacts(facts, signal);
      await this.#assertKept(stored, signal);
    } catch (error) {
      await this.#takeBack(facts, error);
      throw error;
    }
    return facts;
  }

  async abort(): Promise<void> {
    if (this.#upload === undefined) return;
    const { place, mark } = this.#options;
    const signal = AbortSignal.timeout(ABORT_MS);
    await this.#bucket.abortUpload(this.#upload, signal);
    // Nobody has heard of it.
    if (this.#isCompleting) await this.#bucket.deleteOwn(place.key, mark.run, signal);
    this.#upload = undefined;
  }

  close(): Promise<void> {
    return this.#bucket.close();
  }

  #begun(): Upload {
    if (this.#upload === undefined) throw new Error('nothing has begun');
    return this.#upload;
  }

  get #looked(): Looked {
    const { place, mark } = this.#options;
    return { bucket: this.#bucket, place, mark };
  }

  async #refusing(key: string, signal: AbortSignal, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isS3Failure(error, 'S3_CONFLICT') || error.refused?.statusCode !== 412) throw error;
      const { place, mark } = this.#options;
      const name = shownPlace({ ...place, key });
      const writer = (await this.#bucket.head(key, signal))?.writer;
      throw isOfSameBackup(mark, writer) ? attemptsMet(name) : backupExists(name, error);
    }
  }

  async #writeFacts(facts: Facts, signal: AbortSignal): Promise<void> {
    const { place, mark } = this.#options;
    const beside = factsNameOf(place.key);
    const text = textOfFacts(facts, mark);
    // Beside a backup of ours those of another attempt are about one that was taken back.
    const stale = mark.writer === undefined ? undefined : await this.#bucket.head(beside, signal);
    if (stale !== undefined && isOfSameBackup(mark, stale.writer)) {
      await this.#bucket.deleteFound(beside, stale, signal);
    }
    await this.#refusing(beside, signal, () => this.#bucket.putNew(beside, text, mark.run, signal));
  }

  /** The storage says that it has what it was sent. */
  async #assertStored(sizeBytes: number, signal: AbortSignal): Promise<StoredObject> {
    const found = await this.#bucket.head(this.#options.place.key, signal);
    const digests = inOrder(this.#digests);
    const sum = createHash('sha256').update(Buffer.concat(digests)).digest('base64');
    const sent = `${sum}-${digests.length}`;
    // A single number is of the whole, where the storage reckons that by itself.
    const told = found?.sha256?.includes('-') === true ? found.sha256 : sent;
    const isOwn = found?.writer === this.#options.mark.run;
    if (isOwn && found.sizeBytes === sizeBytes && told === sent) return found;
    const has = `${found?.sizeBytes ?? 'no'} bytes with the sha256 ${told}`;
    const message =
      `${this.name} was written, and the storage says that it has ${has}, not ${sizeBytes} bytes ` +
      `with ${sent}. It is removed. Try again.`;
    throw new S3Failure('S3_CHECKSUM', message, this.name);
  }

  /** Facts without their backup would be a lie: another attempt may have taken that back. */
  async #assertKept({ etag }: StoredObject, signal: AbortSignal): Promise<void> {
    const { place, mark } = this.#options;
    if (mark.writer === undefined) return;
    const found = await this.#bucket.head(place.key, signal);
    if (found?.writer !== mark.run || found.etag !== etag) throw attemptsMet(this.name);
  }

  /** A backup without its facts is none; nobody has heard of it yet. */
  async #takeBack(facts: Facts, cause: unknown): Promise<void> {
    const { place, mark } = this.#options;
    const signal = AbortSignal.timeout(ABORT_MS);
    const beside = factsNameOf(place.key);
    try {
      const found = await this.#bucket.head(beside, signal);
      if (found?.writer === mark.run) await this.#bucket.deleteFound(beside, found, signal);
      else if (found !== undefined && isOfSameBackup(mark, found.writer)) {
        const told = await readFacts(this.#looked, found, signal);
        // Another attempt has taken this one over, and told of it.
        if (told?.isSealed === true && told.facts.sha256 === facts.sha256) return;
      }
      await this.#bucket.deleteOwn(place.key, mark.run, signal);
    } catch (error) {
      const [why, left] = [cause, error].map((one) => (one instanceof Error ? one.message : ''));
      const message = `${why} ${this.name} could not be removed, and is left: ${left}`;
      throw new Failure('S3_UNAVAILABLE', message, { object: this.name, cause });
    }
  }
}

const inOrder = <Item>(items: ReadonlyMap<number, Item>): Item[] =>
  [...items].toSorted(([one], [other]) => one - other).map(([, item]) => item);
