// Commands that write files of the repository from its code, or hold them against it with --check:
// what may be asked of them, and how they end.
import { answerCommand, readArguments, refuseWords } from '../../shared/arguments.ts';

/** A file says something else than would be written. */
export class Stale extends Error {
  override readonly name = 'Stale';
}

const OPTIONS = {
  check: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export function askedFor(args: readonly string[]): 'help' | 'check' | 'write' {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return 'help';
  refuseWords(positionals);
  return values.check === true ? 'check' : 'write';
}

export async function answerGenerator(
  usage: string,
  answer: (args: readonly string[]) => Promise<string>,
): Promise<void> {
  try {
    await answerCommand(usage, answer);
  } catch (error) {
    if (!(error instanceof Stale)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
