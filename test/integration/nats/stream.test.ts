// The stream against a real nats-server: compare-and-set, snapshot reads, and what it does when the
// server is away or comes back without its disk.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { connect } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { natsServerSpec } from '../../../knative/try/local/plane/nats-server.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import type { StoredMessage } from '../../../shared/nats/jetstream.ts';
import { Stream } from '../../../shared/nats/stream.ts';
import type { StreamSettings } from '../../../shared/nats/stream-config.ts';
import { ANSWER_WITHIN, loginOf } from '../../builders/nats-login.ts';

const soon = (): AbortSignal => AbortSignal.timeout(10_000);

let plane: Plane;
const open: Stream[] = [];

beforeAll(async () => {
  plane = await startPlane({ parts: ['nats-server'] });
});

afterAll(async () => {
  await Promise.all(open.map((stream) => stream.close()));
  await plane.stop();
});

const streamOf = (name: string, more: Partial<StreamSettings> = {}): Stream => {
  const settings = {
    name,
    prefix: name,
    livePrefix: `live-${name}`,
    replicas: 1,
    storage: 'file',
    ...more,
  } as const;
  const stream = new Stream({ url: plane.part('nats-server').url, name: 'test' }, settings);
  open.push(stream);
  return stream;
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const publish = (stream: Stream, subject: string, text: string, expectedSequence: number) =>
  stream.publish([{ subject, data: bytes(text), expectedSequence }], soon());

const readAll = async (stream: Stream, filter: string): Promise<string[]> => {
  const messages: StoredMessage[] = [];
  for await (const message of stream.read(filter, soon())) messages.push(message);
  return messages.map(({ subject, data }) => `${subject}=${new TextDecoder().decode(data)}`);
};

test('an empty stream reads as nothing', async () => {
  expect(await readAll(streamOf('empty'), 'empty.>')).toEqual([]);
});

test('the newest message of each subject is what a snapshot shows', async () => {
  const stream = streamOf('newest');
  const first = await publish(stream, 'newest.a', '1', 0);
  await publish(stream, 'newest.b', '1', 0);
  await publish(stream, 'newest.a', '2', first);
  expect(await readAll(stream, 'newest.>')).toEqual(['newest.b=1', 'newest.a=2']);
  expect(await readAll(stream, 'newest.b')).toEqual(['newest.b=1']);
  expect(await stream.state(soon())).toEqual({ messages: 2, lastSequence: 3 });
});

test('whoever writes second on the same sight of a subject is told to look again', async () => {
  const stream = streamOf('race');
  const outcomes = await Promise.allSettled([
    publish(stream, 'race.a', 'one', 0),
    publish(stream, 'race.a', 'two', 0),
  ]);
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(lost.map(({ reason }) => reason.code)).toEqual(['NATS_CONFLICT']);
  expect((await readAll(stream, 'race.>')).length).toBe(1);
});

test('a snapshot of more messages than one batch holds is whole and in order', async () => {
  const stream = streamOf('many', { storage: 'memory' });
  const subjects = Array.from({ length: 2_500 }, (_, index) => `many.${index}`);
  for (let at = 0; at < subjects.length; at += 100) {
    const slice = subjects.slice(at, at + 100);
    await Promise.all(slice.map((subject) => publish(stream, subject, 'x', 0)));
  }
  const read = await readAll(stream, 'many.>');
  expect(read.toSorted()).toEqual(subjects.map((subject) => `${subject}=x`).toSorted());
});

test('a message with a time to live is gone after it', async () => {
  const stream = streamOf('ttl');
  const message = { subject: 'ttl.a', data: bytes('x'), expectedSequence: 0, ttlSeconds: 1 };
  await stream.publish([message], soon());
  expect(await readAll(stream, 'ttl.>')).toEqual(['ttl.a=x']);
  await expect.poll(() => readAll(stream, 'ttl.>'), { timeout: 10_000 }).toEqual([]);
});

test('all messages of one publish land, in order, or none of them', async () => {
  const stream = streamOf('move');
  await publish(stream, 'move.old', '1', 0);
  const moved = [
    { subject: 'move.old', data: bytes('gone'), expectedSequence: 1, ttlSeconds: 60 },
    { subject: 'move.new', data: bytes('1'), expectedSequence: 0 },
  ];
  expect(await stream.publish(moved, soon())).toBe(2);
  await expect(stream.publish(moved, soon())).rejects.toMatchObject({ code: 'NATS_CONFLICT' });
  expect(await readAll(stream, 'move.>')).toEqual(['move.old=gone', 'move.new=1']);
});

test('of those who publish at the same time only who lost fails', async () => {
  const stream = streamOf('group');
  await publish(stream, 'group.7', 'there', 0);
  const texts = Array.from({ length: 50 }, (_, index) => String(index));
  const outcomes = await Promise.allSettled(
    texts.map((text) => publish(stream, `group.${text}`, text, 0)),
  );
  const lost = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
  expect(lost).toEqual([7]);
  const stored = await stream.last(
    texts.map((text) => `group.${text}`),
    soon(),
  );
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') continue;
    const { sequence, data } = stored.get(`group.${index}`) ?? { sequence: 0, data: bytes('') };
    expect([sequence, new TextDecoder().decode(data)]).toEqual([outcome.value, String(index)]);
  }
});

