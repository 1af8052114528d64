// The ingress of our broker answers each kind of request, and changes nothing in an event.
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENT_BYTES_MAX, PENDING_BYTES_MAX } from '../../../knative/try/local/delivery/limits.ts';
import { Delivery, EVENT, triggerOf } from './support/delivery.ts';
import type { RecordedEvent } from './support/fixture.ts';
import { ScriptedSink } from './support/scripted-sink.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/adapter/', import.meta.url));
const STRUCTURED = { 'content-type': 'application/cloudevents+json' };
const ENVELOPE = { specversion: '1.0', id: '1', source: '/test', type: 'test.asked' };

let sink: ScriptedSink;
let delivery: Delivery;

beforeAll(async () => {
  sink = await new ScriptedSink(({ headers }) => ({
    status: headers['ce-type'] === 'test.hung' ? -1 : 204,
  })).listen();
  delivery = await Delivery.start([triggerOf('t', sink.url)]);
});

afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await sink.close();
});

const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(EVENT).filter(([key]) => key !== name));

interface Row {
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly path?: string;
}

const ROWS: readonly Row[] = [
  { name: 'a binary event', status: 202 },
  { name: 'a structured event', status: 202, headers: STRUCTURED, body: JSON.stringify(ENVELOPE) },
  { name: 'an event without data', status: 202, body: '' },
  {
    name: 'an event whose extension is empty',
    status: 202,
    headers: { ...EVENT, 'ce-namespace': '' },
  },
  { name: 'a path that ends in a slash', status: 202, path: '/test/default/' },
  { name: 'no event at all', status: 400, headers: { 'content-type': 'application/json' } },
  { name: 'an event without id', status: 400, headers: without('ce-id') },
  { name: 'an event without source', status: 400, headers: without('ce-source') },
  { name: 'an event without type', status: 400, headers: without('ce-type') },
  { name: 'another specversion', status: 400, headers: { ...EVENT, 'ce-specversion': '2.0' } },
  { name: 'a time that is none', status: 400, headers: { ...EVENT, 'ce-time': 'yesterday' } },
  { name: 'structured mode that is no JSON', status: 400, headers: STRUCTURED, body: '{' },
  { name: 'structured mode that is no object', status: 400, headers: STRUCTURED, body: '[]' },
  {
    name: 'a batch',
    status: 400,
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: '[]',
  },
  {
    name: 'an event with no hops left',
    status: 400,
    headers: { ...EVENT, 'ce-knativebrokerttl': '1' },
  },
  { name: 'a broker that is not there', status: 404, path: '/test/other' },
  { name: 'the root', status: 404, path: '/' },
  { name: 'a path of another depth', status: 400, path: '/test/default/more' },
];

test.each(ROWS)('$name is answered $status', async ({ status, headers, body, path }) => {
  expect(
    await delivery.send(headers, body, path === undefined ? undefined : delivery.url + path),
  ).toBe(status);
});

test('other methods are told which ones there are', async () => {
  for (const [method, status] of [
    ['GET', 405],
    ['PUT', 405],
    ['OPTIONS', 200],
  ] as const) {
    const { statusCode, headers, body } = await request(delivery.brokerUrl, { method });
    await body.dump();
    expect([method, statusCode]).toEqual([method, status]);
    expect(headers['allow']).toBe('POST, OPTIONS');
  }
});

test('an event that is too large is answered 413', async () => {
  expect(await delivery.send(EVENT, Buffer.alloc(EVENT_BYTES_MAX + 1))).toBe(413);
});

test('what was refused is counted by status, and what came in by type', async () => {
  const { refused, eventsIn } = await delivery.stats();
  expect(refused).toMatchObject({ 404: 2, 405: 2, 413: 1 });
  const accepted = ROWS.filter(({ status }) => status === 202).length;
  expect(eventsIn).toContainEqual({ type: 'test.asked', kind: '', count: accepted });
});

test.each(await readdir(FIXTURES))(
  '%s, as the real adapter sent it, arrives unchanged',
  async (file) => {
    const event: RecordedEvent = JSON.parse(await readFile(FIXTURES + file, 'utf8'));
    const subject = `/fixtures/${file}`;
    const sent = { ...event.headers, 'ce-subject': subject };
    const body = JSON.stringify(event.body);
    expect(await delivery.send(sent, body)).toBe(202);
    await expect.poll(() => sink.of(subject).length).toBe(1);
    const [got] = sink.of(subject);
    const attributes = Object.entries(sent).filter(
      ([name]) => name.startsWith('ce-') || name === 'content-type',
    );
    expect(got?.headers).toMatchObject(Object.fromEntries(attributes));
    expect(got?.body).toBe(body);
  },
);

test('a structured event arrives in binary mode, text and bytes included', async () => {
  const bytes = Buffer.from([0, 255, 128]);
  const envelope = {
    ...ENVELOPE,
    subject: 'bytes',
    count: 5,
    flag: true,
    data_base64: bytes.toString('base64'),
  };
  await delivery.send(
    STRUCTURED,
    JSON.stringify({ ...ENVELOPE, subject: 'text', datacontenttype: 'text/plain', data: 'grün' }),
  );
  await delivery.send(STRUCTURED, JSON.stringify({ ...envelope, datacontenttype: 'image/png' }));
  await expect.poll(() => sink.of('text').length + sink.of('bytes').length).toBe(2);
  expect(sink.of('text')[0]).toMatchObject({
    headers: { 'content-type': 'text/plain' },
    body: 'grün',
  });
  expect(sink.of('bytes')[0]?.headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': '3',
    'ce-count': '5',
    'ce-flag': 'true',
  });
});

test('when too much is pending, senders are told to come again with 503', async () => {
  const body = Buffer.alloc(EVENT_BYTES_MAX);
  const hung = { ...EVENT, 'ce-type': 'test.hung' };
  const fitting = PENDING_BYTES_MAX / EVENT_BYTES_MAX;
  for (let index = 0; index < fitting; index += 1)
    expect(await delivery.send(hung, body)).toBe(202);
  expect(await delivery.send(hung, body)).toBe(503);
});
