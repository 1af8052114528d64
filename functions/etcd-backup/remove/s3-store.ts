// A backup in an object storage, for whoever removes it. Each deletion says of which ETag it is.
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { factsNameOf } from '../../../shared/api/etcd-backup.ts';
import type { Bucket, StoredObject } from '../../../shared/s3/bucket.ts';
import { isS3Failure, S3Failure } from '../../../shared/s3/errors.ts';
import { type Place, shownPlace } from '../../../shared/s3/place.ts';
import { changed, type Found, type FoundFacts, type Store } from './remove.ts';

/** Ours have less than two kilobytes. */
const FACTS_BYTES_MAX = 64 * 1024;

export class S3Store implements Store {
  readonly name: string;
  readonly #bucket: Bucket;
  readonly #place: Place;
  #found: StoredObject | undefined;

  constructor(bucket: Bucket, place: Place) {
    this.name = shownPlace(place);
    this.#bucket = bucket;
    this.#place = place;
  }

  async facts(signal: AbortSignal): Promise<FoundFacts | undefined> {
    const key = factsNameOf(this.#place.key);
    const found = await this.#bucket.head(key, signal);
    if (found === undefined) return undefined;
    if (found.sizeBytes > FACTS_BYTES_MAX) throw changed(this.name, 'its facts have no end');
    const { body } = await this.#bucket.read(key, 0, found.etag, signal);
    return { ...this.#foundOf(key, found, signal), text: await text(body) };
  }

  async backup(signal: AbortSignal): Promise<Found | undefined> {
    const { key } = this.#place;
    this.#found = await this.#bucket.head(key, signal);
    return this.#found && this.#foundOf(key, this.#found, signal);
  }

  async sha256(signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    const { key } = this.#place;
    const { body } = await this.#bucket.read(key, 0, this.#found?.etag ?? '', signal);
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) hash.update(chunk);
    } catch (cause) {
      signal.throwIfAborted();
      const message = `Reading ${this.name} broke off. Try again later.`;
      throw new S3Failure('S3_UNAVAILABLE', message, this.name, { cause });
    }
    return hash.digest('hex');
  }

  #foundOf(key: string, found: StoredObject, signal: AbortSignal): Found {
    return {
      sizeBytes: found.sizeBytes,
      writer: found.writer,
      delete: async () => {
        try {
          await this.#bucket.deleteFound(key, found, signal);
        } catch (error) {
          if (!isS3Failure(error, 'S3_CONFLICT')) throw error;
          throw changed(this.name, 'somebody has written there meanwhile', error);
        }
      },
    };
  }
}
