// The only door to an object storage that speaks S3: the objects of one bucket. A write says on
// what condition it may be made, and every part goes with its checksum. Opening it calls nobody.
import { createHash } from 'node:crypto';
import { systemClock } from '../clock.ts';
import { completionOf, type Part } from './completion.ts';
import type { Content } from './content.ts';
import { failureFromOdd, isS3Failure, S3Failure } from './errors.ts';
import {
  isUnderWay,
  type Listed,
  listKeys,
  listUploads,
  type Upload,
  type UploadUnderWay,
} from './lists.ts';
import type { S3Settings } from './settings.ts';
import { type Answer, type Streamed, Transport, type TransportOptions } from './transport.ts';
import { textIn } from './xml.ts';

export interface StoredObject {
  readonly sizeBytes: number;
  readonly etag: string;
  /** By which a writer knows its own; see `Written`. */
  readonly writer: string | undefined;
  /** A checksum of checksums, `HASH-3`, where the storage keeps it. */
  readonly sha256: string | undefined;
}

/** Assembling gigabytes may take a storage minutes. */
const COMPLETE_SILENCE_MS = 10 * 60_000;
/** A caller waits for it to tell of a failure, or to end. */
const ABORT_MS = 10_000;
const ABORT_TRIES = 5;
const ABORT_PAUSE_MS = 500;
/** Beside an object, as its metadata. */
const WRITER = 'x-amz-meta-ballast-writer';

export function openBucket(
  name: string,
  settings: S3Settings,
  options: TransportOptions = {},
): Bucket {
  return new Bucket(new Transport(name, settings, options), settings.encryption);
}

export class Bucket {
  readonly #transport: Transport;
  readonly #encryption: Readonly<Record<string, string>>;

  constructor(transport: Transport, encryption: string | undefined) {
    this.#transport = transport;
    this.#encryption = encryptionHeaders(encryption);
  }

  get endpoint(): string {
    return this.#transport.endpoint;
  }

  /** Undefined when there is none of this key. */
  async head(key: string, signal?: AbortSignal): Promise<StoredObject | undefined> {
    const what = `Looking for ${this.#place(key)}`;
    const headers = { 'x-amz-checksum-mode': 'ENABLED' };
    try {
      const answer = await this.#transport.send({ method: 'HEAD', key, headers, what }, signal);
      return this.#stored(answer, what, key);
    } catch (error) {
      if (isS3Failure(error) && error.refused?.statusCode === 404) return undefined;
      throw error;
    }
  }

  /** Fails with S3_CONFLICT when there is an object of this key that is not this writer's. */
  putNew(key: string, body: Buffer, writer: string, signal?: AbortSignal): Promise<void> {
    return this.#put(key, body, { writer, condition: { 'if-none-match': '*' } }, signal);
  }

  /** Fails with S3_CONFLICT when it is another one by now. The body has to differ. */
  replaceFound(
    key: string,
    { etag }: StoredObject,
    body: Buffer,
    writer: string,
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#put(key, body, { writer, condition: { 'if-match': etag } }, signal);
  }