test('of two writes to one subject at the same time the second is told', async () => {
  const stream = streamOf('twice');
  const outcomes = await Promise.allSettled(
    ['0', '1', '2', '3'].map((text) => publish(stream, 'twice.a', text, 0)),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
  ]);
});

test('the last message of each of many subjects is found, and what is absent is not', async () => {
  const stream = streamOf('last', { storage: 'memory' });
  const subjects = Array.from({ length: 1_200 }, (_, index) => `last.${index}`);
  for (let at = 0; at < subjects.length; at += 100) {
    await Promise.all(subjects.slice(at, at + 100).map((one) => publish(stream, one, one, 0)));
  }
  const found = await stream.last([...subjects, 'last.none'], soon());
  expect([...found.keys()].toSorted()).toEqual(subjects.toSorted());
  expect(await stream.last(['last.none'], soon())).toEqual(new Map());
});

test('settings that the server can change are changed in place', async () => {
  await publish(streamOf('grow'), 'grow.a', '1', 0);
  const other = streamOf('grow', { livePrefix: 'elsewhere' });
  await publish(other, 'grow.b', '1', 0);
  expect(await readAll(other, 'grow.>')).toEqual(['grow.a=1', 'grow.b=1']);
});

test('one consumer that was made to stay does not keep a stream from its settings', async () => {
  const nats = await connect(loginOf(plane.part('nats-server').url));
  const askApi = async (verb: string, body: object): Promise<Record<string, unknown>> =>
    (await nats.request(`$JS.API.${verb}`, JSON.stringify(body), ANSWER_WITHIN)).json();
  const idle = async () => {
    const { config } = await askApi('STREAM.INFO.elder', {});
    return Object(Object(config).consumer_limits).inactive_threshold;
  };
  await askApi('STREAM.CREATE.elder', { name: 'elder', subjects: ['elder.>'] });
  const config = {
    durable_name: 'mine',
    ack_policy: 'none',
    inactive_threshold: 3_600_000_000_000,
  };
  const create = { stream_name: 'elder', config };
  expect(await askApi('CONSUMER.CREATE.elder.mine', create)).not.toHaveProperty('error');
  await publish(streamOf('elder'), 'elder.a', '1', 0);
  expect(await idle()).toBeUndefined();
  await askApi('CONSUMER.DELETE.elder.mine', {});
  await publish(streamOf('elder'), 'elder.b', '1', 0);
  expect(await idle()).toBe(60_000_000_000);
  await nats.close();
});

