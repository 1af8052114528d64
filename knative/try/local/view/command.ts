// A command line that runs a session: its help, its usage errors, its exit codes.
import { UsageError } from '../../../../shared/arguments.ts';
import { OPTIONS_HELP, sessionOptions } from './options.ts';
import { runSession } from './session.ts';

export interface SessionCommand {
  readonly usage: string;
  readonly about: string;
  /** Those of which one has to be named; undefined when none is to be. */
  readonly functions: readonly string[] | undefined;
}

/** Resolves with the exit code: 2 for arguments that cannot be followed. */
export async function runCommand(
  { usage, about, functions }: SessionCommand,
  args: readonly string[],
): Promise<number> {
  try {
    const options = sessionOptions(args, functions);
    if (options !== undefined) return await runSession(options);
    process.stdout.write(`usage: ${usage}\n\n${about}\n${OPTIONS_HELP}`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nusage: ${usage}\n`);
    return 2;
  }
}
