// Reads the last words of the pod of a backup, as far as they are of this backup. Pure.
import type { BackupError, BackupFacts, Rehearsal } from '../../shared/api/etcd-backup.ts';
import { factsIn, saidIn } from '../../shared/jobs/said.ts';
import { isRecord } from '../../shared/kube/json.ts';
import { rehearsalIn } from './rehearsal/said.ts';

/** The facts of a backup that is stored, and what its rehearsal found where it had one. */
export interface Stored {
  readonly facts: BackupFacts;
  readonly rehearsal?: Rehearsal;
}

export type Result = Stored | { readonly error: BackupError };

/** Undefined for what our program would not have said of the backup of this name. */
export function resultIn(
  message: string,
  destination: string,
  isSealed: boolean,
): Result | undefined {
  const said = saidIn(message);
  if (said === undefined || 'error' in said) return said;
  const { backup, facts, rehearsal } = said.done;
  if (backup !== destination || !isRecord(facts)) return undefined;
  const found = factsIn(facts);
  // One that was to be encrypted counts only when it is.
  if (found === undefined || (found.encryption !== undefined) !== isSealed) return undefined;
  if (rehearsal === undefined) return { facts: found };
  const rehearsed = isRecord(rehearsal) ? rehearsalIn(rehearsal) : undefined;
  return rehearsed && { facts: found, rehearsal: rehearsed };
}
