// The process of the command: arguments, terminal and signals in, the exit code out.
import { runAudit } from './command.ts';
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
  process.exitCode = await runAudit(process.argv.slice(2), terminal, end.signal);
}
