// Cases that node's HTTP server would answer on its own: requests in unusual form, connections that
// send nothing, and those that send too slowly.
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HttpServer } from '../../shared/function/server.ts';
import { head, headWithoutHost, sendRaw } from './raw-http.ts';
import { type Started, eventHeaders, started } from './started.ts';

describe('a request', () => {
  const event = [...Object.entries(eventHeaders), ['content-length', '2']] as const;
  let server: Started;
  beforeAll(async () => {
    server = await started({});
  });
  afterAll(() => server.stop());

  it.each(['http://somewhere/', 'http://somewhere', 'HTTP://somewhere/?a=b'])(
    'whose target is the whole address %s is an event for /',
    async (target) => {
      const start = `POST ${target} HTTP/1.1`;
      expect((await sendRaw(server.port, head(event, start), '{}')).status).toBe(204);
    },
  );

  it('whose target is the whole address finds its path', async () => {
    const start = 'GET http://somewhere/nowhere HTTP/1.1';
    const answer = await sendRaw(server.port, head([], start));
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([404, 'PATH_UNKNOWN']);
  });

  it('without Host is refused with a problem, and the connection ends', async () => {
    const answer = await sendRaw(server.port, headWithoutHost(event), '{}');
    expect(answer.headers['connection']).toBe('close');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      expect.objectContaining({ code: 'REQUEST_MALFORMED', field: 'host' }),
    ]);
  });

  it('that expects something unknown is answered as if it did not', async () => {
    const headers = [...event, ['expect', 'foo']] as const;
    expect((await sendRaw(server.port, head(headers), '{}')).status).toBe(204);
  });

  it('that cannot be read is counted', async () => {
    await sendRaw(server.port, 'HELLO\r\n\r\n');
    const page = await (await fetch(`${server.url}/metrics`)).text();
    expect(page).toMatch(/ballast_failures_total\{kind="reject",code="REQUEST_MALFORMED"\} [1-9]/);
  });
});

/** More than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

describe('a connection', () => {
  const times = {
    headersMs: 100,
    parkedMs: 600,
    checkMs: 20,
    lingerMs: 100,
    askMs: 50,
    unreadMs: 300,
  };
  const refused: string[] = [];
  let server: HttpServer;
  let port = 0;
  const sockets: Socket[] = [];
  let held = Promise.resolve();
  const listener = new EventEmitter();
  beforeAll(async () => {
    server = new HttpServer(
      (request, response) => {
        listener.emit('asked', response);
        void held.then(() => {
          if (request.url === '/') response.writeHead(204).end();
          else response.end(LARGE);
        });
      },
      ({ code }) => refused.push(code),
      times,
    );
    port = await server.listen(0);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    refused.length = 0;
  });
  afterAll(() => server.close(Infinity, () => Promise.resolve()));

  const open = async (to = port): Promise<Socket> => {
    const socket = connect(to, '127.0.0.1').setEncoding('latin1');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };

  /** All that comes until the other side closes, and how long that took. */
  async function heard(socket: Socket): Promise<{ text: string; tookMs: number }> {
    const sinceMs = performance.now();
    let text = '';
    socket.on('data', (part: string) => (text += part));
    await once(socket, 'close');
    return { text, tookMs: performance.now() - sinceMs };
  }

  it('whose owner is gone, and not only done with sending, ends its work', async () => {
    const go = Promise.withResolvers<void>();
    held = go.promise;
    const gone = await open();
    const arrival = once(listener, 'asked');
    gone.write(head([['content-length', '0']]));
    const [answer] = (await arrival) as [ServerResponse];
    gone.destroy();
    await once(answer, 'close');
    expect(answer.headersSent).toBe(false);
    go.resolve();
  });

  it('whose owner asks and does not read is closed, and its answer goes', async () => {
    const arrival = once(listener, 'asked');
    const deaf = (await open()).pause();
    deaf.write(head([], 'GET /large HTTP/1.1'));
    const [answer] = (await arrival) as [ServerResponse];
    await once(answer, 'close', { signal: AbortSignal.timeout(30_000) });
    expect(answer.writableFinished).toBe(false);
  });

  it('whose owner reads slowly has all of its answer, whatever time it takes', async () => {
    const slow = await open();
    let [bytes, since] = [0, 0];
    slow.on('data', (part: string) => {
      bytes += part.length;
      since += part.length;
      if (since < LARGE.length / 16) return;
      since = 0;
      slow.pause();
      setTimeout(() => slow.resume(), times.unreadMs / 3);
    });
    slow.write(head([], 'GET /large HTTP/1.1'));
    await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(LARGE.length);
  });

  it('whose work takes longer than that waits for it in silence', async () => {
    const go = Promise.withResolvers<void>();
    held = go.promise;
    const patient = await open();
    patient.write(head([['content-length', '0']]));
    // Twice as long.
    await heard(await open());
    go.resolve();
    expect((await once(patient, 'data'))[0]).toContain('204 No Content');
  });

  it('that sends nothing is kept long, and then closed without a word', async () => {
    const { text, tookMs } = await heard(await open());
    expect([text, refused]).toEqual(['', []]);
    expect(tookMs).toBeGreaterThanOrEqual(times.parkedMs);
  });

  it('that was parked takes a request later, and as long for its answer as it needs', async () => {
    const parked = await open();
    const tooSlow = await open();
    tooSlow.write('P');
    // By now the one that was opened before has been given up on for its headers too.
    expect((await heard(tooSlow)).text).toContain('REQUEST_TOO_SLOW');
    const go = Promise.withResolvers<void>();
    held = go.promise;
    parked.write(head([['content-length', '0']]));
    await heard(await open());
    go.resolve();
    expect((await once(parked, 'data'))[0]).toContain('204 No Content');
  });

  it.each(['at once', 'after it was parked'])(
    'that begins a request %s and does not go on is refused, while a parked one stays',
    async (when) => {
      const codes: string[] = [];
      const strict = new HttpServer(
        () => undefined,
        ({ code }) => codes.push(code),
        { ...times, parkedMs: 60_000 },
      );
      const at = await strict.listen(0);
      const [parked, slow, other] = [await open(at), await open(at), await open(at)];
      if (when !== 'at once') {
        other.write('P');
        await heard(other);
        codes.length = 0;
      }
      slow.write('POST / HTTP/1.1\r\nhost: ');
      expect((await heard(slow)).text).toMatch(/^HTTP\/1\.1 503 .*REQUEST_TOO_SLOW/s);
      expect(codes).toEqual(['REQUEST_TOO_SLOW']);
      expect(parked.readyState).toBe('open');
      for (const socket of sockets) socket.destroy();
      await strict.close(0, () => Promise.resolve());
    },
  );
});
