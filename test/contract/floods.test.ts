// The memory that one sender takes of a function is bounded, and others are served.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { RawConnection, head } from './raw-http.ts';
import { type Behaviour, type Started, eventHeaders, postEvent, started } from './started.ts';

const opened: RawConnection[] = [];
let server: Started | undefined;
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await server?.stop();
  server = undefined;
});

async function start(behaviour: Behaviour<unknown>): Promise<Started> {
  server = await started(behaviour);
  return server;
}

async function connected(port: number, ...parts: readonly string[]): Promise<RawConnection> {
  const connection = await RawConnection.open(port, ...parts);
  opened.push(connection);
  return connection;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it('A body in pieces of a byte takes no more memory than its bytes', async () => {
  const { port, url } = await start({});
  const chunked = [...Object.entries(eventHeaders), ['transfer-encoding', 'chunked']] as const;
  const dribbling = await connected(port, head(chunked));
  const before = heldBytes();
  const pieces = '1\r\n \r\n'.repeat(20_000);
  for (let sent = 0; sent < 10; sent += 1) {
    await new Promise((done) => dribbling.socket.write(pieces, done));
  }
  // By then they have been read.
  for (let sent = 0; sent < 20; sent += 1) expect((await postEvent(url)).status).toBe(204);
  expect(heldBytes() - before).toBeLessThan(8_000_000);
  dribbling.socket.write('0\r\n\r\n');
  // All of it was read: blanks are no JSON.
  await expect.poll(() => dribbling.codes).toEqual(['BODY_NOT_JSON']);
});

it('Of thousands of questions in one go a few are answered, then the connection ends', async () => {
  const go = Promise.withResolvers<undefined>();
  const { port, url } = await start({ handle: () => go.promise });
  const event = head([...Object.entries(eventHeaders), ['content-length', '0']]);
  const question = head([], 'GET /health/liveness HTTP/1.1');
  const greedy = await connected(port, event, question.repeat(3_000));
  expect((await fetch(`${url}/health/liveness`)).status).toBe(200);
  go.resolve(undefined);
  await greedy.closed;
  expect(greedy.statuses).toEqual([204, ...Array.from({ length: 32 }, () => 200)]);
  expect(greedy.text).toMatch(/connection: close[^]*$/i);
});

it('A few questions in one go are answered in their order, again and again', async () => {
  const { port } = await start({});
  const paths = ['/health/liveness', '/nowhere', '/health/readiness'];
  const questions = paths.map((path) => head([], `GET ${path} HTTP/1.1`)).join('');
  const patient = await connected(port);
  for (let round = 1; round <= 20; round += 1) {
    patient.socket.write(questions);
    await expect.poll(() => patient.statuses.length, { interval: 1 }).toBe(round * 3);
  }
  const answers = Array.from({ length: 20 }, () => [200, 404, 200]).flat();
  expect(patient.statuses).toEqual(answers);
});

/** More than the kernel takes for who does not read. */
const LARGE_BYTES = 14_000_000;

it('Of large answers that nobody reads the eldest are let go, and who reads has his', async () => {
  const text = 'x'.repeat(LARGE_BYTES);
  const handle = async () => ({ body: { text } });
  const route = { method: 'GET', path: '/large', summary: 'much', handle } as const;
  const { port, url } = await start({ routes: [route] });
  const idle: RawConnection[] = [];
  for (let count = 0; count < 3; count += 1) {
    const one = await connected(port);
    one.socket.pause();
    one.socket.write(head([], 'GET /large HTTP/1.1'));
    idle.push(one);
  }
  const answer = await fetch(`${url}/large`);
  expect((await answer.text()).length).toBeGreaterThan(LARGE_BYTES);
  const [first, second] = idle;
  for (const { socket } of idle) socket.resume();
  await Promise.all([first?.closed, second?.closed]);
  expect(first?.text.length).toBeLessThan(LARGE_BYTES);
});

it('Large answers that nobody reads, asked for at once, are given a few in a turn', async () => {
  const text = 'x'.repeat(4_000_000);
  const given = { inAll: 0, inThisTurn: 0, most: 0 };
  const handle = async () => {
    given.inAll += 1;
    given.inThisTurn += 1;
    given.most = Math.max(given.most, given.inThisTurn);
    return { body: { text } };
  };
  const route = { method: 'GET', path: '/large', summary: 'much', handle } as const;
  const { port, url } = await start({ routes: [route] });
  // A server accepts one connection in a turn; those that were answered are all there.
  const question = head([], 'GET /health/liveness HTTP/1.1');
  const idle = await Promise.all(Array.from({ length: 90 }, () => connected(port, question)));
  for (const one of idle) await expect.poll(() => one.statuses).toEqual([200]);
  const turns = setInterval(() => (given.inThisTurn = 0), 0);
  for (const { socket } of idle) socket.pause().write(head([], 'GET /large HTTP/1.1'));
  await expect.poll(() => given.inAll).toBe(idle.length);
  clearInterval(turns);
  // Their connections close between two turns, and until then all of it is in memory.
  expect(given.most).toBeLessThan(15);
  const answer = await fetch(`${url}/large`);
  expect((await answer.text()).length).toBeGreaterThan(text.length);
});

it('Plain JSON is counted as what it becomes, like that of events', async () => {
  const go = Promise.withResolvers<void>();
  const handle = async () => {
    await go.promise;
    return { body: {} };
  };
  const route = { method: 'POST', path: '/ask', summary: 'asks', handle } as const;
  const { url } = await start({ routes: [route] });
  const ask = (count: number): Promise<Response> =>
    fetch(`${url}/ask`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `[${'{},'.repeat(count)}0]`,
    });
  const huge = await ask(600_000);
  expect([huge.status, await huge.text()]).toEqual([413, expect.stringContaining('more values')]);
  const answers = Array.from({ length: 4 }, () => ask(90_000));
  const first = await Promise.race(answers);
  expect([first.status, await first.text()]).toEqual([503, expect.stringContaining('OVERLOADED')]);
  go.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 503, 503]);
});

it('Plain JSON that nests too deep, is none or is called otherwise is refused', async () => {
  const handle = async () => ({ body: {} });
  const route = { method: 'POST', path: '/ask', summary: 'asks', handle } as const;
  const { url } = await start({ routes: [route] });
  const ask = async (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
    const headers = { 'content-type': type };
    const answer = await fetch(`${url}/ask`, { method: 'POST', headers, body });
    return [answer.status, ((await answer.json()) as { code?: string }).code];
  };
  expect(await ask(`${'['.repeat(1_001)}${']'.repeat(1_001)}`)).toEqual([400, 'BODY_TOO_DEEP']);
  expect(await ask('{')).toEqual([400, 'BODY_NOT_JSON']);
  expect(await ask(new Uint8Array([0x22, 0xff, 0x22]))).toEqual([400, 'BODY_NOT_UTF8']);
  expect(await ask('{}', 'text/plain')).toEqual([415, 'CONTENT_TYPE_UNSUPPORTED']);
  expect(await ask(' '.repeat(2_100_000))).toEqual([413, 'BODY_TOO_LARGE']);
  expect(await ask('{}')).toEqual([200, undefined]);
});
