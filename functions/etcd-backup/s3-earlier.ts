// Looks for what earlier attempts at a backup have left in a bucket. A backup of theirs with its
// facts counts when it is read back and is as they say; everything else of theirs is taken back.
// Objects of others stay as they are, and end this one.
import { createHash } from 'node:crypto';
import { factsNameOf } from '../../shared/api/etcd-backup.ts';
import type { Bucket, StoredObject } from '../../shared/s3/bucket.ts';
import { download } from '../../shared/s3/download.ts';
import { isS3Failure } from '../../shared/s3/errors.ts';
import { type Place, shownPlace } from '../../shared/s3/place.ts';
import {
  type Facts,
  FACTS_BYTES_MAX,
  textOfFacts,
  type WrittenFacts,
  writtenFactsIn,
} from './facts.ts';
import { isOfSameBackup, type Mark } from './mark.ts';
import { attemptsMet, backupExists } from './target.ts';

export interface Looked {
  readonly bucket: Bucket;
  readonly place: Place;
  readonly mark: Mark;
}

export async function earlierIn(looked: Looked, signal: AbortSignal): Promise<Facts | undefined> {
  const { bucket, place } = looked;
  const beside = factsNameOf(place.key);
  const backup = await ownAt(looked, place.key, signal);
  const facts = await ownAt(looked, beside, signal);
  if (backup !== undefined && facts !== undefined) {
    const told = await readFacts(looked, facts, signal);
    if (told?.isSealed === true && (await isBackupOf(looked, backup, told.facts, signal))) {
      await takeOver(looked, { backup, facts, told }, signal);
      return told.facts;
    }
  }
  // In this order: who finds facts finds a backup.
  if (facts !== undefined) await bucket.deleteFound(beside, facts, signal);
  if (backup !== undefined) await bucket.deleteFound(place.key, backup, signal);
  return undefined;
}

/** Leaves them to a lifecycle rule of the bucket where we have no right to list uploads. */
export async function abortUploadsTo(
  bucket: Bucket,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  let found;
  try {
    found = await bucket.uploads(key, signal);
  } catch (error) {
    if (isS3Failure(error, 'S3_REFUSED')) return;
    throw error;
  }
  for (const upload of found.filter((one) => one.key === key)) {
    await bucket.abortUpload(upload, signal);
  }
}

async function ownAt(
  { bucket, place, mark }: Looked,
  key: string,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const found = await bucket.head(key, signal);
  if (found === undefined || isOfSameBackup(mark, found.writer)) return found;
  throw backupExists(shownPlace({ ...place, key }));
}

/** Undefined for what our program has not written. */
export async function readFacts(
  { bucket, place, mark }: Looked,
  found: StoredObject,
  signal: AbortSignal,
): Promise<WrittenFacts | undefined> {
  if (found.sizeBytes > FACTS_BYTES_MAX) return undefined;
  const key = factsNameOf(place.key);
  const pieces: Buffer[] = [];
  const spool = { write: async (bytes: Buffer) => void pieces.push(bytes) };
  await download(bucket, shownPlace({ ...place, key }), { key, found, spool }, { signal });
  return writtenFactsIn(Buffer.concat(pieces).toString(), mark);
}

async function isBackupOf(
  { bucket, place }: Looked,
  found: StoredObject,
  { sizeBytes, sha256 }: Facts,
  signal: AbortSignal,
): Promise<boolean> {
  if (found.sizeBytes !== sizeBytes) return false;
  const hash = createHash('sha256');
  const spool = { write: async (bytes: Buffer) => void hash.update(bytes) };
  await download(bucket, shownPlace(place), { key: place.key, found, spool }, { signal });
  return hash.digest('hex') === sha256;
}

/**
 * The attempt that wrote it may still be at work, cut off from Kubernetes, and remove what it could
 * not finish: what has another mark by now it leaves.
 */
async function takeOver(
  { bucket, place, mark }: Looked,
  {
    backup,
    facts,
    told,
  }: { readonly backup: StoredObject; readonly facts: StoredObject; readonly told: WrittenFacts },
  signal: AbortSignal,
): Promise<void> {
  const beside = factsNameOf(place.key);
  const text = textOfFacts(told.facts, mark);
  await bucket.replaceFound(beside, facts, text, mark.run, signal);
  const now = await bucket.head(place.key, signal);
  if (now?.etag === backup.etag && now.writer === backup.writer) return;
  await bucket.deleteOwn(beside, mark.run, signal);
  throw attemptsMet(shownPlace(place));
}
