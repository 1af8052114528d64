// Brings an object to the disk of this machine, or past it, in one piece: where a connection breaks off it goes
// on, and an object that is another one meanwhile ends it.
import { systemClock } from '../clock.ts';
import { Failure } from '../errors.ts';
import type { Spool } from '../spool.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { isS3Failure, S3Failure } from './errors.ts';

export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** In a row, without a byte between them. */
const TRIES = 6;
const FIRST_PAUSE_MS = 500;

export async function download(
  bucket: Bucket,
  place: string,
  {
    key,
    found,
    spool,
  }: { readonly key: string; readonly found: StoredObject; readonly spool: Pick<Spool, 'write'> },
  { signal, onProgress }: DownloadOptions,
): Promise<void> {
  let doneBytes = 0;
  let misses = 0;
  while (doneBytes < found.sizeBytes) {
    const before = doneBytes;
    try {
      const { body } = await bucket.read(key, doneBytes, found.etag, signal);
      for await (const chunk of body as AsyncIterable<Buffer>) {
        if (doneBytes + chunk.length > found.sizeBytes) throw tooLong(place, found.sizeBytes);
        await spool.write(chunk, doneBytes);
        doneBytes += chunk.length;
        onProgress?.(doneBytes, found.sizeBytes);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Failure && !isS3Failure(error, 'S3_UNAVAILABLE')) throw error;
      misses = doneBytes > before ? 1 : misses + 1;
      if (misses === TRIES) throw brokenOff(place, doneBytes, found.sizeBytes, error);
      await systemClock.sleep(FIRST_PAUSE_MS * 2 ** (misses - 1), signal);
    }
  }
}

function brokenOff(place: string, doneBytes: number, sizeBytes: number, cause: unknown): Failure {
  const why = cause instanceof Error ? cause.message : String(cause);
  const where = `Reading ${place} broke off at byte ${doneBytes} of ${sizeBytes}`;
  return new S3Failure('S3_UNAVAILABLE', `${where} (${why}). Try again later.`, place, { cause });
}

const tooLong = (place: string, sizeBytes: number): Failure =>
  new S3Failure('S3_CHECKSUM', `${place} goes on beyond its ${sizeBytes} bytes. Read anew.`, place);