test('settings that it cannot change are refused with the server’s reason', async () => {
  await publish(streamOf('clash'), 'clash.a', '1', 0);
  const other = streamOf('clash', { storage: 'memory' });
  await expect(publish(other, 'clash.b', '1', 0)).rejects.toMatchObject({
    code: 'NATS_REFUSED',
    message: expect.stringContaining('storage'),
  });
});

/** On a server of its own, which a test may hurt. */
async function startOwnStream(name: string) {
  const own = await startPlane({ parts: ['nats-server'] });
  const server = own.part('nats-server');
  const settings = { name, prefix: name, livePrefix: 'l', replicas: 1, storage: 'file' } as const;
  return { own, server, stream: new Stream({ url: server.url, name: 'test' }, settings) };
}

test('a server that is away is said; back without its disk, it gets the stream anew', async () => {
  const { own, server, stream } = await startOwnStream('lost');
  await publish(stream, 'lost.a', 'before', 0);
  await server.kill();
  await expect(publish(stream, 'lost.a', 'away', 1)).rejects.toMatchObject({
    code: 'NATS_UNAVAILABLE',
    kind: 'retry',
  });
  await rm(join(own.dir, 'data', 'nats'), { recursive: true });
  await server.start();
  const again = async (): Promise<string[]> => readAll(stream, 'lost.>').catch(() => ['away']);
  await expect.poll(again, { timeout: 20_000 }).toEqual([]);
  await publish(stream, 'lost.a', 'after', 0);
  expect(await readAll(stream, 'lost.>')).toEqual(['lost.a=after']);
  await stream.close();
  await own.stop();
});

test('a deadline ends a read, a write and a look at a server that hangs', async () => {
  const { own, server, stream } = await startOwnStream('hangs');
  await publish(stream, 'hangs.a', 'before', 0);
  await server.pause();
  const brief = (): AbortSignal => AbortSignal.timeout(200);
  const message = { subject: 'hangs.a', data: bytes('x'), expectedSequence: 1 };
  await expect(stream.read('hangs.>', brief()).next()).rejects.toThrow('timeout');
  await expect(stream.publish([message], brief())).rejects.toThrow('timeout');
  await expect(stream.state(brief())).rejects.toThrow('timeout');
  server.resume();
  await stream.close();
  await own.stop();
});

test('a password in the address gets in, and is never shown', async () => {
  const [binary, port, monitorPort] = await Promise.all([
    resolvePart('nats-server'),
    freePort(),
    freePort(),
  ]);
  const spec = natsServerSpec({ binary, dir: join(plane.dir, 'guarded'), port, monitorPort });
  const args = [...spec.args, '--user=bob', '--pass=hunter2'];
  await plane.add({ ...spec, name: 'guarded', args });
  const settings = {
    name: 'secret',
    prefix: 'secret',
    livePrefix: 'l',
    replicas: 1,
    storage: 'file',
  } as const;
  const streamWith = (credentials: string): Stream => {
    const url = `nats://${credentials}@127.0.0.1:${port}`;
    const stream = new Stream({ url, name: 'test' }, settings);
    open.push(stream);
    return stream;
  };
  expect(await streamWith('bob:hunter2').state(soon())).toEqual({ messages: 0, lastSequence: 0 });
  const refusal: unknown = await streamWith('bob:wr0ng')
    .state(soon())
    .catch((error) => error);
  expect(refusal).toMatchObject({ code: 'NATS_UNAVAILABLE' });
  expect(String(refusal)).toContain('does not take the credentials');
  expect(inspect(refusal)).not.toContain('wr0ng');
});

test('no server at the address is a failure to try again, not a hang', async () => {
  const settings = {
    name: 'none',
    prefix: 'none',
    livePrefix: 'l',
    replicas: 1,
    storage: 'file',
  } as const;
  const stream = new Stream({ url: 'nats://127.0.0.1:1', name: 'test' }, settings);
  await expect(stream.state(soon())).rejects.toMatchObject({ code: 'NATS_UNAVAILABLE' });
  await stream.close();
});