  async #put(
    key: string,
    body: Buffer,
    { writer, condition }: { readonly writer: string; readonly condition: object },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const headers = {
      ...this.#encryption,
      'content-type': 'application/json',
      'x-amz-checksum-sha256': sha256Of(body),
      ...condition,
      [WRITER]: writer,
    };
    const what = `Writing ${this.#place(key)}`;
    try {
      await this.#transport.send({ method: 'PUT', key, headers, body, what }, signal);
    } catch (error) {
      // The answer to an earlier try may have been lost.
      if (isS3Failure(error, 'S3_CONFLICT') && (await this.#isOf(key, writer, signal))) return;
      throw error;
    }
  }

  async createUpload(key: string, writer: string, signal?: AbortSignal): Promise<Upload> {
    const headers = {
      ...this.#encryption,
      'content-type': 'application/octet-stream',
      'x-amz-checksum-algorithm': 'SHA256',
      [WRITER]: writer,
    };
    const what = `Beginning an upload to ${this.#place(key)}`;
    const beganMs = this.#transport.nowMs();
    const request = { method: 'POST', key, query: { uploads: '' }, headers, what } as const;
    let answer;
    try {
      answer = await this.#transport.send({ ...request, repeat: 'refused' }, signal);
    } catch (error) {
      const isAnswered = isS3Failure(error) && (error.refused?.statusCode ?? 500) < 500;
      if (!isAnswered) await this.#abortLost(key, beganMs).catch(() => undefined);
      throw error;
    }
    const id = textIn(answer.text, 'UploadId');
    if (id === undefined || id === '') throw this.#odd(what, key, 'no upload in it');
    return { key, id };
  }

  async uploadPart(
    { key, id }: Upload,
    number: number,
    body: Content,
    { offset, signal }: { readonly offset: number; readonly signal?: AbortSignal },
  ): Promise<Part> {
    const sha256 = body.sha256.toString('base64');
    const bytes = `bytes ${offset} to ${offset + body.sizeBytes}`;
    const what = `Sending part ${number} of ${this.#place(key)}, ${bytes},`;
    const query = { partNumber: `${number}`, uploadId: id };
    const headers = { 'x-amz-checksum-sha256': sha256 };
    const request = { method: 'PUT', key, query, headers, body, what } as const;
    const { headers: told } = await this.#transport.send(request, signal);
    const [etag, kept] = [told['etag'], told['x-amz-checksum-sha256']];
    if (etag === undefined) throw this.#odd(what, key, 'a part without an ETag');
    if (kept !== undefined && kept !== sha256) {
      const has = `${what} failed: the storage says that it has the sha256 ${kept}, not ${sha256}`;
      throw new S3Failure('S3_CHECKSUM', `${has}. Try again.`, this.#place(key));
    }
    return { number, etag, sha256: kept };
  }

  /** Fails with S3_CONFLICT when there is an object of this key that is not this writer's. */
  async completeUpload(
    { key, id }: Upload,
    parts: readonly Part[],
    writer: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const body = completionOf(parts);
    const headers = { 'content-type': 'application/xml', 'if-none-match': '*' };
    const what = `Completing ${this.#place(key)}`;
    const query = { uploadId: id };
    const request = { method: 'POST', key, query, headers, body, what } as const;
    try {
      await this.#transport.send({ ...request, silenceMs: COMPLETE_SILENCE_MS }, signal);
    } catch (error) {
      // The answer to an earlier try may have been lost: then the upload is gone by our own doing.
      if (isS3Failure(error, 'S3_CONFLICT') && (await this.#isOf(key, writer, signal))) return;
      throw error;
    }
  }

  /**
   * Nothing of it is left afterwards, also when a part was still under way: a storage may keep
   * that, and the upload with it. One that is gone already is no failure.
   */
  async abortUpload(upload: Upload, signal?: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      await this.#abortOnce(upload, signal);
      if (!(await isUnderWay(this.#transport, upload, signal))) return;
      if (tries === ABORT_TRIES) break;
      await systemClock.sleep(ABORT_PAUSE_MS, signal);
    }
    const left = `Upload ${upload.id} to ${this.#place(upload.key)} is still there after an abort`;
    const message = `${left}. Abort it once more.`;
    throw new S3Failure('S3_UNAVAILABLE', message, this.#place(upload.key));
  }

  async #abortOnce({ key, id }: Upload, signal: AbortSignal | undefined): Promise<void> {
    const what = `Aborting upload ${id} to ${this.#place(key)}`;
    const query = { uploadId: id };
    try {
      await this.#transport.send({ method: 'DELETE', key, query, what }, signal);
    } catch (error) {
      if (isS3Failure(error) && error.refused?.statusCode === 404) return;
      throw error;
    }
  }

  /** Uploads to keys that begin so, which are neither completed nor aborted. */
  uploads(prefix: string, signal?: AbortSignal): Promise<readonly UploadUnderWay[]> {
    return listUploads(this.#transport, prefix, signal);
  }

  /** Keys that begin so. */
  list(prefix: string, signal?: AbortSignal): Promise<Listed> {
    return listKeys(this.#transport, prefix, signal);
  }

  /** Only what this writer wrote; whether there was that, and is no longer. */
  async deleteOwn(key: string, writer: string, signal?: AbortSignal): Promise<boolean> {
    const found = await this.head(key, signal);
    if (found?.writer !== writer) return false;
    await this.deleteFound(key, found, signal);
    return true;
  }

  /**
   * Fails with S3_CONFLICT when it is another one by now; one that is gone already is none. Where a
   * storage knows no condition, it is looked at just before.
   */
  async deleteFound(key: string, { etag }: StoredObject, signal?: AbortSignal): Promise<void> {
    const request = { method: 'DELETE', key, what: `Deleting ${this.#place(key)}` } as const;
    try {
      await this.#transport.send({ ...request, headers: { 'if-match': etag } }, signal);
    } catch (error) {
      if (!isS3Failure(error)) throw error;
      const now = await this.head(key, signal);
      // The answer to an earlier try may have been lost.
      if (now === undefined) return;
      if (error.refused?.code !== 'NotImplemented' || now.etag !== etag) throw error;
      await this.#transport.send(request, signal);
    }
  }

  /** The bytes of an object from one on, as it was when it had this ETag. */
  read(key: string, from: number, etag: string, signal?: AbortSignal): Promise<Streamed> {
    const headers = { range: `bytes=${from}-`, 'if-match': etag };
    const what = `Reading ${this.#place(key)} from byte ${from}`;
    return this.#transport.stream({ method: 'GET', key, headers, what }, signal);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #isOf(key: string, writer: string, signal: AbortSignal | undefined): Promise<boolean> {
    return (await this.head(key, signal))?.writer === writer;
  }

  /** Ends an upload whose beginning was answered to nobody: nobody else would. */
  async #abortLost(key: string, beganMs: number): Promise<void> {
    // S3 tells whole seconds.
    const sinceMs = Math.floor(beganMs / 1_000) * 1_000;
    const signal = AbortSignal.timeout(ABORT_MS);
    const found = await this.uploads(key, signal);
    const lost = found.filter((one) => one.key === key && one.initiatedMs >= sinceMs);
    for (const upload of lost) await this.abortUpload(upload, signal);
  }

  #stored({ headers }: Answer, what: string, key: string): StoredObject {
    const sizeBytes = Number(headers['content-length']);
    const etag = headers['etag'];
    if (etag === undefined || !Number.isSafeInteger(sizeBytes)) {
      throw this.#odd(what, key, 'an object without size or ETag');
    }
    const sha256 = headers['x-amz-checksum-sha256'];
    return { sizeBytes, etag, sha256, writer: headers[WRITER] };
  }

  #odd(what: string, key: string, why: string): S3Failure {
    const { endpoint } = this.#transport;
    return failureFromOdd({ what, object: this.#place(key), endpoint }, why);
  }

  #place(key: string): string {
    return `s3://${this.#transport.bucket}/${key}`;
  }
}

const sha256Of = (body: Buffer): string => createHash('sha256').update(body).digest('base64');

function encryptionHeaders(encryption: string | undefined): Readonly<Record<string, string>> {
  if (encryption === undefined) return {};
  const [, algorithm = encryption, key] = /^(aws:kms):(.+)$/.exec(encryption) ?? [];
  const header = { 'x-amz-server-side-encryption': algorithm };
  return key === undefined
    ? header
    : { ...header, 'x-amz-server-side-encryption-aws-kms-key-id': key };
}
