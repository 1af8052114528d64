// The parts of a rehearsal as a command.
import { type Parts, runPart } from '../../../shared/backups/command.ts';
import type { Terminal } from '../../../shared/jobs/program.ts';
import { type Confirming, REHEARSAL_USAGE, rehearsalOptions } from './options.ts';

const PARTS: Parts<Confirming> = {
  usage: REHEARSAL_USAGE,
  optionsOf: rehearsalOptions,
  confirm: async ({ dir, name }, signal) => {
    const { confirmRehearsal } = await import('./confirm.ts');
    const { facts, rehearsal } = await confirmRehearsal(dir, signal);
    return { backup: name, facts, rehearsal };
  },
};

export const runRehearsal = (
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> => runPart(PARTS, args, terminal, signal);
