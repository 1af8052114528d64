// The delivery rules of Knative's MTChannelBasedBroker, held by our broker: over real HTTP, to
// scripted subscribers.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { AT_ONCE, Delivery, EVENT, triggerOf } from './support/delivery.ts';
import { type Script, ScriptedSink } from './support/scripted-sink.ts';

const sinks: ScriptedSink[] = [];
let dead: ScriptedSink;

async function sinkOf(script?: Script): Promise<ScriptedSink> {
  const sink = await new ScriptedSink(script).listen();
  sinks.push(sink);
  return sink;
}

beforeEach(async () => {
  dead = await sinkOf();
});

afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
});

const toDead = () => ({
  delivery: { ...AT_ONCE, deadLetterSink: { kind: 'uri', uri: dead.url } as const },
});
const always =
  (status: number): Script =>
  () => ({ status });

describe('a subscriber that answers', () => {
  test.each([404, 408, 409, 429, 500, 501, 502, 503, 599])('%d is tried again', async (status) => {
    const sink = await sinkOf((_, earlier) => ({ status: earlier === 0 ? status : 204 }));
    await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
    expect(await delivery.send()).toBe(202);
    await expect.poll(() => sink.received.length).toBe(2);
    expect(dead.received).toEqual([]);
  });

  test.each([301, 400, 401, 403, 410, 413, 415, 422, 425])(
    '%d is not tried again and goes to the dead letter sink',
    async (status) => {
      const sink = await sinkOf(always(status));
      await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
      await delivery.send();
      await expect.poll(() => dead.received.length).toBe(1);
      expect(sink.received).toHaveLength(1);
      expect(dead.received[0]?.headers['ce-knativeerrorcode']).toBe(String(status));
    },
  );

  test('503 with Retry-After is tried again when the backoff says, not the header', async () => {
    const busy = { status: 503, headers: { 'retry-after': '3600' } };
    const sink = await sinkOf((_, earlier) => (earlier === 0 ? busy : { status: 204 }));
    await using delivery = await Delivery.start([triggerOf('t', sink.url)]);
    await delivery.send();
    await expect.poll(() => sink.received.length).toBe(2);
  });

  test.each([200, 202, 204])('%d without a body has taken the event', async (status) => {
    const sink = await sinkOf(always(status));
    await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
    await delivery.send();
    const delivered = async () => (await delivery.stats()).triggers['test/t']?.delivered;
    await expect.poll(delivered).toBe(1);
    expect(sink.received).toHaveLength(1);
  });

  test('200 with a body that is no event has failed, each time', async () => {
    const headers = { 'content-type': 'application/json' };
    const sink = await sinkOf(() => ({ status: 200, headers, body: '{"ok":true}' }));
    await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
    await delivery.send();
    await expect.poll(() => dead.received.length).toBe(1);
    expect(sink.received).toHaveLength(3);
    expect(dead.received[0]?.headers['ce-knativeerrorcode']).toBe('502');
  });

  test('200 with a reply that lacks an attribute has failed', async () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': '2', 'ce-type': 'test.answered' };
    const sink = await sinkOf(() => ({ status: 200, headers }));
    await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
    await delivery.send();
    await expect.poll(() => dead.received.length).toBe(1);
    expect((await delivery.stats()).lastErrors[0]?.message).toContain('source');
  });

  test('nothing in time is tried again, and its dead letter says 500', async () => {
    const sink = await sinkOf(always(-1));
    const { delivery: spec } = toDead();
    const trigger = triggerOf('t', sink.url, { delivery: { ...spec, timeoutMs: 50 } });
    await using delivery = await Delivery.start([trigger]);
    await delivery.send();
    await expect.poll(() => dead.received.length).toBe(1);
    expect(sink.received).toHaveLength(3);
    expect(dead.received[0]?.headers['ce-knativeerrorcode']).toBe('500');
  });

  test('nothing within the timeoutSeconds of its Service is tried again', async () => {
    const sink = await sinkOf((_, earlier) => ({ status: earlier === 0 ? -1 : 204 }));
    const subscriber = { kind: 'Service', namespace: 'test', name: 'slow' } as const;
    const address = { url: sink.url, containerConcurrency: 0, timeoutSeconds: 0.05 };
    const services = { 'test/slow': address };
    await using delivery = await Delivery.start([triggerOf('t', '', { subscriber })], { services });
    await delivery.send();
    await expect.poll(() => sink.received.length).toBe(2);
  });
});

