// Interleavings that once left something wrong in the stream, each by what happened.
import { expect, test } from 'vitest';
import { isTombstone } from '../../../shared/feed/messages.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { SLICES, bindPod, createPod, labelPod, removePod } from './objects.ts';
import { AT_THEIR_WORD, type FeedWorld, type Sender } from './world.ts';
import { withSweptFeedEach } from './each.ts';

let world: FeedWorld;
let feed = '';
let stream: Stream;
let sender: Sender;

withSweptFeedEach((given) => {
  ({ world, feed, stream, sender } = given);
});

test('a late event of an earlier life on another node does not outlive a sweep', async () => {
  const first = await createPod(world.kube, 'web-0', 'n1');
  await removePod(world.kube, 'web-0');
  await createPod(world.kube, 'web-0', 'n2');
  await sender.sweep();
  await labelPod(world.kube, 'web-0', { step: '1' });
  // Nobody ever published it on n1: nothing there says that the event is late.
  await sender.change({ ...first, metadata: { ...first.metadata, uid: 'earlier' } }, 'update');
  await sender.sweep();
  expect(await world.difference(stream)).toEqual([]);
});

test('a second life opens no door to its own past', async () => {
  const pending = await createPod(world.kube, 'web-0');
  await sender.change(pending, 'add');
  await sender.change(await bindPod(world.kube, 'web-0', 'n1'), 'update');
  await sender.change(await removePod(world.kube, 'web-0'), 'delete');
  const again = await createPod(world.kube, 'web-0');
  await sender.change(await bindPod(world.kube, 'web-0', 'n2'), 'update');
  await sender.change(again, 'add');
  const live = [...(await world.published(stream))].filter(([, message]) => !isTombstone(message));
  expect(live.map(([subject]) => subject).filter((one) => one.includes('.pods.'))).toEqual([
    'node.n2.pods.default.web-0',
  ]);
});

test('an endpoint slice on more nodes than a batch holds is shown, and so is its end', async () => {
  const slice = (nodes: number) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'wide', namespace: 'default' },
    addressType: 'IPv4' as const,
    endpoints: Array.from({ length: nodes }, (_, index) => ({
      addresses: [`10.1.${index >> 8}.${index & 255}`],
      nodeName: `n${index}`,
    })),
  });
  await sender.change(await world.kube.apply(SLICES, slice(1_000), { force: true }), 'add');
  expect(await world.difference(stream)).toEqual([]);
  await sender.change(await world.kube.apply(SLICES, slice(0), { force: true }), 'update');
  expect(await world.difference(stream)).toEqual([]);
  const because = 'the test owns the cluster';
  const target = { namespace: 'default', name: 'wide' };
  await world.kube.delete(SLICES, target, { precondition: 'none', because });
});

test('who was swept by a clock that is ahead does not wait until that time has come', async () => {
  for (let minute = 1; minute <= 3; minute += 1) await sender.sweep();
  const other = await world.startFunction(AT_THEIR_WORD);
  await createPod(world.kube, 'a', 'n1');
  expect(await other.sweep()).toBe(204);
  expect(await world.difference(stream)).toEqual([]);
});

test('names that only RBAC and its like allow are taken from events as from lists', async () => {
  const ref = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' };
  await world.createFeed(`${feed}-roles`, { resources: [ref] });
  expect(await sender.sweep()).toBe(204);
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { namespace: 'default', name: 'Team_A: read, write = all' },
    rules: [],
  };
  const { object } = await world.kube.create(ref, role);
  expect(await sender.change(object, 'add')).toBe(204);
  const shown = (): Promise<readonly string[]> =>
    world.shown(world.stream(`${feed}-roles`)).then((all) => [...all.keys()]);
  const before = await shown();
  expect(before.join(' ')).toContain('Team%5fA');
  const long = { ...role, metadata: { namespace: 'default', name: 'x'.repeat(2_500) } };
  await world.kube.create(ref, long);
  expect(await sender.sweep()).toBe(204);
  expect(await shown()).toEqual(before);
  await world.removeFeed(`${feed}-roles`);
});

test('a feed whose NATS nobody knows stops no other feed', async () => {
  await world.createFeed(`${feed}-lost`, { nats: { secretRef: { name: 'nobody' } } });
  await createPod(world.kube, 'a', 'n1');
  expect(await sender.sweep()).toBe(503);
  expect(await world.difference(stream)).toEqual([]);
  await world.removeFeed(`${feed}-lost`);
});

test('an instance that did not begin the epoch writes in it all the same', async () => {
  const other = await world.startFunction(AT_THEIR_WORD);
  await other.change(await createPod(world.kube, 'a', 'n1'), 'add');
  await world.deleteStream(stream);
  await expect.poll(() => sender.sweep()).toBe(204);
  await other.sweep();
  await other.change(await labelPod(world.kube, 'a', { step: '1' }), 'update');
  expect(await world.difference(stream)).toEqual([]);
  const epochs = [...(await world.published(stream)).values()].map(({ epoch }) => epoch);
  expect(new Set(epochs)).toEqual(new Set([2]));
});

test('a node name that cannot be is refused, and harms nobody beside it', async () => {
  const pod = await createPod(world.kube, 'a', 'n1');
  const odd = { ...pod, spec: { nodeName: 'n'.repeat(5_000) } };
  const [refused, accepted] = await Promise.all([
    sender.change(odd, 'update'),
    sender.change(pod, 'add'),
  ]);
  expect([refused, accepted]).toEqual([422, 204]);
});

test('a forged delete of the far future keeps nobody out who comes by the name', async () => {
  const pod = await createPod(world.kube, 'x', 'n1');
  await sender.sweep();
  const future = { ...pod.metadata, resourceVersion: '999999999' };
  await sender.change({ ...pod, metadata: future }, 'delete');
  await removePod(world.kube, 'x');
  await sender.sweep();
  await sender.change(await createPod(world.kube, 'x', 'n1'), 'add');
  await sender.sweep();
  expect(await world.difference(stream)).toEqual([]);
});

test('an event that comes after the sweep that told its successor changes nothing', async () => {
  const pending = await createPod(world.kube, 'late');
  await bindPod(world.kube, 'late', 'n1');
  const dead = await createPod(world.kube, 'dead', 'n1');
  await removePod(world.kube, 'dead');
  await sender.sweep();
  await sender.change(pending, 'add');
  await sender.change(dead, 'add');
  expect(await world.difference(stream)).toEqual([]);
});
