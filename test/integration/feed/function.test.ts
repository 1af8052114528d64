// The metadata function against a real API server and a real NATS: whatever happened to the events,
// the feed shows what the API server holds, at the latest after a sweep.
import { expect, test } from 'vitest';
import type { Stream } from '../../../shared/nats/stream.ts';
import { isTombstone } from '../../../shared/feed/messages.ts';
import { FLOOR_SUBJECT } from '../../../shared/feed/subjects.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { annotatePod, bindPod, createPod, labelPod, removePod } from './objects.ts';
import { AT_THEIR_WORD, type FeedWorld, soon } from './world.ts';
import { withFeedEach } from './each.ts';

let world: FeedWorld;
let feed = '';
let stream: Stream;

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  await world.createFeed(feed);
});

const difference = (): Promise<readonly string[]> => world.difference(stream);

/** The events that the source would send about a pod from its birth to its end. */
async function lifeOf(
  name: string,
): Promise<readonly { readonly verb: 'add' | 'update' | 'delete'; readonly object: KubeObject }[]> {
  return [
    { verb: 'add', object: await createPod(world.kube, name) },
    { verb: 'update', object: await bindPod(world.kube, name, 'n1') },
    { verb: 'update', object: await labelPod(world.kube, name, { step: '1' }) },
    { verb: 'update', object: await labelPod(world.kube, name, { step: '2' }) },
    { verb: 'delete', object: await removePod(world.kube, name) },
  ];
}

const renamed = (object: KubeObject, name: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, name, uid: `uid-of-${name}` },
});

function permutations(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item) =>
    permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

test('the first sweep publishes everything that there is, and says so', async () => {
  await createPod(world.kube, 'a', 'n1');
  await createPod(world.kube, 'waits');
  const { sweep } = await world.startFunction();
  expect(await sweep()).toBe(204);
  expect(await difference()).toEqual([]);
  const status = await world.status(feed);
  expect(status).toMatchObject({ epoch: 1, observedGeneration: 1 });
  expect(status.conditions).toMatchObject([
    { type: 'Ready', status: 'True' },
    { type: 'InSync', status: 'True' },
    { type: 'Degraded', status: 'False' },
  ]);
  expect(status.resources?.map(({ name, objects }) => [name, objects])).toContainEqual(['pods', 2]);
});

test('the first event of a new feed publishes everything that there is', async () => {
  await createPod(world.kube, 'before', 'n1');
  const { change } = await world.startFunction();
  expect(await change(await createPod(world.kube, 'a', 'n1'), 'add')).toBe(204);
  expect(await difference()).toEqual([]);
});

test('events are carried out as they come: add, update, bind, delete', async () => {
  const { change, sweep } = await world.startFunction();
  await sweep();
  await change(await createPod(world.kube, 'a'), 'add');
  expect(await difference()).toEqual([]);
  await change(await labelPod(world.kube, 'a', { app: 'web' }), 'update');
  expect(await difference()).toEqual([]);
  await change(await bindPod(world.kube, 'a', 'n1'), 'update');
  expect(await difference()).toEqual([]);
  await change(await removePod(world.kube, 'a'), 'delete');
  expect(await difference()).toEqual([]);
});

test('a sweep finds what no event told, and counts it as healed', async () => {
  const { sweep } = await world.startFunction();
  await createPod(world.kube, 'stays', 'n1');
  await createPod(world.kube, 'goes', 'n1');
  await sweep();
  await removePod(world.kube, 'goes');
  await createPod(world.kube, 'comes');
  await labelPod(world.kube, 'stays', { app: 'web' });
  await sweep();
  expect(await difference()).toEqual([]);
  const { events } = await world.status(feed);
  expect(events?.healed).toBeGreaterThanOrEqual(3);
});

test('a history that is longer than what is held at once is carried out to its end', async () => {
  const { sweep, change } = await world.startFunction();
  await sweep();
  const pods = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  await Promise.all(pods.map((name) => createPod(world.kube, name, 'n1')));
  // Only the newest state of one of them is told: what the history says first is older.
  for (let step = 0; step < 150; step += 1) {
    await Promise.all(pods.map((name) => labelPod(world.kube, name, { step: `${step}` })));
  }
  await change(await labelPod(world.kube, 'a', { step: 'last' }), 'update');
  await sweep();
  expect(await difference()).toEqual([]);
  const { resources = [], events } = await world.status(feed);
  expect(resources.find(({ name }) => name === 'pods')).toMatchObject({ objects: 8 });
  expect(events).toMatchObject({ unfounded: 0 });
});

test('a cluster at rest costs the stream nothing but the floor', async () => {
  const { sweep } = await world.startFunction();
  for (const name of ['a', 'b', 'c']) await createPod(world.kube, name, 'n1');
  await sweep();
  await sweep();
  const before = await stream.state(soon());
  await sweep();
  const after = await stream.state(soon());
  expect(after).toEqual({ ...before, lastSequence: before.lastSequence + 1 });
});

test('a change that shows nowhere publishes nothing', async () => {
  const { change, sweep } = await world.startFunction();
  const pod = await createPod(world.kube, 'a', 'n1');
  await sweep();
  const before = await stream.state(soon());
  const annotated = await annotatePod(world.kube, 'a', { note: 'x' });
  expect(annotated.metadata.resourceVersion).not.toBe(pod.metadata.resourceVersion);
  expect(await change(annotated, 'update')).toBe(204);
  expect(await stream.state(soon())).toEqual(before);
});

