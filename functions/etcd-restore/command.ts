// The parts of a restore as a command.
import type { ConfirmOptions } from '../../shared/backups/confirm.ts';
import { type Parts, runPart } from '../../shared/backups/command.ts';
import type { Terminal } from '../../shared/jobs/program.ts';
import { commandOptions, USAGE } from './options.ts';

const PARTS: Parts<ConfirmOptions> = {
  usage: USAGE,
  optionsOf: commandOptions,
  confirm: async (options, signal) => {
    const { confirm, readAll } = await import('../../shared/backups/confirm.ts');
    const { facts, revision } = await confirm(options, readAll, signal);
    return { revision, facts };
  },
};

export const runRestore = (
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> => runPart(PARTS, args, terminal, signal);
