// The mark that a run leaves on everything it writes. All attempts at one backup are told the same
// secret, and their marks begin with a hash of it, so that one knows another; the whole mark says
// which of them. Anybody who sees a mark in the storage can write another one that begins so, and
// therefore facts are sealed, for which the secret is needed.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { SealKey } from '../../shared/sealed/key.ts';

export interface Mark {
  /** All attempts have the same; undefined for a run that is the only one. */
  readonly writer: string | undefined;
  /** This run's alone. */
  readonly run: string;
  readonly secret: string | undefined;
  /** Backup and facts are sealed with it; undefined where they are not. */
  readonly key: SealKey | undefined;
}

const WRITER_LENGTH = 32;

export function markOf(secret: string | undefined, key?: SealKey): Mark {
  const run = randomUUID();
  if (secret === undefined) return { writer: undefined, run, secret, key };
  const writer = createHash('sha256').update(secret).digest('hex').slice(0, WRITER_LENGTH);
  return { writer, run: `${writer}.${run}`, secret, key };
}

/** Whether this run or another attempt at the same backup seems to have written it. */
export const isOfSameBackup = ({ writer, run }: Mark, found: string | undefined): boolean =>
  found === run || (writer !== undefined && found?.startsWith(`${writer}.`) === true);

/** Undefined for a run that is the only one: nobody asks. */
export const sealOf = ({ secret }: Mark, text: string): string | undefined =>
  secret === undefined ? undefined : createHmac('sha256', secret).update(text).digest('hex');

export const isSealOf = (mark: Mark, text: string, seal: unknown): boolean =>
  mark.secret !== undefined && seal === sealOf(mark, text);
