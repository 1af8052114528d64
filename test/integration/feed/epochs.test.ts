// An epoch that ends while somebody works in it: nothing of it may be written into the next one.
import { expect, test } from 'vitest';
import { MARKER_SUBJECT } from '../../../shared/feed/subjects.ts';
import { decodeMarker } from '../../../shared/feed/messages.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { withFeedEach } from './each.ts';
import { createPod, labelPod } from './objects.ts';
import { type FeedWorld, type Sender, soon } from './world.ts';

const LONG = { timeout: 20_000 };

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' };
const note = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'note', namespace: 'default' },
};

let world: FeedWorld;
let stream: Stream;
let sender: Sender;
let other: Sender;

withFeedEach(async (given) => {
  ({ world, stream } = given);
  await world.createFeed(given.feed);
  sender = await world.startFunction();
  other = await world.startFunction();
  await createPod(world.kube, 'a', 'n1');
  await sender.sweep();
});

async function marker() {
  const subject = `${stream.settings.prefix}.${MARKER_SUBJECT}`;
  const stored = (await stream.last([subject], soon())).get(subject);
  return stored === undefined ? undefined : decodeMarker(stored.data);
}

const epochs = async (): Promise<ReadonlySet<number>> =>
  new Set([...(await world.published(stream)).values()].map(({ epoch }) => epoch));

test('a sweep that outlives its epoch writes nothing into the next one', async () => {
  // A change of nothing that is shown: the API server takes seconds to say that this was all.
  await world.kube.create(CONFIG_MAPS, note);
  // With it a sweep begins to settle in which epoch it is; what is left takes two round trips.
  const begun = await world.listen(stream);
  const late = sender.sweep();
  await begun.requested;
  for (let left = 20; left > 0; left -= 1) await marker();
  await world.deleteStream(stream);
  const sweptByOther = async () => {
    await other.sweep();
    return marker();
  };
  await expect.poll(sweptByOther, LONG).toMatchObject({ epoch: 2, ready: true });
  // The next stream is soon longer than the one before was.
  for (let step = 0; step < 20; step += 1) {
    await other.change(await labelPod(world.kube, 'a', { step: `${step}` }), 'update');
  }
  expect(await late).toBe(503);
  expect(await marker()).toMatchObject({ epoch: 2, ready: true });
  expect(await epochs()).toEqual(new Set([2]));
  expect(await world.difference(stream)).toEqual([]);
});

test('an event in an instance that missed the next epoch is told in it, and at once', async () => {
  await other.change(await labelPod(world.kube, 'a', { step: '1' }), 'update');
  await world.deleteStream(stream);
  await expect.poll(() => sender.sweep(), LONG).toBe(204);
  expect(await other.change(await labelPod(world.kube, 'a', { step: '2' }), 'update')).toBe(204);
  expect(await world.difference(stream)).toEqual([]);
  expect(await epochs()).toEqual(new Set([2]));
});

test('so is an object that is new, of which nothing stands that tells of the epoch', async () => {
  await other.change(await labelPod(world.kube, 'a', { step: '1' }), 'update');
  await world.deleteStream(stream);
  await expect.poll(() => sender.sweep(), LONG).toBe(204);
  expect(await other.change(await createPod(world.kube, 'b', 'n1'), 'add')).toBe(204);
  expect(await world.difference(stream)).toEqual([]);
  expect(await epochs()).toEqual(new Set([2]));
});
