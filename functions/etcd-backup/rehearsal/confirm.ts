// Reads what a rehearsal restored: it has to have the keys, the revision and the hash of the
// backup, and where it is the store of an API server, objects that one can read.
import type { BackupFacts, Rehearsal } from '../../../shared/api/etcd-backup.ts';
import { confirm } from '../../../shared/backups/confirm.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Failure } from '../../../shared/errors.ts';
import type { EtcdEntries } from '../../../shared/etcd/entry.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { auditStored } from '../../../shared/stored/audit.ts';
import { storedVersionsOf } from './stored-versions.ts';

/** An object that cannot be read is named, so that somebody can look at it. */
const EXAMPLES_MAX = 3;

export async function confirmRehearsal(
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly facts: BackupFacts; readonly rehearsal: Rehearsal }> {
  const audit = (entries: EtcdEntries) =>
    auditStored(entries, { signal, examplesMax: EXAMPLES_MAX });
  // A rehearsal bumps nothing.
  const { facts, revision, sinceMs, seen } = await confirm({ dir, bumpedBy: 0n }, audit, signal);
  const { count, examples } = seen.unreadable;
  // Where none is of Kubernetes, others may have keys under that prefix as well.
  const isOfApiServer = seen.rows.some(({ encoding }) => encoding !== 'unreadable');
  if (isOfApiServer && count > 0) {
    const such = examples.join('; ');
    const message =
      `The backup has the keys and the hash of its etcd, and ${count} of its objects no API ` +
      `server can read: ${such}. They are so in that etcd, too: repair or delete them there.`;
    throw new Failure('BACKUP_UNREADABLE', message);
  }
  const nowMs = systemClock.nowMs();
  const storedVersions = isOfApiServer ? storedVersionsOf(seen) : undefined;
  return {
    facts,
    rehearsal: {
      rehearsedAt: timestamp(nowMs),
      durationSeconds: Math.max(0, Math.round((nowMs - sinceMs) / 1_000)),
      keys: facts.keys,
      revision,
      hashKv: facts.hashKv,
      ...(storedVersions && { storedVersions }),
    },
  };
}
