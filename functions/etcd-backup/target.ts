// The place that a backup goes to. Whatever is written there is no backup before it was finished,
// and nothing is left of it when it was not.
import { Failure } from '../../shared/errors.ts';
import type { Spool } from '../../shared/spool.ts';
import type { Facts } from './facts.ts';
import type { StreamPart } from './part-queue.ts';

export interface Storage {
  /** As its user named it. */
  readonly name: string;
  /** From `begin` on. */
  readonly partBytes: number;
  readonly partsAtOnce: number;
  /**
   * The facts when an earlier attempt at this backup has finished it, held against what is there;
   * what one left unfinished is taken back. Fails with BACKUP_EXISTS when anything else is there.
   */
  earlier(signal: AbortSignal): Promise<Facts | undefined>;
  /** With the size that the member tells: what it sends may be a little more. */
  begin(dbSizeBytes: number, signal: AbortSignal): Promise<void>;
  send(part: StreamPart, signal: AbortSignal): Promise<void>;
  /** From now on it is there, with the facts beside it that are returned; or it fails. */
  finish(facts: Facts, signal: AbortSignal): Promise<Facts>;
  /** Leaves nothing behind, or says what is left. */
  abort(): Promise<void>;
  close(): Promise<void>;
}

/** One that has a copy to read. */
export interface Target extends Storage {
  /** The bytes that etcd sent, on this machine's disk, from `begin` on. */
  readonly spool: Spool;
  /** Whether every byte of that is held against what etcd sent, before it is finished. */
  readonly isSpoolHeld: boolean;
}

export function backupExists(name: string, cause?: unknown): Failure {
  const message = `${name} is there already, and is not overwritten. Name another one.`;
  return new Failure('BACKUP_EXISTS', message, { object: name, cause });
}

const TWO = 'Another attempt at the same backup is under way, from a pod that was given up';

/** The next attempt sees what came of the other one. */
export const attemptsMet = (name: string): Failure =>
  new Failure('S3_CONFLICT', `${TWO}: it wrote ${name} meanwhile. Try again.`, { object: name });
