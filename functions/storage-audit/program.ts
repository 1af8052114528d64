// The process of the command: arguments, terminal and signals in, the exit code out.
import { CANNOT_TELL, runAudit } from './command.ts';
import { keepMemoryFlat } from './flat-memory.ts';
import type { FindEtcd } from './options.ts';

export async function runAsProgram(findEtcd?: FindEtcd): Promise<void> {
  keepMemoryFlat();
  const end = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());
  const terminal = {
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
    isWatched: process.stderr.isTTY,
    ...(findEtcd === undefined ? {} : { findEtcd }),
  };
  let isLost = false;
  // Unheard, Node would end with 1, which says that something is old.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of the pipe has gone. The exit code still says what was found.
    if (error.code === 'EPIPE') return;
    isLost = true;
    process.exitCode = CANNOT_TELL;
    terminal.err(`The answer could not be written (${error.message}).\n`);
  });
  const code = await runAudit(process.argv.slice(2), terminal, end.signal);
  if (!isLost) process.exitCode = code;
}