test('every order of five events ends the same: the object is gone', async () => {
  const { change, sweep } = await world.startFunction(AT_THEIR_WORD);
  await sweep();
  const events = await lifeOf('p');
  const seen: string[][] = [];
  for (const order of permutations([0, 1, 2, 3, 4]).filter((_, index) => index % 6 === 0)) {
    const name = `p${order.join('')}`;
    for (const index of order) {
      const event = events[index];
      if (event !== undefined) await change(renamed(event.object, name), event.verb);
    }
    const messages = await world.published(stream);
    seen.push(
      [...messages]
        .filter(([subject, message]) => subject.endsWith(`.${name}`) && !isTombstone(message))
        .map(([subject]) => subject),
    );
  }
  expect(seen.flat()).toEqual([]);
});

test('five instances that take the same events and sweep at once agree', async () => {
  const senders = await Promise.all(Array.from({ length: 5 }, () => world.startFunction()));
  const pods = await Promise.all(
    Array.from({ length: 20 }, (_, index) => createPod(world.kube, `p${index}`, `n${index % 3}`)),
  );
  const answers = await Promise.all(
    senders.flatMap(({ sweep, change }) => [sweep(), ...pods.map((pod) => change(pod, 'add'))]),
  );
  expect(answers.filter((status) => status !== 204 && status !== 503)).toEqual([]);
  await senders[0]?.sweep();
  expect(await difference()).toEqual([]);
});

test('a claim without ground does not outlive a sweep, and is told', async () => {
  const { change, sweep } = await world.startFunction(AT_THEIR_WORD);
  const pod = await createPod(world.kube, 'real', 'n1');
  await sweep();
  const future = { resourceVersion: '999999999', labels: { forged: 'yes' } };
  await change({ ...pod, metadata: { ...pod.metadata, ...future } }, 'update');
  await change(renamed(pod, 'ghost'), 'add');
  expect((await world.shown(stream)).get('node.n1.pods.default.ghost')).toBeDefined();
  await sweep();
  expect(await difference()).toEqual([]);
  expect((await world.status(feed)).events).toMatchObject({ unfounded: 1, healed: 1 });
});

test('a claim that an object is gone does not outlive a sweep', async () => {
  const { change, sweep } = await world.startFunction(AT_THEIR_WORD);
  const pod = await createPod(world.kube, 'real', 'n1');
  await sweep();
  const future = { ...pod.metadata, resourceVersion: '999999999' };
  await change({ ...pod, metadata: future }, 'delete');
  expect((await world.shown(stream)).has('node.n1.pods.default.real')).toBe(false);
  await sweep();
  expect(await difference()).toEqual([]);
});

test('a uid that changes under one name, on another node, leaves nothing behind', async () => {
  const { sweep } = await world.startFunction();
  await createPod(world.kube, 'a', 'n1');
  await sweep();
  await removePod(world.kube, 'a');
  await createPod(world.kube, 'a', 'n2');
  await sweep();
  expect(await difference()).toEqual([]);
});

test('messages that somebody removed by hand are back after one sweep', async () => {
  const { sweep } = await world.startFunction();
  await createPod(world.kube, 'a', 'n1');
  await createPod(world.kube, 'b', 'n1');
  await sweep();
  await world.purge(stream, 'node.n1.pods.default.a');
  expect((await world.shown(stream)).has('node.n1.pods.default.a')).toBe(false);
  await sweep();
  expect(await difference()).toEqual([]);
});

test('a message that somebody else wrote is overwritten by the sweep', async () => {
  const { sweep } = await world.startFunction();
  await createPod(world.kube, 'a', 'n1');
  await sweep();
  const subject = `${stream.settings.prefix}.node.n1.pods.default.a`;
  const there = (await stream.last([subject], soon())).get(subject);
  const data = new TextEncoder().encode('{"hello":1}');
  await stream.publish([{ subject, data, expectedSequence: there?.sequence ?? 0 }], soon());
  await sweep();
  expect(await difference()).toEqual([]);
});

test('a floor that comes between a change and the sweep keeps no checkpoint away', async () => {
  const { sweep, change } = await world.startFunction();
  await sweep();
  const name = 'late';
  const { object } = await world.kube.create(
    { group: '', version: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${name}-${feed}` } },
  );
  await change(object, 'add');
  const { lastSequence } = await stream.state(soon());
  const floor = `${stream.settings.prefix}.${FLOOR_SUBJECT}`;
  const there = (await stream.last([floor], soon())).get(floor);
  const data = new TextEncoder().encode('{"version":0}');
  await stream.publish([{ subject: floor, data, expectedSequence: there?.sequence ?? 0 }], soon());
  await sweep();
  const checkpoint = `${stream.settings.prefix}.all._.checkpoint`;
  const written = (await stream.last([checkpoint], soon())).get(checkpoint);
  expect(written?.sequence).toBeGreaterThan(lastSequence);
});

test('a stream that was deleted is made anew by the next sweep, in a new epoch', async () => {
  const { sweep } = await world.startFunction();
  await createPod(world.kube, 'a', 'n1');
  await sweep();
  const before = await world.status(feed);
  await world.deleteStream(stream);
  expect(await sweep()).toBe(204);
  expect(await difference()).toEqual([]);
  const after = await world.status(feed);
  expect(after.epoch).toBe((before.epoch ?? 0) + 1);
  expect(after.streamId).not.toBe(before.streamId);
});

test('a status that was lost begins a new epoch', async () => {
  const { sweep } = await world.startFunction();
  await createPod(world.kube, 'a', 'n1');
  await sweep();
  await world.removeFeed(feed);
  await world.createFeed(feed);
  await sweep();
  expect(await difference()).toEqual([]);
  expect((await world.status(feed)).epoch).toBe(2);
});
