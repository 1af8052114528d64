// Bodies that do not come, or come slowly, or are large: they cost those who send them, and never
// an event whose body comes in one go.
import { afterEach, expect, it } from 'vitest';
import { ARRIVING_MAX } from '../../shared/function/runtime-config.ts';
import { MovedClock } from '../builders/moved-clock.ts';
import { RawConnection, head } from './raw-http.ts';
import { type Started, eventHeaders, postEvent, started } from './started.ts';

const opened: RawConnection[] = [];
let server: Started | undefined;
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await server?.stop();
  server = undefined;
});

const announcing = (sizeBytes: number): string =>
  head([...Object.entries(eventHeaders), ['content-length', String(sizeBytes)]]);

/** Announces one byte more than it sends. */
async function halfSent(port: number, sizeBytes = 1): Promise<RawConnection> {
  const connection = await RawConnection.open(port, announcing(sizeBytes + 1));
  connection.socket.write(Buffer.alloc(sizeBytes, ' '));
  opened.push(connection);
  return connection;
}

const many = (count: number, port: number, sizeBytes?: number): Promise<RawConnection[]> =>
  Promise.all(Array.from({ length: count }, () => halfSent(port, sizeBytes)));

const big = JSON.stringify({ text: 'x'.repeat(1_900_000) });

it('As many half-sent bodies as may be worked on at once take nobody their place', async () => {
  server = await started({}, { CONCURRENCY_LIMIT: '3' });
  const half = await many(10, server.port);
  const answers = await Promise.all(Array.from({ length: 3 }, () => postEvent(server?.url ?? '')));
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(half.flatMap(({ statuses }) => statuses)).toEqual([]);
});

it('More half-sent bodies than are kept: the eldest makes room, and comes again', async () => {
  server = await started({});
  const [eldest] = await many(1, server.port);
  await many(ARRIVING_MAX - 1, server.port);
  expect((await postEvent(server.url)).status).toBe(204);
  await expect.poll(() => eldest?.codes).toEqual(['REQUEST_TOO_SLOW']);
  expect(eldest?.text).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/is);
});

it('Half-sent bodies of many megabytes make room for an event that is as large', async () => {
  server = await started({});
  const half = await many(12, server.port, 1_900_000);
  expect((await postEvent(server.url, {}, big)).status).toBe(204);
  // Eight fit, the event among them or not yet.
  const refused = (): number => half.filter(({ codes }) => codes[0] === 'OVERLOADED').length;
  await expect.poll(refused).toBeGreaterThan(3);
});

it('Large events that are worked on are counted, and those beyond come again later', async () => {
  const go = Promise.withResolvers<undefined>();
  server = await started({ handle: () => go.promise });
  const { url } = server;
  const answers = Array.from({ length: 12 }, () => postEvent(url, {}, big));
  const first = await Promise.race(answers);
  expect([first.status, await first.text()]).toEqual([503, expect.stringContaining('OVERLOADED')]);
  go.resolve(undefined);
  // Sixteen megabytes of them.
  const accepted = (await Promise.all(answers)).filter(({ status }) => status === 204);
  expect(accepted.length).toBeGreaterThan(7);
});

it.each([
  ['objects', '{},', 600_000],
  ['lists', '[],', 600_000],
])('Megabytes of empty %s are counted as what they become', async (_what, one, count) => {
  const go = Promise.withResolvers<undefined>();
  server = await started({ handle: () => go.promise });
  const { url } = server;
  const huge = await postEvent(url, {}, `[${one.repeat(count)}0]`);
  expect([huge.status, await huge.text()]).toEqual([413, expect.stringContaining('more values')]);
  const answers = Array.from({ length: 4 }, () => postEvent(url, {}, `[${one.repeat(40_000)}0]`));
  const first = await Promise.race(answers);
  expect([first.status, await first.text()]).toEqual([503, expect.stringContaining('OVERLOADED')]);
  go.resolve(undefined);
  await Promise.all(answers);
});

it('A body that dawdles is answered once, and its connection ends', async () => {
  const clock = new MovedClock();
  server = await started({}, {}, clock);
  const half = await halfSent(server.port);
  // Its head has been seen when a later one was answered.
  expect((await postEvent(server.url)).status).toBe(204);
  await clock.advance(30_000);
  await half.closed;
  expect([half.statuses, half.codes]).toEqual([[503], ['REQUEST_TOO_SLOW']]);
  expect(half.text).toMatch(/connection: close/i);
});

it('At the end of the process who is half-sent hears of it, and holds up nobody', async () => {
  server = await started({});
  const half = await halfSent(server.port);
  expect((await postEvent(server.url)).status).toBe(204);
  await server.stop();
  await half.closed;
  expect(half.codes).toEqual(['DRAINING']);
});
