// Knative's own rules on Knative itself: what a function at zero gets, what its answers lead to,
// and where events go that nobody takes.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KnativeWorld, NAMESPACES, openWorld, OPEN_WITHIN_MS } from './support/world.ts';
import { type Seen, binaryEvent, eventually } from './support/rig.ts';
import { broker, configMapSource, echoService, trigger } from './support/wiring.ts';

const NAMESPACE = NAMESPACES.eventing;
const of = { namespace: NAMESPACE };

let world: KnativeWorld;

beforeAll(async () => {
  world = await openWorld(NAMESPACE);
  const { rig } = world;
  await rig.up(
    broker(NAMESPACE, 'main'),
    echoService({ ...of, name: 'quiet', answer: 'nothing', minScale: 1 }),
    echoService({ ...of, name: 'talker', answer: 'json', minScale: 1 }),
    echoService({ ...of, name: 'refuser', answer: '500', minScale: 1 }),
    echoService({ ...of, name: 'dead-letters', answer: 'nothing', minScale: 1 }),
    echoService({ ...of, name: 'sleeper', answer: 'event', minScale: 0 }),
  );
  const toDeadLetters = { ...of, broker: 'main', deadLetterSink: 'dead-letters' };
  const exact = (type: string, subscriber: string) =>
    trigger({ ...toDeadLetters, name: subscriber, attributes: { type }, subscriber });
  await rig.up(
    exact('test.quiet', 'quiet'),
    exact('test.talker', 'talker'),
    exact('test.refuser', 'refuser'),
    exact('dev.knative.apiserver.ref.add', 'sleeper'),
    trigger({
      ...toDeadLetters,
      name: 'replies',
      attributes: { type: 'test.reply' },
      subscriber: 'quiet',
    }),
    ...configMapSource(NAMESPACE, 'config-maps', 'main'),
  );
}, OPEN_WITHIN_MS);

afterAll(() => world.close());

const ofEvent = (seen: readonly Seen[], id: string): readonly Seen[] =>
  seen.filter((one) => one.id === id);

const seenBy = async (service: string, id: string): Promise<readonly Seen[]> =>
  ofEvent(await world.rig.seen(service), id);

async function sent(type: string): Promise<string> {
  const id = randomUUID();
  const { statusCode } = await world.rig.send('main', binaryEvent(type, id), '{"of":"a test"}');
  expect(statusCode).toBe(202);
  return id;
}

describe('through the ingress', () => {
  test('a plain HTTP call is answered with JSON', async () => {
    const answer = await world.rig.call('quiet', { 'content-type': 'application/json' }, '{}');
    expect(answer).toEqual({
      statusCode: 200,
      contentType: 'application/json',
      text: '{"seen":true}',
    });
  });

  test('an event is answered with nothing', async () => {
    const answer = await world.rig.call('quiet', binaryEvent('test.direct', 'direct-1'), '{}');
    expect(answer).toMatchObject({ statusCode: 204, text: '' });
  });
});

describe('a reply', () => {
  test('of nothing ends a delivery', async () => {
    const id = await sent('test.quiet');
    await eventually(async () => expect(await seenBy('quiet', id)).toHaveLength(1));
    // Whatever was sent after it and came to an end through all its tries.
    const later = await sent('test.refuser');
    await eventually(async () => expect(await seenBy('dead-letters', later)).toHaveLength(1));
    expect(await seenBy('quiet', id)).toHaveLength(1);
    expect(await seenBy('dead-letters', id)).toEqual([]);
  });

  test('of JSON fails the delivery: the event comes again and ends as a dead letter', async () => {
    const id = await sent('test.talker');
    await eventually(async () => expect(await seenBy('dead-letters', id)).toHaveLength(1));
    expect(await seenBy('talker', id)).toHaveLength(3);
  });
});

test('an event that its function refuses becomes a dead letter that tells why', async () => {
  const id = await sent('test.refuser');
  const [letter] = await eventually(async () => {
    const letters = await seenBy('dead-letters', id);
    expect(letters).toHaveLength(1);
    return letters;
  });
  expect(letter?.headers).toMatchObject({
    'ce-type': 'test.refuser',
    'ce-knativeerrorcode': '500',
  });
  expect(letter?.headers['ce-knativeerrordest']).toContain('refuser');
});

test('an object that appears wakes a function at zero, whose reply goes on', async () => {
  const { rig } = world;
  await eventually(async () => expect(await rig.instances('sleeper')).toBe(0));
  const name = `woken-by-${randomUUID()}`;
  await rig.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name },
  });
  const reply = await eventually(async () => {
    const replies = (await rig.seen('quiet')).filter(
      ({ type, headers }) => type === 'test.reply' && headers['ce-about'] === name,
    );
    expect(replies).toHaveLength(1);
    return replies[0];
  });
  expect(reply?.id).toMatch(/^reply-to-/);
  // One was enough; it may be on its way to zero again by now.
  expect(await rig.instances('sleeper')).toBeLessThanOrEqual(1);
});

describe('a part of the broker that is killed', () => {
  test.each(['ingress', 'filter'])('its %s: events meanwhile are not lost', async (role) => {
    const { rig } = world;
    const app = `eventing.knative.dev/brokerRole=${role}`;
    const before = await rig.kill(app, 'knative-eventing');
    const id = await eventually(() => sent('test.quiet'));
    // While the filter is away, all tries may go by: then it is a dead letter, and not lost.
    await eventually(async () => {
      const seen = [...(await seenBy('quiet', id)), ...(await seenBy('dead-letters', id))];
      expect(seen).not.toEqual([]);
    });
    const later: string[] = [];
    await eventually(async () => {
      later.push(await sent('test.quiet'));
      const seen = await rig.seen('quiet');
      expect(seen.some((one) => later.includes(one.id))).toBe(true);
    });
    const now = await rig.pods(app, 'knative-eventing');
    expect(now.filter(({ metadata }) => before.includes(metadata.uid))).toEqual([]);
  });
});
