// Reads the database that etcdutl restored through, and takes away what lies beside it: then the
// volume is as that of a member that has stopped.
import { rm } from 'node:fs/promises';
import type { BackupFacts } from '../api/etcd-backup.ts';
import { Failure } from '../errors.ts';
import type { EtcdEntries } from '../etcd/entry.ts';
import { openSnapshot, type SnapshotFacts } from '../etcd/snapshot/snapshot.ts';
import { unwritable } from '../spool.ts';
import { type Notes, readNotes, volumeIn } from './volume.ts';

export interface Confirmed<Seen> {
  readonly facts: BackupFacts;
  /** From which an etcd on it counts on. */
  readonly revision: string;
  /** When the check before it began. */
  readonly sinceMs: number;
  readonly seen: Seen;
}

export interface ConfirmOptions {
  readonly dir: string;
  /** As etcdutl was told, with everything compacted; with 0 all is as it was, its hash as well. */
  readonly bumpedBy: bigint;
}

/** `look` sees all keys that are not deleted, to the last. */
export async function confirm<Seen>(
  { dir, bumpedBy }: ConfirmOptions,
  look: (entries: EtcdEntries) => Promise<Seen>,
  signal: AbortSignal,
): Promise<Confirmed<Seen>> {
  const volume = volumeIn(dir);
  const notes = await readNotes(volume);
  const name = `the data that was restored to ${volume.dataDir}`;
  const snapshot = openSnapshot(volume.database, { name, hasKvHash: bumpedBy === 0n, signal });
  let keys = 0;
  async function* counted(): EtcdEntries {
    for await (const batch of snapshot.entries()) {
      keys += batch.length;
      yield batch;
    }
  }
  const seen = await look(counted());
  const found = shownOf({ ...snapshot.facts, keys });
  const { revision, promised } = promisedBy(notes, bumpedBy);
  if (found !== promised) {
    const message = `${name} has ${found}, and not ${promised}. Restore it again.`;
    throw new Failure('RESTORE_DIFFERS', message, { object: name });
  }
  await rm(volume.workDir, { recursive: true }).catch((error: unknown) => {
    throw unwritable(volume.workDir, error);
  });
  return { facts: notes.facts, revision, sinceMs: notes.sinceMs, seen };
}

interface Restored {
  readonly keys: number;
  readonly revision: bigint | string;
  readonly compactRevision: bigint | string;
  readonly kvHash: SnapshotFacts['kvHash'];
}

function shownOf({ keys, revision, compactRevision, kvHash }: Restored): string {
  const hash = kvHash === undefined ? '' : `, with the hash ${kvHash}`;
  return `${keys} keys at revision ${revision}, compacted up to ${compactRevision}${hash}`;
}

function promisedBy({ facts, newest }: Notes, bumpedBy: bigint) {
  const { keys, compactRevision, hashKv: kvHash } = facts;
  const revision = `${BigInt(newest) + bumpedBy}`;
  const restored =
    bumpedBy === 0n
      ? { keys, revision, compactRevision, kvHash }
      : { keys, revision, compactRevision: revision, kvHash: undefined };
  return { revision, promised: shownOf(restored) };
}

/** For who wants to know no more of it. */
export async function readAll(entries: EtcdEntries): Promise<void> {
  for await (const _ of entries);
}
