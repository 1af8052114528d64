// Cleans up after a starter that ended without a word, as by SIGKILL: then nothing of its own runs
// any more that could.
import { spawn } from 'node:child_process';

export interface Reaper {
  /** Ends it: there is nothing to clean up. */
  dismiss(): void;
}

/** A shell that waits for a word; without one, its starter is gone, and it runs the script. */
export function startReaper(script: string, dir: string): Reaper {
  const reap = [process.execPath, script, dir];
  const child = spawn('sh', ['-c', 'read word || exec "$@"', 'sh', ...reap], {
    // A session of its own: whoever ends the starter's process group does not end it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  child.unref();
  return { dismiss: () => void child.stdin.end('done\n') };
}
