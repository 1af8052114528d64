// The first and the last part of a Job that restores a stored backup, as a command: one line of
// JSON says what came of it, small enough for the termination message of its container.
import { ASKED_WRONGLY, UsageError } from '../arguments.ts';
import { type BackupFacts, FACTS_KIND } from '../api/etcd-backup.ts';
import { errorTable } from '../errors.ts';
import { printable } from '../function/printable.ts';
import { REFUSED } from '../jobs/etcdutl.ts';
import { failedBy, type Failed, keepLine, lineOf, type Terminal } from '../jobs/program.ts';
import type { CheckOptions } from './check.ts';

export type PartOptions<Confirming> = { readonly resultPath: string | undefined } & (
  | { readonly check: CheckOptions }
  | { readonly confirm: Confirming }
);

/** The program that both are of. */
export interface Parts<Confirming> {
  readonly usage: string;
  /** Undefined when help was asked for. */
  readonly optionsOf: (
    args: readonly string[],
  ) => PartOptions<Confirming> | undefined | Promise<PartOptions<Confirming> | undefined>;
  readonly confirm: (options: Confirming, signal: AbortSignal) => Promise<Found>;
}

/** The facts of the backup, and what else the program tells. */
interface Found {
  readonly facts: BackupFacts;
}

type Result = ({ readonly outcome: 'done' } & Found) | Failed;

const FAILED = 1;

export async function runPart<Confirming>(
  parts: Parts<Confirming>,
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { out, err } = terminal;
  let options: PartOptions<Confirming> | undefined;
  try {
    options = await parts.optionsOf(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`${printable(error.message)}\n\n${parts.usage}`);
    return ASKED_WRONGLY;
  }
  if (options === undefined) {
    out(parts.usage);
    return 0;
  }
  const result = await resultOf(parts, options, signal);
  const line = lineOf(result);
  out(line);
  await keepLine(options.resultPath, line, terminal);
  if (result.outcome === 'done') return 0;
  return errorTable[result.error.code].kind === 'reject' ? REFUSED : FAILED;
}

async function resultOf<Confirming>(
  parts: Parts<Confirming>,
  options: PartOptions<Confirming>,
  signal: AbortSignal,
): Promise<Result> {
  try {
    const { facts, ...more } =
      'check' in options
        ? await checked(options.check, signal)
        : await parts.confirm(options.confirm, signal);
    const told: BackupFacts & { readonly kind: typeof FACTS_KIND } = { kind: FACTS_KIND, ...facts };
    return { outcome: 'done', ...more, facts: told };
  } catch (error) {
    return failedBy(signal.aborted ? signal.reason : error);
  }
}

/** Help and refusals need none of it. */
async function checked(options: CheckOptions, signal: AbortSignal): Promise<Found> {
  const { check } = await import('./check.ts');
  return { facts: await check(options, signal) };
}
