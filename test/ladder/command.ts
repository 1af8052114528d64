// Runs one command as a process group of its own, so that nothing it started outlives it:
// not after a failure, not past its time, not when the person at the keyboard gives up.

import { spawn } from 'node:child_process';
import { delimiter, resolve } from 'node:path';
import { env } from 'node:process';
import { childrenSeconds } from './processor.ts';

export interface Ended {
  readonly how: 'exit' | 'too long' | 'stopped' | 'not started';
  readonly code: number;
  /** Processor time of the command and of all that it waited for. */
  readonly cpuSeconds: number;
}

/** Test tools close servers and child processes of their own; SIGKILL follows when they do not. */
const graceMs = 5_000;

/** The tools write into a pipe and cannot see for themselves whether a terminal is behind it. */
const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' };

export interface RunOptions {
  readonly boundMs: number;
  readonly signal: AbortSignal;
  /** Beside what the ladder itself was given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onOutput: (text: string) => void;
}

/** Processor time of children that are over, and counted. */
let countedSeconds = 0;

/**
 * Processor time of the child that just ended: the kernel adds a child's time to ours when it is
 * over. When two end in the same moment, one gets the time of both.
 */
function secondsOfEnded(): number {
  const before = countedSeconds;
  countedSeconds = childrenSeconds();
  return countedSeconds - before;
}

export async function runCommand(argv: readonly string[], options: RunOptions): Promise<Ended> {
  const [command = '', ...args] = argv;
  const bin = resolve(import.meta.dirname, '../../node_modules/.bin');
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...colour, ...options.env, PATH: `${bin}${delimiter}${env['PATH'] ?? ''}` },
  });
  child.stdout.setEncoding('utf8').on('data', options.onOutput);
  child.stderr.setEncoding('utf8').on('data', options.onOutput);

  let how: Ended['how'] = 'exit';
  let cpuSeconds = 0;
  const end = (reason: 'too long' | 'stopped'): void => {
    how = reason;
    endGroup(child.pid, 'SIGTERM');
    setTimeout(() => endGroup(child.pid, 'SIGKILL'), graceMs).unref();
  };
  const bound = setTimeout(() => end('too long'), options.boundMs);
  const onAbort = (): void => end('stopped');
  options.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const code = await new Promise<number>((done) => {
      child.once('error', (error) => {
        how = 'not started';
        options.onOutput(`${command} could not be started: ${error.message}\n`);
        done(1);
      });
      // A grandchild that kept a pipe open would hold back `close`: end the group, then let go.
      child.once('exit', () => {
        cpuSeconds = secondsOfEnded();
        endGroup(child.pid, 'SIGKILL');
        setTimeout(() => {
          child.stdout.destroy();
          child.stderr.destroy();
        }, graceMs).unref();
      });
      child.once('close', (exitCode) => done(exitCode ?? 1));
    });
    return { how, code, cpuSeconds };
  } finally {
    clearTimeout(bound);
    options.signal.removeEventListener('abort', onAbort);
  }
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!gone) throw error;
  }
}
