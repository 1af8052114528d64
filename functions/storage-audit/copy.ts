// Reads a snapshot from a copy on this machine's disk, where it lies elsewhere or is sealed: the
// reader goes from the end of the file to its beginning.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Failure } from '../../shared/errors.ts';
import { openSnapshot } from '../../shared/etcd/snapshot/snapshot.ts';
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

export async function auditCopy(source: Source, options: AuditOptions): Promise<Answer> {
  const audit = (lying: Lying): Promise<Answer> => auditLying(lying, source, options);
  return 'path' in source
    ? audit(await fileAt(source.path, options))
    : withObject(source.address, options, audit);
}

async function auditLying(
  { name, sizeBytes, copyTo }: Lying,
  { spoolDir, keyPath }: Copied,
  options: AuditOptions,
): Promise<Answer> {
  const { signal, onProgress } = options;
  const key = keyPath === undefined ? undefined : await readSealKey(keyPath);
  await assertRoom(spoolDir, sizeBytes);
  const spool = await Spool.inDirectory(spoolDir);
  try {
    const arrival = new Arrival(name, spool, key);
    await copyTo(arrival);
    await arrival.end();
    return await auditSnapshot(
      name,
      openSnapshot(spool.path, { name, signal, onProgress }),
      options,
    );
  } finally {
    await spool.close();
  }
}

async function withObject(
  { place, settings }: S3Address,
  options: AuditOptions,
  audit: (lying: Lying) => Promise<Answer>,
): Promise<Answer> {
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
    return await audit({ name, sizeBytes, copyTo });
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
