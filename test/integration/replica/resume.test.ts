// A replica that comes back, or whose feed does: it reads what happened since as far as the feed
// still knows, and else the snapshot; what is gone is told either way.
import { expect, test } from 'vitest';
import {
  standingClock,
  PATIENCE,
  type World,
  heldBy,
  node1,
  node2,
  pod,
  stored,
  told,
  untilEqual,
  untilPhase,
  withWorld,
} from './world.ts';

let world: World;

withWorld((opened) => {
  world = opened;
});

test('across a restart it reads what happened since, deletes included', async () => {
  const feed = await world.feed();
  for (const name of ['stays', 'changes', 'goes']) await feed.put(node1, pod(name));
  await feed.checkpoint('node.n1');
  const before = world.reader(feed, node1);
  await before.whenCurrent();
  const bookmark = stored(before);
  await before.close();
  await feed.put(node1, pod('changes'), { phase: 'Running' });
  await feed.remove(node1, pod('goes'));
  await feed.put(node1, pod('comes'));
  const checkpoint = await feed.checkpoint('node.n1');
  const after = world.reader(feed, node1, { resumeFrom: bookmark });
  expect(after.catalog.size).toBe(3);
  const lines = told(after);
  await after.whenCurrent();
  expect(heldBy(after)).toEqual(feed.alive());
  expect(after.counts).toMatchObject({ resumes: 1, snapshots: 0, digestMismatches: 0 });
  expect(after.state.verifiedVersion).toBe(checkpoint);
  await expect
    .poll(() => lines.slice(3))
    .toEqual([
      'changed node.n1.pods.web.changes',
      'removed node.n1.pods.web.goes',
      'added node.n1.pods.web.comes',
    ]);
});

test('below the floor it takes the snapshot, and tells what is gone', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  await feed.put(node1, pod('forgotten'));
  const before = world.reader(feed);
  await before.whenCurrent();
  const bookmark = stored(before);
  await before.close();
  // As if its tombstone had been there and were over.
  await feed.purge(node1, pod('forgotten'));
  await feed.floor(await feed.put(node1, pod('b')));
  const after = world.reader(feed, 'cluster', { resumeFrom: bookmark });
  const lines = told(after);
  await after.whenCurrent();
  expect(heldBy(after)).toEqual(feed.alive());
  expect(after.counts).toMatchObject({ resumes: 0, snapshots: 1 });
  await expect
    .poll(() => lines.slice(2))
    .toEqual(['added node.n1.pods.web.b', 'removed node.n1.pods.web.forgotten']);
});

test('without a floor nobody knows what was forgotten: it takes the snapshot', async () => {
  const feed = await world.writer();
  await feed.create();
  await feed.mark();
  await feed.put(node1, pod('a'));
  const before = world.reader(feed);
  await before.whenCurrent();
  const bookmark = stored(before);
  const after = world.reader(feed, 'cluster', { resumeFrom: bookmark });
  await after.whenCurrent();
  expect(after.counts).toMatchObject({ resumes: 0, snapshots: 1 });
});

test('a stream that was made anew is followed, whichever sequences it begins with', async () => {
  const feed = await world.feed();
  for (const name of ['a', 'b', 'c', 'd']) await feed.put(node1, pod(name));
  const replica = world.reader(feed);
  await replica.whenCurrent();
  const lines = told(replica);
  await feed.delete();
  await feed.begin();
  await feed.put(node1, pod('d'), { resourceVersion: '4' });
  const minVersion = await feed.put(node2, pod('e'));
  await untilEqual(replica, feed);
  await replica.whenCurrent({ minVersion });
  expect(lines).not.toContain('resync');
  expect(lines.slice(4).toSorted()).toEqual([
    'added node.n2.pods.web.e',
    'removed node.n1.pods.web.a',
    'removed node.n1.pods.web.b',
    'removed node.n1.pods.web.c',
  ]);
});

test('a stream that was made anew while nobody was told is noticed by its sequences', async () => {
  const feed = await world.feed();
  for (const name of ['a', 'b', 'c', 'd']) await feed.put(node1, pod(name));
  const replica = world.reader(feed);
  await replica.whenCurrent();
  await feed.put(node1, pod('e'));
  await untilEqual(replica, feed);
  await feed.delete();
  await feed.create();
  await feed.silently(async () => {
    await feed.mark({ id: 'another', epoch: 2 });
    await feed.put(node1, pod('a'));
  });
  await feed.put(node1, pod('d'));
  await untilEqual(replica, feed);
  await replica.whenCurrent();
  expect(replica.counts).toMatchObject({ gaps: 1, snapshots: 2 });
});

test('while the feed is filled again, what was held stays, and differences are told', async () => {
  const feed = await world.feed();
  const [first] = [await feed.put(node1, pod('a'), { resourceVersion: '7' })];
  await feed.put(node1, pod('b'));
  const replica = world.reader(feed);
  await replica.whenCurrent();
  const lines = told(replica);
  await feed.mark({ id: 'another', epoch: 2, ready: false });
  await untilPhase(replica, 'waiting');
  await feed.put(node1, pod('a'), { resourceVersion: '7' });
  expect(heldBy(replica)['node.n1.pods.web.a']).toBe(first);
  await feed.remove(node1, pod('b'));
  await feed.mark({ ready: true });
  await untilPhase(replica, 'current');
  await untilEqual(replica, feed);
  expect(lines.slice(2)).toEqual(['removed node.n1.pods.web.b']);
});

test('before there is a feed it waits, and begins by itself when there is one', async () => {
  const feed = await world.writer();
  const replica = world.reader(feed, node1, { clock: standingClock });
  await untilPhase(replica, 'waiting');
  expect(replica.state.why).toContain('no such feed');
  await feed.create();
  await feed.raw('all._.feed', '{"format":2,"id":"x","epoch":1,"ready":true}');
  await expect.poll(() => replica.state.why, PATIENCE).toContain('not of format 1');
  await feed.begin({ ready: false });
  await feed.put(node1, pod('a'));
  await expect.poll(() => replica.state.why, PATIENCE).toContain('being filled');
  expect(replica.catalog.size).toBe(0);
  await feed.mark({ ready: true });
  await untilEqual(replica, feed);
  await replica.whenCurrent();
});

test('what comes while it catches up may be more than is kept', async () => {
  const feed = await world.feed();
  const keys = Array.from({ length: 600 }, (_, index) => pod(`p${index}`));
  await Promise.all(keys.map((key) => feed.put(node1, key)));
  const replica = world.reader(feed, 'cluster', { bufferLimits: { messages: 1, bytes: 1_000 } });
  const hammer = async (): Promise<void> => {
    for (const key of keys) await feed.put(node1, key, { phase: 'Running' });
    for (const key of keys.slice(0, 50)) await feed.remove(node1, key);
  };
  await Promise.all([hammer(), replica.whenCurrent()]);
  await untilEqual(replica, feed);
  expect(replica.counts.digestMismatches).toBe(0);
});
