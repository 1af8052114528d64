// Answers to events, and to everything that is no event, over real HTTP.
import { CloudEvent } from 'cloudevents';
import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../shared/errors.ts';
import type { IncomingEvent, OutgoingEvent, Route } from '../../shared/function/define.ts';
import { type Behaviour, type Started, postEvent, started } from './started.ts';

let server: Started | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function serving(
  behaviour: Behaviour<undefined>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> {
  server = await started(behaviour, environment);
  return server;
}

const TRACE = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;
const OTHER_TRACE = `00-${'3'.repeat(32)}-${'4'.repeat(16)}-00`;

const throwing = (error: unknown): Behaviour<undefined> => ({
  handle: async () => {
    throw error;
  },
});

const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as Record<string, unknown>)['code'];

describe('an event', () => {
  it('that is handled without a reply gets 204 and not a byte more', async () => {
    const { url } = await serving({});
    const answer = await postEvent(url);
    expect([answer.status, await answer.text(), answer.headers.get('content-type')]).toEqual([
      204,
      '',
      null,
    ]);
  });

  it('whose handler replies gets exactly one CloudEvent in binary mode', async () => {
    const reply = new CloudEvent({
      id: '7',
      type: 'dev.ballast.reply',
      source: '/tests',
      time: '2026-11-21T10:00:00.000Z',
      subject: 'Zürich 50%',
      data: { done: true },
    });
    const { url } = await serving({ handle: async () => reply });
    const answer = await postEvent(url, {
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    });
    expect([answer.status, await answer.text()]).toEqual([200, '{"done":true}']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'ce-specversion': '1.0',
      'ce-id': '7',
      'ce-type': 'dev.ballast.reply',
      'ce-source': '/tests',
      'ce-subject': 'Z%C3%BCrich%2050%25',
      'ce-traceparent': `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      'content-type': 'application/json',
    });
  });

  it.each([
    ['would wake the function again', { type: 'dev.ballast.test' }],
    ['has no source', { source: undefined }],
    ['has an attribute that is an object', { ext: {} }],
    ['has a content type that is none for its bytes', { datacontenttype: 'x', data: Buffer.of(1) }],
    ['has base64 that is none', { data_base64: '?' }],
    ['has data that its content type cannot carry', { datacontenttype: 'text/plain', data: 1 }],
  ])('whose reply %s is kept by the sender as a bug', async (_what, wrong) => {
    const good = { specversion: '1.0', id: '1', source: '/tests', type: 'dev.ballast.reply' };
    const { url } = await serving({ handle: async () => ({ ...good, ...wrong }) as OutgoingEvent });
    const answer = await postEvent(url);
    expect([answer.status, await codeOf(answer)]).toEqual([503, 'REPLY_INVALID']);
  });

  it('whose handler replies with base64 alone is answered with those bytes', async () => {
    const reply = { specversion: '1.0', id: '1', source: '/tests', type: 'dev.ballast.reply' };
    const { url } = await serving({
      handle: async () => ({ ...reply, datacontenttype: 'image/png', data_base64: 'AAEC/w==' }),
    });
    const answer = await postEvent(url);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 1, 2, 255]);
  });

  it('reaches the handler once, whole, at 1.9 MB', async () => {
    const seen: IncomingEvent[] = [];
    const { url } = await serving({ handle: async (event) => void seen.push(event) });
    const text = 'x'.repeat(1_900_000);
    expect((await postEvent(url, {}, JSON.stringify({ text }))).status).toBe(204);
    expect(seen.map(({ data }) => (data as { text: string }).text.length)).toEqual([1_900_000]);
  });
});

describe('a failure', () => {
  it('that is to be retried is 503 with Retry-After in whole seconds', async () => {
    const failure = new Failure('NATS_UNAVAILABLE', 'NATS is away.', { retryAfterMs: 1_200 });
    const answer = await postEvent((await serving(throwing(failure))).url);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  });

  it('that nobody foresaw is 503, counted and logged with its stack, but not shown', async () => {
    const { url, lines } = await serving(throwing(new RangeError('secret detail')));
    const answer = await postEvent(url);
    const text = await answer.text();
    expect([answer.status, text.includes('INTERNAL_BUG'), text.includes('secret')]).toEqual([
      503,
      true,
      false,
    ]);
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({
      message: 'bug',
      code: 'INTERNAL_BUG',
      event: { id: '1', type: 'dev.ballast.test' },
      revision: 'r1',
    });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('ballast_failures_total{kind="bug",code="INTERNAL_BUG"} 1');
    expect(metrics).toContain('ballast_events_total{type="dev.ballast.test",outcome="bug"} 1');
    expect(metrics).toContain('ballast_event_duration_seconds_count{type="dev.ballast.test"} 1');
    expect(metrics).toContain('process_cpu_user_seconds_total');
  });

  it('names the object and the trace of its event in the log, and never its data', async () => {
    const failure = new Failure('NATS_CONFLICT', 'Somebody was first.');
    const { url, lines } = await serving(throwing(failure));
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;
    const subject = '/apis/v1/namespaces/web/secrets/db';
    await postEvent(url, { 'ce-subject': subject, traceparent }, '{"data":"aHVudGVyMg=="}');
    expect(lines.find(({ level }) => level === 'warn')).toMatchObject({
      object: 'secrets web/db',
      traceparent,
      code: 'NATS_CONFLICT',
    });
    expect(JSON.stringify(lines)).not.toContain('aHVudGVyMg');
  });

  it('over a Secret that is not JSON has not a character of it in answer or log', async () => {
    const { url, lines } = await serving({});
    const answer = await postEvent(url, {}, '{"kind":"Secret","data":{"pw":hunter2}}');
    const text = await answer.text();
    expect([answer.status, text.includes('BODY_NOT_JSON')]).toEqual([400, true]);
    expect(lines.map(({ code }) => code)).toContain('BODY_NOT_JSON');
    expect(`${text}${JSON.stringify(lines)}`).not.toMatch(/hunter2|Secret/);
  });

  it.each([
    ['the header', { traceparent: TRACE, 'ce-traceparent': OTHER_TRACE }],
    ['the extension, which is all that a broker forwards', { 'ce-traceparent': TRACE }],
    ['the extension when the header is broken', { traceparent: '00', 'ce-traceparent': TRACE }],
  ])('takes its trace from %s', async (_what, headers) => {
    const { url, lines } = await serving(throwing(new Failure('NATS_CONFLICT', 'Too late.')));
    await postEvent(url, headers);
    expect(lines.find(({ level }) => level === 'warn')).toMatchObject({ traceparent: TRACE });
  });
});

describe('the deadline', () => {
  it('answers 503, and aborts what the handler waits for', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const { url } = await serving(
      {
        handle: (_event, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted.resolve(signal.reason);
              reject(signal.reason as Error);
            });
          }),
      },
      { REQUEST_DEADLINE_SECONDS: '0.05' },
    );
    const answer = await postEvent(url);
    expect([answer.status, await codeOf(answer)]).toEqual([503, 'DEADLINE_EXCEEDED']);
    expect(await aborted.promise).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });
});

describe('overload', () => {
  it('is answered early, with 503 and Retry-After, and passes', async () => {
    const entered = Promise.withResolvers<void>();
    const go = Promise.withResolvers<undefined>();
    const handle = (): Promise<undefined> => {
      entered.resolve();
      return go.promise;
    };
    const { url } = await serving({ handle }, { CONCURRENCY_LIMIT: '1' });
    const first = postEvent(url);
    await entered.promise;
    const second = await postEvent(url);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await codeOf(second)).toBe('OVERLOADED');
    go.resolve(undefined);
    expect((await first).status).toBe(204);
    expect((await postEvent(url)).status).toBe(204);
  });
});

describe('a plain HTTP call', () => {
  const pods: Route<undefined> = {
    method: 'GET',
    path: '/pods/:namespace',
    summary: 'the pods',
    handle: ({ params, query }) => ({
      body: [{ name: 'a', namespace: params['namespace'], limit: query.get('limit') }],
    }),
  };
  const convert: Route<undefined> = {
    method: 'POST',
    path: '/convert',
    summary: 'converts',
    handle: ({ body }) => ({ body: { got: body }, status: 201 }),
  };

  it('to / hears what the function is, wakes on and where to read on', async () => {
    const { url } = await serving({ routes: [pods] });
    const text = await (await fetch(url, { headers: { accept: 'text/plain' } })).text();
    expect(text).toMatch(/under-test 1\.2\.3 \(abc\)\nStands for any function\.\n/);
    expect(text).toContain('dev.ballast.test');
    expect(text).toContain('GET /pods/:namespace: the pods');
    expect(text).toContain('docs/errors.md');
    expect(await (await fetch(url)).json()).toMatchObject({ name: 'under-test', version: '1.2.3' });
  });

  it('gets JSON, or a table when it asks for text', async () => {
    const { url } = await serving({ routes: [pods] });
    const path = `${url}/pods/web?limit=5`;
    expect(await (await fetch(path)).json()).toEqual([{ name: 'a', namespace: 'web', limit: '5' }]);
    const text = await (await fetch(path, { headers: { accept: 'text/plain' } })).text();
    expect(text).toBe('NAME  NAMESPACE  LIMIT\na     web        5\n');
  });

  it('may send JSON to a route that takes it', async () => {
    const { url } = await serving({ routes: [convert] });
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const answer = await fetch(`${url}/convert`, { method: 'POST', headers, body: '[1]' });
    expect([answer.status, await answer.json()]).toEqual([201, { got: [1] }]);
  });

  it.each([
    ['PUT', '/', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '/convert', 405, 'METHOD_NOT_ALLOWED', 'POST, OPTIONS'],
    ['POST', '/metrics', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/health/readiness', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'],
    ['GET', '/nowhere', 404, 'PATH_UNKNOWN', null],
    ['GET', '/pods/%zz', 400, 'REQUEST_MALFORMED', null],
  ])('%s %s is %i %s', async (method, path, status, code, allow) => {
    const { url } = await serving({ routes: [convert, pods] });
    const answer = await fetch(`${url}${path}`, { method });
    expect([answer.status, await codeOf(answer), answer.headers.get('allow')]).toEqual([
      status,
      code,
      allow,
    ]);
  });

  it.each([
    ['/', 'GET, HEAD, POST, OPTIONS'],
    ['/metrics', 'GET, HEAD, OPTIONS'],
  ])('with OPTIONS hears which methods %s takes', async (path, allow) => {
    const { url } = await serving({});
    const answer = await fetch(`${url}${path}`, { method: 'OPTIONS' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, allow]);
  });

  it('with a compressed body is told that it is not read', async () => {
    const { url } = await serving({ routes: [convert] });
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await fetch(`${url}/convert`, { method: 'POST', headers, body: '[1]' });
    expect([answer.status, await codeOf(answer)]).toEqual([415, 'CONTENT_ENCODING_UNSUPPORTED']);
  });

  it.each([408, 409, 500])('never hears %i, whatever its route answers', async (status) => {
    const handle = () => ({ body: {}, status });
    const { url } = await serving({ routes: [{ ...convert, handle }] });
    const answer = await fetch(`${url}/convert`, { method: 'POST' });
    expect([answer.status, await codeOf(answer)]).toEqual([503, 'REPLY_INVALID']);
  });

  it('hears of our own mistakes as such, and we do in the log', async () => {
    const route = Object.defineProperty({ ...pods }, 'summary', {
      get: () => {
        throw new RangeError('secret detail');
      },
    });
    const { url, lines } = await serving({ routes: [route] });
    const answer = await fetch(url);
    expect([answer.status, await codeOf(answer)]).toEqual([503, 'INTERNAL_BUG']);
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({ code: 'INTERNAL_BUG' });
  });

  it('is counted and timed, and what is in flight can be seen', async () => {
    const entered = Promise.withResolvers<void>();
    const go = Promise.withResolvers<undefined>();
    const handle = (): Promise<undefined> => {
      entered.resolve();
      return go.promise;
    };
    const { url } = await serving({ routes: [pods], handle });
    await (await fetch(`${url}/pods/web`)).text();
    const event = postEvent(url);
    await entered.promise;
    const page = await (await fetch(`${url}/metrics`)).text();
    const route = 'route="GET /pods/:namespace"';
    expect(page).toContain(`ballast_route_duration_seconds_count{${route}} 1`);
    expect(page).toContain('\nballast_requests_in_flight 1\n');
    go.resolve(undefined);
    await event;
    const after = await (await fetch(`${url}/metrics`)).text();
    expect(after).toContain('\nballast_requests_in_flight 0\n');
  });

  it('to a probe is answered without the handler', async () => {
    const { url } = await serving(throwing(new Error('never')));
    const states = ['liveness', 'readiness'].map(async (probe) => {
      const answer = await fetch(`${url}/health/${probe}`);
      return [answer.status, await answer.json()];
    });
    expect(await Promise.all(states)).toEqual([
      [200, { state: 'alive' }],
      [200, { state: 'ready' }],
    ]);
  });
});
