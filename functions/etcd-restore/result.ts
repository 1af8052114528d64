// Reads the last words of the pod of a restore. Pure.
import type { BackupError, BackupFacts } from '../../shared/api/etcd-backup.ts';
import { etcdutlError } from '../../shared/jobs/etcdutl.ts';
import type { PodEnd } from '../../shared/jobs/job.ts';
import { factsIn, saidIn } from '../../shared/jobs/said.ts';
import { isRecord } from '../../shared/kube/json.ts';

export interface Restored {
  readonly facts: BackupFacts;
  readonly revision: string;
}

/** Undefined for what our program would not have said. */
export function restoredIn({ message }: PodEnd): Restored | undefined {
  const said = saidIn(message);
  if (said === undefined || 'error' in said) return undefined;
  const { facts, revision } = said.done;
  const found = isRecord(facts) ? factsIn(facts) : undefined;
  if (found === undefined || typeof revision !== 'string') return undefined;
  return /^\d{1,20}$/.test(revision) ? { facts: found, revision } : undefined;
}

/** Undefined when it has not said why. */
export function errorIn(end: PodEnd): BackupError | undefined {
  const said = saidIn(end.message);
  if (said !== undefined) return 'error' in said ? said.error : undefined;
  return etcdutlError(end);
}
