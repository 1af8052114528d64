// The place that a backup is restored from: an object, or a file on a claim, with its facts beside
// it. Only read.
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { factsNameOf } from '../api/etcd-backup.ts';
import { Failure } from '../errors.ts';
import type { S3Address } from '../s3/arguments.ts';
import { openBucket } from '../s3/bucket.ts';
import { download } from '../s3/download.ts';
import { type Place, shownPlace } from '../s3/place.ts';
import type { Spool } from '../spool.ts';

export interface Origin {
  /** As its user named it. */
  readonly name: string;
  /** Undefined when there is none of this name. */
  sizeBytes(signal: AbortSignal): Promise<number | undefined>;
  /** The text of the facts; undefined when there are none. */
  facts(signal: AbortSignal): Promise<string | undefined>;
  copyTo(spool: Pick<Spool, 'write'>, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type OriginOptions = { readonly path: string } | { readonly address: S3Address };

/** Ours have less than a thousand. */
const FACTS_BYTES_MAX = 64 * 1024;

export const openOrigin = (from: OriginOptions): Origin =>
  'path' in from ? fileOrigin(from.path) : s3Origin(from.address);

function s3Origin({ place, settings }: S3Address): Origin {
  const bucket = openBucket(place.bucket, settings);
  const beside: Place = { ...place, key: factsNameOf(place.key) };
  const name = shownPlace(place);
  return {
    name,
    sizeBytes: async (signal) => (await bucket.head(place.key, signal))?.sizeBytes,
    facts: async (signal) => {
      const found = await bucket.head(beside.key, signal);
      if (found === undefined) return undefined;
      assertFactsSize(shownPlace(beside), found.sizeBytes);
      const { body } = await bucket.read(beside.key, 0, found.etag, signal);
      return body.text();
    },
    copyTo: async (spool, signal) => {
      const found = await bucket.head(place.key, signal);
      if (found === undefined) throw missing(name);
      await download(bucket, name, { key: place.key, found, spool }, { signal });
    },
    close: () => bucket.close(),
  };
}

function fileOrigin(path: string): Origin {
  const beside = factsNameOf(path);
  return {
    name: path,
    sizeBytes: async () => (await orUndefined(path, () => stat(path)))?.size,
    facts: async () => {
      const found = await orUndefined(beside, () => stat(beside));
      if (found === undefined) return undefined;
      assertFactsSize(beside, found.size);
      return orUndefined(beside, () => readFile(beside, 'utf8'));
    },
    copyTo: async (spool, signal) => {
      const file = await orUndefined(path, () => open(path));
      if (file === undefined) throw missing(path);
      let doneBytes = 0;
      for await (const chunk of createReadStream('', { fd: file, signal })) {
        const bytes: Buffer = chunk;
        await spool.write(bytes, doneBytes);
        doneBytes += bytes.length;
      }
    },
    close: () => Promise.resolve(),
  };
}

async function orUndefined<Result>(
  path: string,
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const why = error instanceof Error ? error.message : String(error);
    const message = `${path} cannot be read (${why}). Let the user of the pod read it.`;
    throw new Failure('BACKUP_MISSING', message, { object: path, cause: error });
  }
}

export const missing = (name: string): Failure => {
  const message = `There is no backup ${name}. Name one that is there.`;
  return new Failure('BACKUP_MISSING', message, { object: name });
};

function assertFactsSize(name: string, sizeBytes: number): void {
  if (sizeBytes <= FACTS_BYTES_MAX) return;
  const message = `${name} has ${sizeBytes} bytes, which no facts of a backup have.`;
  throw new Failure('BACKUP_WITHOUT_FACTS', message, { object: name });
}
