// The mark that a run leaves on what it writes. All attempts at one backup begin theirs with the
// same writer, so that one knows what another has left; only the whole mark says which of them.
import { randomUUID } from 'node:crypto';

export interface Mark {
  /** Of all attempts; undefined for a run that is the only one. */
  readonly writer: string | undefined;
  /** Of this one alone. */
  readonly run: string;
}

export function markOf(writer: string | undefined): Mark {
  const run = randomUUID();
  return { writer, run: writer === undefined ? run : `${writer}.${run}` };
}

/** Whether this run or another attempt at the same backup wrote it. */
export const isOfSameBackup = ({ writer, run }: Mark, found: string | undefined): boolean =>
  found === run || (writer !== undefined && found?.startsWith(`${writer}.`) === true);
