// The processor time of a process, read from the kernel's own accounts under /proc (Linux only).

import { readFile } from 'node:fs/promises';
import { residentBytes as residentBytesIfAlive } from '../../knative/try/local/process/proc.ts';

/** USER_HZ: fixed at 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** User and system time of the process, all its threads, and the children it has waited for. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The command's name may hold blanks and brackets; the fields start after its last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // proc(5) counts from 1 and the state is field 3: utime, stime, cutime, cstime are 14 to 17.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / ticksPerSecond;
}

export async function residentBytes(pid: number): Promise<number> {
  const bytes = await residentBytesIfAlive(pid);
  if (bytes === undefined) throw new Error(`Process ${pid} has no memory: it has ended.`);
  return bytes;
}
