// Reads the last words of the pod of a backup, as far as they are of this backup. Pure.
import type { BackupError, BackupFacts } from '../../shared/api/etcd-backup.ts';
import { factsIn, saidIn } from '../../shared/jobs/said.ts';
import { isRecord } from '../../shared/kube/json.ts';

export type Result = { readonly facts: BackupFacts } | { readonly error: BackupError };

/** Undefined for what our program would not have said of the backup of this name. */
export function resultIn(
  message: string,
  destination: string,
  isSealed: boolean,
): Result | undefined {
  const said = saidIn(message);
  if (said === undefined || 'error' in said) return said;
  const { backup, facts } = said.done;
  if (backup !== destination || !isRecord(facts)) return undefined;
  const found = factsIn(facts);
  // One that was to be encrypted counts only when it is.
  return (found?.encryption !== undefined) === isSealed && found ? { facts: found } : undefined;
}
