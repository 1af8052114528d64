// The processes of a pod, which this machine sees as its own.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Those of this program in the cgroup of the pod. */
export async function processesOf(program: string, podUid: string): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('pidof', [program]).catch(() => ({ stdout: '' }));
  const pids = stdout.trim().split(' ').filter(Boolean).map(Number);
  const isOurs = await Promise.all(
    pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')).includes(podUid),
    ),
  );
  return pids.filter((_, index) => isOurs[index]);
}
