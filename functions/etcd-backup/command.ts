// The backup as a command: one line of JSON says what came of it, small enough for the termination
// message of a pod; a person who watches reads the rest on stderr.
import { ASKED_WRONGLY, givenValue, UsageError } from '../../shared/arguments.ts';
import { type ErrorCode, Failure } from '../../shared/errors.ts';
import { printable } from '../../shared/function/printable.ts';
import {
  failedBy,
  type Failed,
  keepLine,
  lineOf,
  type Terminal,
} from '../../shared/jobs/program.ts';
import type { Facts } from './facts.ts';
import { CALLED_AS } from './called-as.ts';
import { type CommandOptions, commandOptions, usageOf } from './options.ts';

type Result = { readonly outcome: 'done'; readonly backup: string; readonly facts: Facts } | Failed;

const FAILED = 1;
/** Any other failure may be that of one member, or pass. */
const IN_VAIN: readonly ErrorCode[] = [
  'BACKUP_OPTIONS_WRONG',
  'BACKUP_EXISTS',
  'BACKUP_KEY_UNUSABLE',
  'BACKUP_KEY_WRONG',
];

export async function runBackup(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
  calledAs = CALLED_AS,
): Promise<number> {
  const { out, err } = terminal;
  let options: CommandOptions | undefined;
  try {
    options = await commandOptions(args);
    if (options === undefined) {
      out(usageOf(calledAs));
      return 0;
    }
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${printable(error.message)}\n\n${usageOf(calledAs)}`);
      // Somebody may wait for a result.
      const next = 'Ask otherwise; where an EtcdBackup asked, create another one.';
      const message = `The program was asked wrongly: ${error.message}. ${next}`;
      const wrong = new Failure('BACKUP_OPTIONS_WRONG', message);
      return keep(givenValue(args, 'result'), failedBy(wrong), terminal);
    }
    const result = failedBy(error);
    out(lineOf(result));
    return keep(givenValue(args, 'result'), result, terminal);
  }
  const result = await resultOf(options, terminal, signal);
  out(lineOf(result));
  err(`${printable(sentenceOf(result))}\n`);
  return keep(options.resultPath, result, terminal);
}

/** The exit code. */
async function keep(path: string | undefined, result: Result, terminal: Terminal): Promise<number> {
  await keepLine(path, lineOf(result), terminal);
  if (result.outcome === 'done') return 0;
  return IN_VAIN.includes(result.error.code) ? ASKED_WRONGLY : FAILED;
}

async function resultOf(
  options: CommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const progress = new Progress(terminal);
  try {
    const { backUp } = await import('./backup.ts');
    const { name, facts } = await backUp(options, {
      signal,
      onProgress: (step, done, total) => progress.show(step, done, total),
    });
    return { outcome: 'done', backup: name, facts };
  } catch (error) {
    return failedBy(error);
  } finally {
    progress.clear();
  }
}

function sentenceOf(result: Result): string {
  if (result.outcome === 'failed') return result.error.message;
  const { sizeBytes, keys, revision, isHashConfirmed, unconfirmed = '' } = result.facts;
  const size = `${(sizeBytes / 1e6).toFixed(1)} MB`;
  const hash = isHashConfirmed
    ? 'The member has the same hash of all keys.'
    : `Its hash is not confirmed: ${unconfirmed}.`;
  const { encryption } = result.facts;
  const sealed =
    encryption === undefined ? '' : ` It is encrypted with the key ${encryption.keyId}.`;
  return `${result.backup}: ${size}, ${keys} keys at revision ${revision}. ${hash}${sealed}`;
}

const STEPS = { sent: 'taken', read: 'checked' } as const;

/** One line that changes, for what takes longer than a moment. */
class Progress {
  readonly #terminal: Terminal;
  #shown = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(step: keyof typeof STEPS, doneBytes: number, totalBytes: number): void {
    if (!this.#terminal.isWatched) return;
    const percent = Math.floor((100 * doneBytes) / Math.max(totalBytes, 1));
    const text = `${percent} % of ${(totalBytes / 1e6).toFixed(0)} MB ${STEPS[step]}`;
    if (text === this.#shown) return;
    this.#shown = text;
    this.#terminal.err(`\r\u001B[K${text} `);
  }

  clear(): void {
    if (this.#shown !== '') this.#terminal.err('\r\u001B[K');
  }
}
