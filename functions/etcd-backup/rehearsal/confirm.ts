// Reads what a rehearsal restored: it has to have the keys, the revision and the hash of the
// backup. Where it is the store of an API server, it is told which objects none can read: the etcd
// has them as well, so the backup is no worse for them.
import type { BackupFacts, Rehearsal } from '../../../shared/api/etcd-backup.ts';
import { confirm } from '../../../shared/backups/confirm.ts';
import { systemClock } from '../../../shared/clock.ts';
import { cut } from '../../../shared/cut.ts';
import type { EtcdEntries } from '../../../shared/etcd/entry.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { auditStored } from '../../../shared/stored/audit.ts';
import { storedVersionsOf, UNREADABLE_BYTES_MAX } from './stored-versions.ts';

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
  const { count: objects, examples } = seen.unreadable;
  // Where none is of Kubernetes, others may have keys under that prefix as well.
  const isOfApiServer = seen.rows.some(({ encoding }) => encoding !== 'unreadable');
  const such = cut(examples.join('; '), UNREADABLE_BYTES_MAX);
  const unreadable = isOfApiServer && objects > 0 ? { objects, such } : undefined;
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
      ...(unreadable && { unreadable }),
    },
  };
}
