// Reads a snapshot from a copy on this machine's disk, where it lies elsewhere or is sealed: the
// reader goes from the end of the file to its beginning.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Failure } from '../../shared/errors.ts';
import { openSnapshot, type Snapshot } from '../../shared/etcd/snapshot/snapshot.ts';
import type { S3Address } from '../../shared/s3/arguments.ts';
import { openBucket } from '../../shared/s3/bucket.ts';
import { download } from '../../shared/s3/download.ts';
import { shownPlace } from '../../shared/s3/place.ts';
import { Arrival } from '../../shared/sealed/arrival.ts';
import { readSealKey } from '../../shared/sealed/key.ts';
import { assertRoom, Spool } from '../../shared/spool.ts';
import { type Answer, type AuditOptions, auditSnapshot } from './audit.ts';
import type { Copied } from './options.ts';

type Source = Copied & ({ readonly path: string } | { readonly address: S3Address });

/** A snapshot as it lies there. */
interface Lying {
  readonly name: string;
  readonly sizeBytes: number;
  readonly copyTo: (arrival: Arrival) => Promise<void>;
}

export function auditCopy(source: Source, options: AuditOptions): Promise<Answer> {
  return withCopy(source, options, (name, open) => auditSnapshot(name, open(), options));
}

/** The copy can be opened for as long as it is in use, and is gone afterwards. */
export async function withCopy<Result>(
  source: Source,
  options: AuditOptions,
  use: (name: string, open: () => Snapshot) => Promise<Result>,
): Promise<Result> {
  const read = (lying: Lying): Promise<Result> => useLying(lying, source, options, use);
  return 'path' in source
    ? read(await fileAt(source.path, options))
    : withObject(source.address, options, read);
}

async function useLying<Result>(
  { name, sizeBytes, copyTo }: Lying,
  { spoolDir, keyPath }: Copied,
  { signal, onProgress }: AuditOptions,
  use: (name: string, open: () => Snapshot) => Promise<Result>,
): Promise<Result> {
  const key = keyPath === undefined ? undefined : await readSealKey(keyPath);
  await assertRoom(spoolDir, sizeBytes);
  const spool = await Spool.inDirectory(spoolDir);
  try {
    const arrival = new Arrival(name, spool, key);
    await copyTo(arrival);
    await arrival.end();
    return await use(name, () => openSnapshot(spool.path, { name, signal, onProgress }));
  } finally {
    await spool.close();
  }
}

async function withObject<Result>(
  { place, settings }: S3Address,
  options: AuditOptions,
  read: (lying: Lying) => Promise<Result>,
): Promise<Result> {
  const name = shownPlace(place);
  const bucket = openBucket(place.bucket, settings);
  try {
    const found = await bucket.head(place.key, options.signal);
    if (found === undefined) {
      const message = `There is no object ${name} at ${bucket.endpoint}. Name one that is there.`;
      throw new Failure('S3_NOT_FOUND', message, { object: name });
    }
    const { sizeBytes } = found;
    const copyTo = (arrival: Arrival): Promise<void> =>
      download(bucket, name, { key: place.key, found, spool: arrival }, options);
    return await read({ name, sizeBytes, copyTo });
  } finally {
    await bucket.close();
  }
}

async function fileAt(name: string, { signal }: AuditOptions): Promise<Lying> {
  const { size: sizeBytes } = await stat(name).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${name} cannot be opened (${why}). Name a snapshot of etcd.`;
    throw new Failure('SNAPSHOT_DAMAGED', message, { object: name, cause });
  });
  const copyTo = async (arrival: Arrival): Promise<void> => {
    for await (const chunk of createReadStream(name, signal && { signal })) {
      const bytes: Buffer = chunk;
      await arrival.write(bytes);
    }
  };
  return { name, sizeBytes, copyTo };
}
