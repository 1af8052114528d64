// Reads a snapshot in an object storage, from a copy on this machine's disk: the reader goes from
// the end of the file to its beginning.
import { Failure } from '../../shared/errors.ts';
import { openSnapshot } from '../../shared/etcd/snapshot/snapshot.ts';
import type { S3Address } from '../../shared/s3/arguments.ts';
import { openBucket } from '../../shared/s3/bucket.ts';
import { download } from '../../shared/s3/download.ts';
import { shownPlace } from '../../shared/s3/place.ts';
import { assertRoom, Spool } from '../../shared/spool.ts';
import { type Answer, type AuditOptions, auditSnapshot } from './audit.ts';

export async function auditStoredObject(
  { place, settings }: S3Address,
  spoolDir: string,
  options: AuditOptions,
): Promise<Answer> {
  const { signal, onProgress } = options;
  const name = shownPlace(place);
  const bucket = openBucket(place.bucket, settings);
  try {
    const found = await bucket.head(place.key, signal);
    if (found === undefined) {
      const message = `There is no object ${name} at ${bucket.endpoint}. Name one that is there.`;
      throw new Failure('S3_NOT_FOUND', message, { object: name });
    }
    await assertRoom(spoolDir, found.sizeBytes);
    const spool = await Spool.inDirectory(spoolDir);
    try {
      await download(bucket, name, { key: place.key, found, spool }, { signal, onProgress });
      const snapshot = openSnapshot(spool.path, { name, signal, onProgress });
      return await auditSnapshot(name, snapshot, options);
    } finally {
      await spool.close();
    }
  } finally {
    await bucket.close();
  }
}
