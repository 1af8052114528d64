// P10: cold start, from the spawn of a process to its first 2xx answer to an event. Ours is the
// bundle that ships, started from the code cache that its build has filled.
import { request } from 'node:http';
import { freePort } from '../../knative/local/process/ports.ts';
import { BARE, OURS, PEER, buildServers, endServer, startServer } from './handlers/servers.ts';
import { podEventBody, podEventHeaders } from './handlers/pod-event.ts';
import type { Bench, Sample } from './runner.ts';

/** One start says little on a machine with two cores and other things to do. */
const STARTS_PER_RUN = 3;
/**
 * Finer than what is measured, coarser than what would take the processor from the process that
 * starts.
 */
const POLL_MS = 2;
const START_TIMEOUT_MS = 20_000;

export const bench: Bench = {
  id: 'P10',
  title: 'cold start: process spawn to the first event answered with 2xx',
  pairs: 7,
  figures: [
    { name: 'startMs', unit: 'ms', ours: OURS, against: PEER, limit: 0.35, better: 'lower' },
    {
      name: 'startMs against node:http',
      sample: 'startMs',
      unit: 'ms',
      ours: OURS,
      against: BARE,
      limit: 2.2,
      better: 'lower',
    },
  ],
  open: async () => {
    const scripts = await buildServers();
    const sides = Object.entries(scripts).map(([name, script]) => ({
      name,
      run: () => measure(script),
    }));
    return { sides, close: async () => undefined };
  },
};

async function measure(script: string): Promise<Sample> {
  const times: number[] = [];
  for (let start = 0; start < STARTS_PER_RUN; start += 1) times.push(await startOnce(script));
  const sorted = times.toSorted((a, b) => a - b);
  return { startMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN };
}

async function startOnce(script: string): Promise<number> {
  const port = await freePort();
  const startedMs = performance.now();
  const child = startServer(script, port);
  try {
    while (!(await answers(port))) {
      if (performance.now() - startedMs > START_TIMEOUT_MS)
        throw new Error(`${script} did not start`);
    }
    return performance.now() - startedMs;
  } finally {
    await endServer(child);
  }
}

/** True for a 2xx; false, after a pause, for a port where nobody listens yet. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const post = request(
      { host: '127.0.0.1', port, method: 'POST', headers: podEventHeaders, agent: false },
      (response) => {
        response.resume();
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve(true);
        else reject(new Error(`The first event was answered with ${statusCode}.`));
      },
    );
    post.on('error', () => setTimeout(() => resolve(false), POLL_MS));
    post.end(podEventBody);
  });
}
