// Looks at parts over HTTP; one that hangs or is gone holds up nobody.
import { type Server, createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { Observer } from '../../../knative/try/local/view/observer.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Serves what `pages` holds when it is asked; a path that is not in it hangs. */
async function serve(pages: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    if (page !== undefined) response.end(page);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

function part(name: string, url: string, pid: number | undefined = process.pid): Part {
  const never = (): Promise<void> => Promise.reject(new Error('only looked at'));
  return {
    name,
    url,
    pid,
    state: 'ready',
    sinceMs: Date.now(),
    lastLines: () => [],
    start: never,
    stop: never,
    kill: never,
    restart: never,
    pause: never,
    resume: () => undefined,
  };
}

const METRICS = `ballast_events_total{type="a",outcome="done"} 5
ballast_events_total{type="b",outcome="done"} 2
ballast_events_total{type="b",outcome="retry"} 1
`;

const STATS = JSON.stringify({
  eventsIn: [
    { type: 'add', kind: 'Pod', count: 7 },
    { type: 'ping', kind: '', count: 1 },
  ],
  triggers: { 'ns/changes': { pending: 2, delivered: 6, retries: 3, failed: 1 } },
});

test('a function’s answers are summed up over event types', async () => {
  const url = await serve({ '/metrics': METRICS });
  const { answers } = await new Observer().observe([part('function/metadata', url)]);
  const totals = [...(answers.get('metadata') ?? [])].map(([key, { total }]) => [key, total]);
  expect(totals).toEqual([
    ['done', 7],
    ['retry', 1],
  ]);
});

test('what the broker took in and what its triggers did is shown', async () => {
  const url = await serve({ '/stats': STATS });
  const { events, triggers } = await new Observer().observe([part('broker', url)]);
  expect([...events].map(([key, { total }]) => [key, total])).toEqual([
    ['add Pod', 7],
    ['ping', 1],
  ]);
  expect(triggers).toEqual([
    {
      name: 'ns/changes',
      pending: 2,
      retries: 3,
      failed: 1,
      delivered: { total: 6, perSecond: 0 },
    },
  ]);
});

test('parts that do not answer in time keep their numbers', async () => {
  const pages: Record<string, string> = { '/metrics': METRICS, '/stats': STATS };
  const url = await serve(pages);
  const parts = [part('function/metadata', url), part('broker', url)];
  const observer = new Observer();
  const before = await observer.observe(parts);
  delete pages['/metrics'];
  delete pages['/stats'];
  const after = await observer.observe(parts);
  expect({ ...after, upMs: 0, parts: [] }).toEqual({ ...before, upMs: 0, parts: [] });
});

test('each part has its memory, and its deaths that nobody asked for are counted', async () => {
  const observer = new Observer();
  const living = part('etcd', '');
  const dead = { ...part('kwok', ''), pid: undefined, state: 'dead' as const };
  for (const state of ['dead', 'starting', 'ready', 'stopped', 'dead'] as const) {
    observer.partChanged({ part: dead, state });
  }
  const { parts } = await observer.observe([living, dead]);
  expect(parts.map(({ name, deaths }) => [name, deaths])).toEqual([
    ['etcd', 0],
    ['kwok', 2],
  ]);
  expect(parts[0]?.residentBytes).toBeGreaterThan(2 ** 20);
  expect(parts[1]?.residentBytes).toBeUndefined();
});
