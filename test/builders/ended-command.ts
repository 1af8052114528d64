// A program of a Job that is run to its end in this process, with all that it said.
import type { Terminal } from '../../shared/jobs/program.ts';

export interface EndedCommand {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function endedCommand(
  run: (args: readonly string[], terminal: Terminal, signal: AbortSignal) => Promise<number>,
  args: readonly string[],
): Promise<EndedCommand> {
  const said = { out: '', err: '' };
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
    isWatched: false,
  };
  const code = await run(args, terminal, new AbortController().signal);
  return { code, ...said };
}
