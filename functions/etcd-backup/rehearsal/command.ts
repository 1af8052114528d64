// The parts of a rehearsal as a command: one line of JSON says what came of it, small enough for
// the termination message of its container.
import { UsageError } from '../../../shared/arguments.ts';
import { type BackupFacts, FACTS_KIND, type Rehearsal } from '../../../shared/api/etcd-backup.ts';
import { errorTable } from '../../../shared/errors.ts';
import { printable } from '../../../shared/function/printable.ts';
import {
  type Failed,
  failedBy,
  keepLine,
  lineOf,
  type Terminal,
} from '../../../shared/jobs/program.ts';
import { REHEARSAL_USAGE, type RehearsalOptions, rehearsalOptions } from './options.ts';

type Result =
  | {
      readonly outcome: 'done';
      readonly backup?: string;
      readonly facts: BackupFacts & { readonly kind: typeof FACTS_KIND };
      readonly rehearsal?: Rehearsal;
    }
  | Failed;

const FAILED = 1;
const ASKED_WRONGLY = 2;
const REFUSED = 3;

export async function runRehearsal(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { out, err } = terminal;
  let options: RehearsalOptions | undefined;
  try {
    options = rehearsalOptions(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`${printable(error.message)}\n\n${REHEARSAL_USAGE}`);
    return ASKED_WRONGLY;
  }
  if (options === undefined) {
    out(REHEARSAL_USAGE);
    return 0;
  }
  const result = await resultOf(options, signal);
  const line = lineOf(result);
  out(line);
  await keepLine(options.resultPath, line, terminal);
  if (result.outcome === 'done') return 0;
  return errorTable[result.error.code].kind === 'reject' ? REFUSED : FAILED;
}

async function resultOf(options: RehearsalOptions, signal: AbortSignal): Promise<Result> {
  try {
    if ('check' in options) {
      const { check } = await import('../../../shared/backups/check.ts');
      const facts = await check(options.check, signal);
      return { outcome: 'done', facts: { kind: FACTS_KIND, ...facts } };
    }
    const { confirmRehearsal } = await import('./confirm.ts');
    const { dir, name } = options.confirm;
    const { facts, rehearsal } = await confirmRehearsal(dir, signal);
    return { outcome: 'done', backup: name, facts: { kind: FACTS_KIND, ...facts }, rehearsal };
  } catch (error) {
    return failedBy(signal.aborted ? signal.reason : error);
  }
}
