// The longest pause of writers while something is done to an etcd, and the one that is allowed.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { EtcdSettings } from '../../../shared/api/etcd-cluster.ts';
import type { Sample } from '../runner.ts';
import type { WritersReport } from './writers.ts';

export const ALLOWED = 'an election and 200 ms';
const MORE_MS = 200;

/** It is a bound, and no measure of the machine. */
export const allowedPause = ({ electionMilliseconds }: EtcdSettings): Sample => ({
  pauseMs: electionMilliseconds + MORE_MS,
  writeMs: 0,
});

/** Writers are at work before it, and again after it. */
export async function pausedBy(
  urls: readonly string[],
  work: () => Promise<void>,
): Promise<Sample> {
  const thread = new Worker(new URL('writers-thread.ts', import.meta.url), {
    workerData: { urls },
  });
  const ask = async (what: 'flow' | 'stop'): Promise<unknown> => {
    // The linter takes it for a window: a thread has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    thread.postMessage(what);
    const [answer]: unknown[] = await once(thread, 'message');
    return answer;
  };
  try {
    await ask('flow');
    await work();
    await ask('flow');
    const { longestPauseMs, writeMs } = (await ask('stop')) as WritersReport;
    return { pauseMs: longestPauseMs, writeMs };
  } finally {
    await thread.terminate();
  }
}
