// A command line that runs a session: its help, its usage errors, its exit codes.
import { UsageError } from '../../../../shared/arguments.ts';
import { OPTIONS_HELP, sessionOptions } from './options.ts';

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
    if (options === undefined) {
      process.stdout.write(`usage: ${usage}\n\n${about}\n${OPTIONS_HELP}`);
      return 0;
    }
    // Help and refusals need none of it, and it takes a third of a second to load.
    const { runSession } = await import('./session.ts');
    return await runSession(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nusage: ${usage}\n`);
    return 2;
  }
}