test('a subscriber that is not there is tried again, and its dead letter names it', async () => {
  const url = `http://127.0.0.1:${await freePort()}/gone`;
  await using delivery = await Delivery.start([triggerOf('t', url, toDead())]);
  await delivery.send();
  await expect.poll(() => dead.received.length).toBe(1);
  const { failedTries, retries, deadLettered } = (await delivery.stats()).triggers['test/t'] ?? {};
  expect({ failedTries, retries, deadLettered }).toEqual({
    failedTries: { 0: 3 },
    retries: 2,
    deadLettered: 1,
  });
  expect(dead.received[0]?.headers).toMatchObject({
    'ce-knativeerrordest': url,
    'ce-knativeerrorcode': '500',
  });
});

test('a dead letter is the event as it came, with the answer in base64, cut short', async () => {
  const body = 'no, '.repeat(500);
  const sink = await sinkOf(() => ({ status: 422, body }));
  await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
  await delivery.send();
  await expect.poll(() => dead.received.length).toBe(1);
  const [letter] = dead.received;
  expect(letter?.headers).toMatchObject({ ...EVENT, 'ce-knativeerrordest': sink.url });
  expect(letter?.headers['ce-knativeerrordata']).toBe(
    Buffer.from(body).toString('base64').slice(0, 1024),
  );
  expect(letter?.body).toBe('{"asked":true}');
});

test('a dead letter sink that fails is tried again, and then the event is lost', async () => {
  const sink = await sinkOf(always(422));
  const failing = await sinkOf(always(503));
  const delivery = { ...AT_ONCE, deadLetterSink: { kind: 'uri', uri: failing.url } as const };
  await using running = await Delivery.start([triggerOf('t', sink.url, { delivery })]);
  await running.send();
  await expect.poll(() => failing.received.length).toBe(3);
  const lost = async () => (await running.stats()).lastErrors.at(-1)?.message;
  await expect.poll(lost).toContain(failing.url);
});

describe('a reply', () => {
  const exactFilter = { dialect: 'exact', values: { type: 'test.asked' } } as const;
  const answered = { dialect: 'exact', values: { type: 'test.answered' } } as const;
  const reply = { ...EVENT, 'ce-type': 'test.answered', 'ce-id': '2' };

  test.each([200, 202])('that comes with %d enters the broker as a new event', async (status) => {
    const sink = await sinkOf(() => ({ status, headers: reply, body: '{"answer":42}' }));
    const next = await sinkOf();
    await using delivery = await Delivery.start([
      triggerOf('first', sink.url, { filter: exactFilter }),
      triggerOf('next', next.url, { filter: answered }),
    ]);
    await delivery.send();
    await expect.poll(() => next.received.length).toBe(1);
    expect(next.received[0]).toMatchObject({ headers: reply, body: '{"answer":42}' });
    expect(sink.received).toHaveLength(1);
  });

  test('may come in structured mode', async () => {
    const event = { specversion: '1.0', id: '2', source: '/t', type: 'test.answered', data: [1] };
    const headers = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
    const sink = await sinkOf(() => ({ status: 200, headers, body: JSON.stringify(event) }));
    const next = await sinkOf();
    await using delivery = await Delivery.start([
      triggerOf('first', sink.url, { filter: exactFilter }),
      triggerOf('next', next.url, { filter: answered }),
    ]);
    await delivery.send();
    await expect.poll(() => next.received.length).toBe(1);
    expect(next.received[0]).toMatchObject({ headers: { 'ce-source': '/t' }, body: '[1]' });
  });

  test('that matches its own trigger goes round until the hops are used up', async () => {
    const sink = await sinkOf(() => ({ status: 200, headers: EVENT, body: '{}' }));
    await using delivery = await Delivery.start([triggerOf('t', sink.url, toDead())]);
    expect(await delivery.send({ ...EVENT, 'ce-knativebrokerttl': '4' })).toBe(202);
    await expect.poll(() => dead.received.length).toBe(1);
    expect(sink.received).toHaveLength(3);
    expect(dead.received[0]?.headers['ce-knativeerrordest']).toBe(delivery.brokerUrl);
  });
});

