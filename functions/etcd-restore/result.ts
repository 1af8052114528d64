// Reads the last words of the pod of a restore. Pure.
import type { BackupError, BackupFacts } from '../../shared/api/etcd-backup.ts';
import { cut } from '../../shared/cut.ts';
import { printable } from '../../shared/function/printable.ts';
import type { PodEnd } from '../../shared/jobs/job.ts';
import { factsIn, saidIn } from '../../shared/jobs/said.ts';
import { isRecord } from '../../shared/kube/json.ts';
import { ETCDUTL } from './render/job.ts';

export interface Restored {
  readonly facts: BackupFacts;
  readonly revision: string;
}

const WORDS_BYTES_MAX = 1_000;

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
export function errorIn({ container, exitCode, message }: PodEnd): BackupError | undefined {
  const said = saidIn(message);
  if (said !== undefined) return 'error' in said ? said.error : undefined;
  const words = printable(message).trim();
  if (container !== ETCDUTL || words === '') return undefined;
  const told = `etcdutl ended with exit code ${exitCode}, and said: ${words}`;
  return { code: 'RESTORE_FAILED', message: cut(told, WORDS_BYTES_MAX) };
}
