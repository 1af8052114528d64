// How a program of a Job says what came of it: one line of JSON, small enough for the termination
// message of its pod.
import { writeFile } from 'node:fs/promises';
import { cut } from '../cut.ts';
import { type ErrorCode, Failure } from '../errors.ts';
import { printable } from '../function/printable.ts';

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether somebody watches stderr. */
  readonly isWatched: boolean;
}

export interface Failed {
  readonly outcome: 'failed';
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** Kubernetes cuts a termination message behind 4096. */
const RESULT_BYTES_MAX = 4_000;

export function failedBy(error: unknown): Failed {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Failure ? error.code : 'INTERNAL_BUG';
  return { outcome: 'failed', error: { code, message } };
}

/** A message may grow six times in JSON. */
export function lineOf(result: Failed | { readonly outcome: 'done' }): string {
  const line = (shown: object): string => `${printable(JSON.stringify(shown))}\n`;
  let [shown, text] = [result, line(result)];
  for (let max = RESULT_BYTES_MAX; Buffer.byteLength(text) > RESULT_BYTES_MAX; max /= 2) {
    if (shown.outcome === 'done') break;
    const { code, message } = shown.error;
    shown = { outcome: 'failed', error: { code, message: cut(message, Math.floor(max)) } };
    text = line(shown);
  }
  return text;
}

/** As well as on stdout; that it could not be is no failure of what was done. */
export async function keepLine(
  path: string | undefined,
  line: string,
  { err }: Pick<Terminal, 'err'>,
): Promise<void> {
  if (path === undefined) return;
  await writeFile(path, line).catch((error: unknown) => {
    err(`The result could not be written to ${path} (${String(error)}).\n`);
  });
}
