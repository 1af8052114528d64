// P9: events per second of CPU that the server spends, and its memory after them. The event is a
// pod as ApiServerSource sends it; both sides run the same handler and answer 204.
import type { ChildProcess } from 'node:child_process';
import { freePort } from '../../knative/try/local/process/ports.ts';
import { cpuSeconds, residentBytes } from './cpu.ts';
import { podEventBody, podEventHeaders } from './handlers/pod-event.ts';
import { requestBytes, sendEvents } from './handlers/sender.ts';
import { OURS, PEER, buildServers, endServer, startServer } from './handlers/servers.ts';
import type { Bench, Sample } from './runner.ts';

/** Enough for the optimising compiler to have settled. */
const WARM_UP_EVENTS = 5_000;
/** More than a second of CPU on either side: the kernel accounts in hundredths. */
const MEASURED_EVENTS = 20_000;
const CONNECTIONS = 8;
const POLL_MS = 10;
const START_TIMEOUT_MS = 20_000;

export const bench: Bench = {
  id: 'P9',
  title: 'events per CPU second of one function instance, 1.8 KB events',
  pairs: 5,
  figures: [
    {
      name: 'eventsPerCpuSecond',
      unit: '1/s',
      ours: OURS,
      against: PEER,
      limit: 2,
      better: 'higher',
    },
    { name: 'residentMb', unit: 'MB', ours: OURS, against: PEER, limit: 0.75, better: 'lower' },
  ],
  open: async () => {
    const scripts = await buildServers();
    const sides = [OURS, PEER].map((name) => ({ name, run: () => measure(scripts[name] ?? '') }));
    return { sides, close: async () => undefined };
  },
};

async function measure(script: string): Promise<Sample> {
  const port = await freePort();
  const child = startServer(script, port);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${script} could not be started.`);
  const event = requestBytes(podEventHeaders, podEventBody);
  try {
    await untilItAnswers(child, port, event);
    await sendEvents(port, event, WARM_UP_EVENTS, CONNECTIONS);
    const before = await cpuSeconds(pid);
    await sendEvents(port, event, MEASURED_EVENTS, CONNECTIONS);
    const spent = (await cpuSeconds(pid)) - before;
    const residentMb = (await residentBytes(pid)) / 1024 ** 2;
    return { eventsPerCpuSecond: MEASURED_EVENTS / spent, residentMb };
  } finally {
    await endServer(child);
  }
}

async function untilItAnswers(child: ChildProcess, port: number, event: Buffer): Promise<void> {
  const limitMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await sendEvents(port, event, 1, 1);
      return;
    } catch (cause) {
      const isOver = child.exitCode !== null || performance.now() > limitMs;
      if (isOver) throw new Error('The server did not start.', { cause });
      const wait = Promise.withResolvers<void>();
      setTimeout(wait.resolve, POLL_MS);
      await wait.promise;
    }
  }
}
