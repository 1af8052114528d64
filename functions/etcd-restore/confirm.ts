// Reads the restored database through, and takes away what lies beside it: then the volume is as
// that of a member that has stopped.
import { rm } from 'node:fs/promises';
import type { BackupFacts } from '../../shared/api/etcd-backup.ts';
import { Failure } from '../../shared/errors.ts';
import { openSnapshot } from '../../shared/etcd/snapshot/snapshot.ts';
import { unwritable } from '../../shared/spool.ts';
import { readNotes, volumeIn } from './volume.ts';

export interface Confirmed {
  readonly facts: BackupFacts;
  /** From which the new etcd counts on; everything up to it is compacted. */
  readonly revision: string;
}

export async function confirm(
  dir: string,
  bumpedBy: bigint,
  signal: AbortSignal,
): Promise<Confirmed> {
  const volume = volumeIn(dir);
  const { facts, newest } = await readNotes(volume);
  const wanted = `${BigInt(newest) + bumpedBy}`;
  const name = `the data that was restored to ${volume.dataDir}`;
  const snapshot = openSnapshot(volume.database, { name, signal });
  let keys = 0;
  for await (const batch of snapshot.entries()) keys += batch.length;
  const { revision, compactRevision } = snapshot.facts;
  const found = `${keys} keys at revision ${revision}, compacted up to ${compactRevision}`;
  const promised = `${facts.keys} keys at revision ${wanted}, compacted up to ${wanted}`;
  if (found !== promised) {
    const message = `${name} has ${found}, and not ${promised}. Restore it again.`;
    throw new Failure('RESTORE_DIFFERS', message, { object: name });
  }
  await rm(volume.workDir, { recursive: true }).catch((error: unknown) => {
    throw unwritable(volume.workDir, error);
  });
  return { facts, revision: wanted };
}
