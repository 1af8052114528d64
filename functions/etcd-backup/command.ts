// The backup as a command: one line of JSON says what came of it, small enough for the termination
// message of a pod; a person who watches reads the rest on stderr.
import { UsageError } from '../../shared/arguments.ts';
import { printable } from '../../shared/function/printable.ts';
import {
  failedBy,
  type Failed,
  keepLine,
  lineOf,
  type Terminal,
} from '../../shared/jobs/program.ts';
import type { Facts } from './facts.ts';
import { type CommandOptions, commandOptions, USAGE } from './options.ts';

type Result = { readonly outcome: 'done'; readonly backup: string; readonly facts: Facts } | Failed;

const FAILED = 1;
const ASKED_WRONGLY = 2;

export async function runBackup(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { out, err } = terminal;
  let options: CommandOptions | undefined;
  try {
    options = await commandOptions(args);
    if (options === undefined) {
      out(USAGE);
      return 0;
    }
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${printable(error.message)}\n\n${USAGE}`);
      return ASKED_WRONGLY;
    }
    out(lineOf(failedBy(error)));
    return FAILED;
  }
  const result = await resultOf(options, terminal, signal);
  const line = lineOf(result);
  out(line);
  err(`${printable(sentenceOf(result))}\n`);
  await keepLine(options.resultPath, line, terminal);
  return result.outcome === 'done' ? 0 : FAILED;
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
  return `${result.backup}: ${size}, ${keys} keys at revision ${revision}. ${hash}`;
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
