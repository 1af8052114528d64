// Reads processes under Linux' /proc. Everything here answers `undefined` for a process that is
// gone.
import { readdir, readFile, readlink } from 'node:fs/promises';

/** A pid alone can be reused; a pid with its start time (in clock ticks since boot) cannot. */
export async function startTimeTicks(pid: number): Promise<number | undefined> {
  const fields = await statFields(pid);
  return fields?.[19] === undefined ? undefined : Number(fields[19]);
}

/** Where the pids that this process sees count. */
export const pidNamespace = (): Promise<string> => readlink('/proc/self/ns/pid');

/** Processor time of all its threads, in clock ticks. */
export async function usedTicks(pid: number): Promise<number | undefined> {
  const fields = await statFields(pid);
  return fields === undefined ? undefined : Number(fields[11]) + Number(fields[12]);
}

/** Those after the command name, which stands in parentheses and may itself hold both. */
async function statFields(pid: number): Promise<readonly string[] | undefined> {
  const stat = await readProc(pid, 'stat');
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

export async function residentBytes(pid: number): Promise<number | undefined> {
  const status = await readProc(pid, 'status');
  const kibibytes = status?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** Whether every thread of it stands still, as after SIGSTOP; a process that is gone does too. */
export async function isStopped(pid: number): Promise<boolean> {
  const threads = await readOrGone(readdir(`/proc/${pid}/task`));
  const states = await Promise.all((threads ?? []).map((thread) => threadState(pid, thread)));
  return states.every((state) => state === undefined || 'TtZX'.includes(state));
}

async function threadState(pid: number, thread: string): Promise<string | undefined> {
  const stat = await readProc(pid, `task/${thread}/stat`);
  return stat?.charAt(stat.lastIndexOf(')') + 2);
}

/** The pids of all processes whose environment holds exactly this `NAME=value`. */
export async function pidsWithEnvironment(entry: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => (await readProc(pid, 'environ'))?.split('\0').includes(entry)),
  );
  return pids.filter((_, index) => found[index]);
}

async function readProc(pid: number, file: string): Promise<string | undefined> {
  return await readOrGone(readFile(`/proc/${pid}/${file}`, 'utf8'));
}

async function readOrGone<Read>(reading: Promise<Read>): Promise<Read | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isGoneOrForeign(error)) return undefined;
    throw error;
  }
}

const GONE_OR_FOREIGN = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

function isGoneOrForeign(error: unknown): boolean {
  return error instanceof Error && 'code' in error && GONE_OR_FOREIGN.has(String(error.code));
}
