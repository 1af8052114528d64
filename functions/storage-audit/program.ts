// The process of the command: arguments, terminal and signals in, the exit code out.
import { setFlagsFromString } from 'node:v8';
import type { StartScratch } from './against/scratch.ts';
import { CANNOT_TELL, runAudit } from './command.ts';
import type { FindEtcd } from './options.ts';

/** For who runs it beside a control plane, and beside the parts of one. */
export interface Nearby {
  readonly findEtcd?: FindEtcd;
  readonly startScratch?: StartScratch;
  readonly calledAs?: string;
}

export async function runAsProgram(
  nearby?: Nearby,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  keepMemoryFlat();
  const end = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());
  const terminal = {
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
    isWatched: process.stderr.isTTY,
    stdin: process.stdin,
    ...nearby,
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
  const code = await runAudit(args, terminal, end.signal);
  if (!isLost) process.exitCode = code;
}

/**
 * Keeps V8 from growing its heap with the length of the work: a large snapshot makes gigabytes of
 * short-lived objects, and left alone V8 takes up to 150 MB more to collect them less often. The
 * nursery stays as small as it begins; docs/design has the figures.
 */
function keepMemoryFlat(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
