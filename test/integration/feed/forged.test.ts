// Events that nobody of the cluster sent, to a function as it ships: no tokens are asked for, and
// nothing is published on the word of an event. They show nobody what is not so.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { openReplica } from '../../../shared/nats/replica/replica.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import { withFeedEach } from './each.ts';
import { annotatePod, bindPod, createPod, labelPod, removePod } from './objects.ts';
import { type FeedWorld, type Sender, soon } from './world.ts';

let world: FeedWorld;
let feed = '';
let stream: Stream;
let sender: Sender;

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  await world.createFeed(feed);
  sender = await world.startFunction();
  await sender.sweep();
});

const forged = (object: KubeObject, metadata: object, spec: object = {}): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
  spec: { ...(object['spec'] as object), ...spec },
});

test('a forged pod is never served to a reader', async () => {
  const real = await createPod(world.kube, 'real', 'n1');
  await sender.change(real, 'add');
  const { lastSequence } = await stream.state(soon());
  const made = { name: 'made-up', uid: 'made-up' };
  expect(await sender.change(forged(real, made), 'add')).toBe(204);
  const elsewhere = { resourceVersion: '99999999999999999999' };
  expect(await sender.change(forged(real, elsewhere, { nodeName: 'n9' }), 'update')).toBe(204);
  expect(await sender.change(forged(real, elsewhere), 'delete')).toBe(204);
  const another = { uid: 'another', labels: { forged: 'yes' } };
  expect(await sender.change(forged(real, another), 'update')).toBe(204);
  expect(await sender.change(forged(real, another), 'delete')).toBe(204);
  expect(await world.changedSince(stream, lastSequence)).toEqual([]);
  expect(await world.difference(stream)).toEqual([]);
  const url = world.plane.part('nats-server').urls?.['reader'] ?? '';
  const replica = openReplica({ url, feed, scope: 'cluster', name: 'test' });
  await replica.whenCurrent({ signal: soon() });
  expect(replica.catalog.byUid('made-up')).toEqual([]);
  expect(replica.catalog.byUid('another')).toEqual([]);
  expect(replica.catalog.byUid(real.metadata.uid)).toHaveLength(1);
  await replica.close();
});

test('what is so is published as it comes: birth, a node, the end', async () => {
  await sender.change(await createPod(world.kube, 'a'), 'add');
  expect(await world.difference(stream)).toEqual([]);
  await sender.change(await bindPod(world.kube, 'a', 'n1'), 'update');
  expect(await world.difference(stream)).toEqual([]);
  await sender.change(await removePod(world.kube, 'a'), 'delete');
  expect(await world.difference(stream)).toEqual([]);
});

test.each([
  ['its end', 'delete', 'n2'],
  ['its end, while the new one waits for a node', 'delete', undefined],
  ['a change of its earlier life', 'update', 'n2'],
] as const)('a pod made again elsewhere is there alone, told by %s', async (_what, verb, node) => {
  const first = await createPod(world.kube, 'web-0', 'n1');
  await sender.change(first, 'add');
  const labelled = await labelPod(world.kube, 'web-0', { step: '1' });
  const gone = await removePod(world.kube, 'web-0');
  const { metadata } = await createPod(world.kube, 'web-0', node);
  await sender.change(verb === 'delete' ? gone : labelled, verb);
  expect(await world.difference(stream)).toEqual([]);
  const shown = [...(await world.published(stream)).values()].filter((one) => !('deleted' in one));
  expect(shown.map(({ uid }) => uid)).toContain(metadata.uid);
});

test('a forged delete on the node of another life does not flicker for a reader', async () => {
  const real = await createPod(world.kube, 'real', 'n1');
  await sender.change(real, 'add');
  const { lastSequence } = await stream.state(soon());
  await annotatePod(world.kube, 'real', { step: '1' });
  for (const nodeName of ['n1', 'n9']) {
    await sender.change(forged(real, { uid: 'another' }, { nodeName }), 'delete');
  }
  expect(await world.changedSince(stream, lastSequence)).toEqual([]);
});

// Between accounts it is the end of the answers: a page would end there, and no reader be current.
test('an empty message in the stream is ended by the next sweep', async () => {
  await sender.change(await createPod(world.kube, 'a', 'n1'), 'add');
  const writer = await FeedWriter.open(world.plane.part('nats-server').url, feed);
  await writer.raw('node.n1.pods.web.a', '');
  await writer.close();
  expect(await sender.sweep()).toBe(204);
  const url = world.plane.part('nats-server').urls?.['reader'] ?? '';
  const replica = openReplica({ url, feed, scope: 'cluster', name: 'test' });
  await replica.whenCurrent({ signal: soon() });
  await replica.close();
  expect(await world.difference(stream)).toEqual([]);
});
