// P13: what a call to the API server costs, with ours and with client-node's typed client. Each
// side runs in a process of its own against the same API server: 500 gets, then 500 server-side
// applies that change the object, one after the other as a function makes them.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { GO_GC_AS_SHIPPED, startPlane } from '../../knative/try/local/plane/plane.ts';
import { cpuSeconds } from './cpu.ts';
import type { CallerReport } from './p13-caller.ts';
import type { Bench, Sample, Side } from './runner.ts';

const ours = 'ours';
const peer = 'client-node';
const limit = 0.4;
const lower = { ours, against: peer, limit, better: 'lower' } as const;

export const bench: Bench = {
  id: 'P13',
  title: 'One call to the API server: CPU, wall time, connections',
  pairs: 5,
  figures: [
    { name: 'cpu', unit: 'ms per call', ...lower },
    { name: 'wall', unit: 'ms per call', ...lower },
    { name: 'connections', unit: 'opened', ...lower },
  ],
  open: async () => {
    const plane = await startPlane({ parts: ['etcd', 'kube-apiserver'], ...GO_GC_AS_SHIPPED });
    const side = (name: string): Side => ({
      name,
      run: () => runCaller(name === ours ? 'ours' : 'typed', plane.kubeconfigPath),
    });
    return { sides: [side(ours), side(peer)], close: () => plane.stop() };
  },
};

async function runCaller(client: 'ours' | 'typed', kubeconfigPath: string): Promise<Sample> {
  const child = fork(join(import.meta.dirname, 'p13-caller.ts'), [client, kubeconfigPath], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    // Loading and the first calls are behind it: start-up is another benchmark's matter.
    await message(child);
    const before = await cpuSeconds(pidOf(child));
    child.send('go');
    const { calls, wallMs, connections } = (await message(child)) as CallerReport;
    const cpuMs = ((await cpuSeconds(pidOf(child))) - before) * 1000;
    return { cpu: cpuMs / calls, wall: wallMs / calls, connections };
  } finally {
    const gone = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill();
    await gone;
  }
}

async function message(child: ChildProcess): Promise<unknown> {
  const early = new AbortController();
  child.once('exit', (code) => early.abort(new Error(`the caller ended with ${code}`)));
  const [said] = (await once(child, 'message', { signal: early.signal })) as [unknown];
  return said;
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the caller did not start');
  return pid;
}
