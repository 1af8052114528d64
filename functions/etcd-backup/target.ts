// The place that a backup goes to. Whatever is written there is no backup before it was finished,
// and nothing is left of it when it was not.
import { Failure } from '../../shared/errors.ts';
import type { Spool } from '../../shared/spool.ts';
import type { Facts } from './facts.ts';
import type { StreamPart } from './part-queue.ts';

export interface Target {
  /** As its user named it. */
  readonly name: string;
  readonly partBytes: number;
  readonly partsAtOnce: number;
  /** The same bytes on this machine's disk, from `begin` on. */
  readonly spool: Spool;
  /** Fails with BACKUP_EXISTS when there is one of this name. */
  begin(signal: AbortSignal): Promise<void>;
  send(part: StreamPart, signal: AbortSignal): Promise<void>;
  /** From now on it is there, with its facts beside it; or it fails, and nothing is. */
  finish(facts: Facts, signal: AbortSignal): Promise<void>;
  /** Leaves nothing behind, or says what is left. */
  abort(): Promise<void>;
  close(): Promise<void>;
}

export function backupExists(name: string, cause?: unknown): Failure {
  const message = `${name} is there already, and is not overwritten. Name another one.`;
  return new Failure('BACKUP_EXISTS', message, { object: name, cause });
}
