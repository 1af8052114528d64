// The parts of a restore as a command: one line of JSON says what came of it, small enough for the
// termination message of its container.
import { UsageError } from '../../shared/arguments.ts';
import { type BackupFacts, FACTS_KIND } from '../../shared/api/etcd-backup.ts';
import { errorTable } from '../../shared/errors.ts';
import { printable } from '../../shared/function/printable.ts';
import {
  failedBy,
  type Failed,
  keepLine,
  lineOf,
  type Terminal,
} from '../../shared/jobs/program.ts';
import { type CommandOptions, commandOptions, USAGE } from './options.ts';

type Result =
  | { readonly outcome: 'done'; readonly revision?: string; readonly facts: Facts }
  | Failed;
type Facts = BackupFacts & { readonly kind: typeof FACTS_KIND };

const FAILED = 1;
const ASKED_WRONGLY = 2;
const REFUSED = 3;

export async function runRestore(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { out, err } = terminal;
  let options: CommandOptions | undefined;
  try {
    options = await commandOptions(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`${printable(error.message)}\n\n${USAGE}`);
    return ASKED_WRONGLY;
  }
  if (options === undefined) {
    out(USAGE);
    return 0;
  }
  const result = await resultOf(options, signal);
  const line = lineOf(result);
  out(line);
  await keepLine(options.resultPath, line, terminal);
  if (result.outcome === 'done') return 0;
  return errorTable[result.error.code].kind === 'reject' ? REFUSED : FAILED;
}

async function resultOf(options: CommandOptions, signal: AbortSignal): Promise<Result> {
  try {
    if ('check' in options) {
      const { check } = await import('../../shared/backups/check.ts');
      const facts = await check(options.check, signal);
      return { outcome: 'done', facts: { kind: FACTS_KIND, ...facts } };
    }
    const { confirm, readAll } = await import('../../shared/backups/confirm.ts');
    const { facts, revision } = await confirm(options.confirm, readAll, signal);
    return { outcome: 'done', revision, facts: { kind: FACTS_KIND, ...facts } };
  } catch (error) {
    return failedBy(signal.aborted ? signal.reason : error);
  }
}
