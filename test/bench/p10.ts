// P10: cold start, from the spawn of a process to its first 2xx answer: to an event, with the same
// handler on all sides, and to a readiness probe, ours being the bundle of a function that ships
// with both its doors. Ours starts from the code cache that its build has filled.
import { type RequestOptions, request } from 'node:http';
import { buildFunction } from '../../knative/tools/build/build.ts';
import { freePort } from '../../knative/try/local/process/ports.ts';
import {
  BARE,
  OURS,
  PEER,
  buildServers,
  endServer,
  outDir,
  startServer,
} from './handlers/servers.ts';
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

interface Probe {
  readonly options: RequestOptions;
  readonly body?: Buffer | string;
}
const EVENT: Probe = {
  options: { method: 'POST', headers: podEventHeaders },
  body: podEventBody,
};
const READINESS: Probe = { options: { method: 'GET', path: '/health/readiness' } };

export const bench: Bench = {
  id: 'P10',
  title: 'cold start: process spawn to the first answer with 2xx',
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
    {
      name: 'readyMs of the metadata function',
      sample: 'readyMs',
      unit: 'ms',
      ours: OURS,
      against: PEER,
      limit: 0.35,
      better: 'lower',
    },
    {
      name: 'readyMs of the metadata function against node:http',
      sample: 'readyMs',
      unit: 'ms',
      ours: OURS,
      against: BARE,
      limit: 2.2,
      better: 'lower',
    },
  ],
  open: async () => {
    const scripts = await buildServers();
    const { dir } = await buildFunction('metadata', `${outDir}/metadata`);
    const shipped: Readonly<Record<string, string>> = { ...scripts, [OURS]: `${dir}/index.js` };
    const sides = Object.keys(scripts).map((name) => ({
      name,
      run: async (): Promise<Sample> => ({
        startMs: await medianStart(scripts[name] ?? '', EVENT),
        readyMs: await medianStart(shipped[name] ?? '', READINESS),
      }),
    }));
    return { sides, close: async () => undefined };
  },
};

async function medianStart(script: string, probe: Probe): Promise<number> {
  const times: number[] = [];
  for (let start = 0; start < STARTS_PER_RUN; start += 1)
    times.push(await startOnce(script, probe));
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function startOnce(script: string, probe: Probe): Promise<number> {
  const port = await freePort();
  const startedMs = performance.now();
  const child = startServer(script, port);
  try {
    while (!(await answers(port, probe))) {
      if (performance.now() - startedMs > START_TIMEOUT_MS)
        throw new Error(`${script} did not start`);
    }
    return performance.now() - startedMs;
  } finally {
    await endServer(child);
  }
}

/** True for a 2xx; false, after a pause, where nobody listens or is ready yet. */
function answers(port: number, { options, body }: Probe): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent: false, ...options }, (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) resolve(true);
      // The peer's probes answer so while its start still keeps the event loop busy.
      else if (statusCode === 503) setTimeout(() => resolve(false), POLL_MS);
      else reject(new Error(`The first request was answered with ${statusCode}.`));
    });
    sent.on('error', () => setTimeout(() => resolve(false), POLL_MS));
    sent.end(body);
  });
}