test('each trigger gets the event by itself, and one that fails delays no other', async () => {
  const failing = await sinkOf(always(503));
  const fine = await sinkOf();
  const slow = { retries: 5, backoff: { policy: 'exponential', delayMs: 60_000 } as const };
  await using delivery = await Delivery.start([
    triggerOf('failing', failing.url, { delivery: slow }),
    triggerOf('fine', fine.url),
  ]);
  await delivery.send();
  await expect.poll(() => fine.received.length).toBe(1);
  expect((await delivery.stats()).triggers['test/failing']).toMatchObject({
    pending: 1,
    retries: 0,
  });
});

test('headers of tracing and of Knative travel along, others do not', async () => {
  const sink = await sinkOf();
  await using delivery = await Delivery.start([triggerOf('t', sink.url)]);
  const passed = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=b',
    'x-request-id': 'r1',
    'x-b3-traceid': '1',
    'knative-thing': 'k',
  };
  await delivery.send({ ...EVENT, ...passed, authorization: 'Bearer secret', 'x-other': 'no' });
  await expect.poll(() => sink.received.length).toBe(1);
  const headers = sink.received[0]?.headers ?? {};
  expect(headers).toMatchObject({ ...passed, prefer: 'reply', 'kn-namespace': 'test' });
  expect(headers).not.toHaveProperty('ce-knativebrokerttl');
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('x-other');
});

test('a trigger of format json sends structured events', async () => {
  const sink = await sinkOf();
  const delivery = { ...AT_ONCE, format: 'json' as const };
  await using running = await Delivery.start([triggerOf('t', sink.url, { delivery })]);
  await running.send(EVENT, '{"big":12345678901234567890}');
  await expect.poll(() => sink.received.length).toBe(1);
  const { headers, body } = sink.received[0] ?? { headers: {}, body: '' };
  expect(headers['content-type']).toBe('application/cloudevents+json');
  expect(headers).not.toHaveProperty('ce-type');
  expect(body).toContain('"data":{"big":12345678901234567890}');
  expect(JSON.parse(body)).toMatchObject({ type: 'test.asked', subject: 'one' });
});

test('a Service gets no more requests at a time than its containerConcurrency', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let inFlight = 0;
  let most = 0;
  const sink = await sinkOf(async () => {
    most = Math.max(most, (inFlight += 1));
    await opened;
    inFlight -= 1;
    return { status: 204 };
  });
  const marker = await sinkOf();
  const subscriber = { kind: 'Service', namespace: 'test', name: 'narrow' } as const;
  const services = { 'test/narrow': { url: sink.url, containerConcurrency: 2, timeoutSeconds: 9 } };
  await using delivery = await Delivery.start(
    [triggerOf('narrow', '', { subscriber }), triggerOf('marker', marker.url)],
    { services },
  );
  for (const id of ['a', 'b', 'c', 'd']) await delivery.send({ ...EVENT, 'ce-id': id });
  // Whatever would go to the Service has been sent before what has come to its neighbour.
  await expect.poll(() => marker.received.length).toBe(4);
  open();
  const delivered = async () => (await delivery.stats()).triggers['test/narrow']?.delivered;
  await expect.poll(delivered).toBe(4);
  expect(most).toBe(2);
});
