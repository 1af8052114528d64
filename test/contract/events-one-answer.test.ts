// Each request has exactly one answer, whatever comes behind its head, and nothing that comes
// behind it is taken for the answer to it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RawConnection, head } from './raw-http.ts';
import { type Started, eventHeaders, started } from './started.ts';

let server: Started;
const waiting: (() => void)[] = [];
beforeAll(async () => {
  let shared: Promise<undefined> | undefined;
  server = await started({
    handle: ({ subject }, { signal }) => {
      if (subject === 'share') return (shared ??= endOf(signal));
      return subject === 'wait'
        ? new Promise((resolve) => waiting.push(() => resolve(undefined)))
        : Promise.resolve(undefined);
    },
  });
});
afterAll(() => server.stop());

/** Work that is over when the one who began it is. */
const endOf = (signal: AbortSignal): Promise<undefined> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

type Header = readonly [string, string];
const HUGE: Header = ['content-length', '50000000'];
const CHUNKED: Header = ['transfer-encoding', 'chunked'];
const EVENT = Object.entries(eventHeaders);

it.concurrent.each<[string, number, string, readonly Header[]]>([
  ['too large by its own word', 413, 'POST / HTTP/1.1', [...EVENT, HUGE]],
  ['with two ids', 400, 'POST / HTTP/1.1', [...EVENT, ['ce-id', '2'], HUGE]],
  ['that is no event', 400, 'POST / HTTP/1.1', [HUGE]],
  ['by a method that is not taken', 405, 'DELETE /metrics HTTP/1.1', [HUGE]],
  ['by a method that is not taken, in chunks', 405, 'PUT / HTTP/1.1', [CHUNKED]],
  ['to nowhere', 404, 'POST /nowhere HTTP/1.1', [HUGE]],
  ['that only asks', 200, 'GET /health/liveness HTTP/1.1', [HUGE]],
  ['without a host', 400, 'POST / HTTP/1.1', [['host', 'again'], HUGE]],
])('A request %s whose body dribbles is answered %i once, and ends', async (_, status, ...sent) => {
  const [start, headers] = sent;
  const connection = await RawConnection.openStubborn(server.port, head(headers, start));
  const dribble = setInterval(() => connection.socket.write('1'), 50);
  await connection.closed;
  clearInterval(dribble);
  expect(connection.statuses).toEqual([status]);
  expect(connection.text).toMatch(/^connection: close\r$/im);
});

const GOOD: readonly Header[] = [...EVENT, ['ce-subject', 'wait'], ['content-length', '2']];

it.each([
  ['what is no HTTP', 'HELLO\r\n\r\n', 400],
  ['a head that is too large', head([['x', 'y'.repeat(17_000)]]), 431],
])('An event with %s behind it in one write gets its own answer first', async (_, rest, status) => {
  const connection = await RawConnection.open(server.port, `${head(GOOD)}{}${rest}`);
  await expect.poll(() => waiting.length).toBe(1);
  expect(connection.text).toBe('');
  waiting.pop()?.();
  await connection.closed;
  expect(connection.statuses).toEqual([204, status]);
});

it('Two events in one write with nonsense behind them are answered in their order', async () => {
  const pair = `${head(GOOD)}{}${head(GOOD)}{}`;
  const connection = await RawConnection.open(server.port, `${pair}HELLO\r\n\r\n`);
  await expect.poll(() => waiting.length).toBe(2);
  for (const goOn of waiting.splice(0).toReversed()) goOn();
  await connection.closed;
  expect(connection.statuses).toEqual([204, 204, 400]);
});

it('A body that breaks off its own framing is answered once', async () => {
  const chunked = head([...EVENT, CHUNKED]);
  const connection = await RawConnection.open(server.port, `${chunked}5\r\nhello\r\nzz\r\n`);
  await connection.closed;
  expect([connection.statuses, connection.codes]).toEqual([[400], ['REQUEST_MALFORMED']]);
});

it('A body whose sender closes his half in the midst of it is answered once', async () => {
  const connection = await RawConnection.open(server.port, head([...EVENT, HUGE_ENOUGH]), 'half');
  connection.socket.end();
  await connection.closed;
  expect(connection.statuses).toEqual([400]);
});

const HUGE_ENOUGH: Header = ['content-length', '50'];

it('Who closes his half after the request gets his answer', async () => {
  const connection = await RawConnection.open(server.port, `${head(GOOD)}{}`);
  connection.socket.end();
  await expect.poll(() => waiting.length).toBe(1);
  waiting.pop()?.();
  await connection.closed;
  expect(connection.statuses).toEqual([204]);
});

it.each([
  [
    'two names of the host',
    [
      ['host', 'one'],
      ['host', 'two'],
    ],
  ],
  [
    'the same name of the host twice',
    [
      ['host', 'one'],
      ['HOST', 'one'],
    ],
  ],
  ['a host with a path', [['host', 'one/two']]],
] as const)('A request with %s is refused', async (_, hosts) => {
  const lines = [...hosts, ...GOOD].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const connection = await RawConnection.open(server.port, `POST / HTTP/1.1\r\n${lines}\r\n{}`);
  await connection.closed;
  expect([connection.statuses, connection.codes]).toEqual([[400], ['REQUEST_MALFORMED']]);
});

it('Who shares the work of a caller that hangs up gets an answer all the same', async () => {
  const sharing = [...EVENT, ['ce-subject', 'share'], ['content-length', '2']] as const;
  const first = await RawConnection.open(server.port, `${head(sharing)}{}`);
  const inFlight = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  await expect.poll(inFlight).toContain('ballast_requests_in_flight 1');
  const second = await RawConnection.open(server.port, `${head(sharing)}{}`);
  await expect.poll(inFlight).toContain('ballast_requests_in_flight 2');
  first.socket.destroy();
  await expect.poll(() => second.statuses).toEqual([503]);
  second.socket.destroy();
});
