// A command that runs to its end, with the time it takes and the most memory it has held.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The kernel keeps the highest value itself; only what comes in the last moment is missed. */
const MEMORY_LOOK_MS = 20;

export interface Watched {
  readonly exitCode: number;
  readonly output: string;
  readonly tookMs: number;
  readonly memoryMb: number;
}

export function watched(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Watched> {
  const startedMs = performance.now();
  let memoryMb = Number.NaN;
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { env }, (error, out, err) => {
      clearInterval(looking);
      const tookMs = performance.now() - startedMs;
      const exitCode = error === null ? 0 : error.code;
      if (typeof exitCode !== 'number') reject(error ?? new Error(err));
      else resolve({ exitCode, output: `${out}${err}`, tookMs, memoryMb });
    });
    const looking = setInterval(() => {
      memoryMb = highWaterMb(child.pid) ?? memoryMb;
    }, MEMORY_LOOK_MS);
  });
}

/** Undefined for a process that has ended. */
function highWaterMb(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1];
    return found === undefined ? undefined : (Number(found) * 1024) / 1e6;
  } catch {
    return undefined;
  }
}
