// A replica that differs from what a checkpoint says: it says so, heals itself once, and does not
// go round in circles when it is the checkpoint that is wrong.
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { BookmarkEntry } from '../../../shared/nats/replica/bookmark.ts';
import {
  PATIENCE,
  type World,
  heldBy,
  node1,
  pod,
  standingClock,
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

/** Pauses take next to no time, so that what is repeated after one would be seen at once. */
const clock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1), signal),
};

test('a message that never came is found by the next checkpoint, and healed', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  await feed.put(node1, pod('lost'));
  await feed.put(node1, pod('ghost'));
  const before = world.reader(feed, node1);
  await before.whenCurrent();
  const { entries, ...bookmark } = stored(before);
  const kept = entries.filter(([subject]) => !subject.endsWith('.lost'));
  await feed.purge(node1, pod('ghost'));
  const replica = world.reader(feed, node1, {
    resumeFrom: { ...bookmark, entries: kept },
    clock,
  });
  await replica.whenCurrent();
  const phases: string[] = [];
  replica.watchState(({ phase, why = '' }) => phases.push(`${phase} ${why}`));
  const lines = told(replica);
  const checkpoint = await feed.checkpoint('node.n1');
  await expect.poll(() => replica.counts.heals, PATIENCE).toBe(1);
  await replica.whenCurrent();
  // It may call itself stale before, by this clock.
  const first = phases.find((phase) => phase !== 'current ');
  expect(first).toContain(`wrong the checkpoint of node.n1 at ${checkpoint} says 2 objects`);
  expect(heldBy(replica)).toEqual(feed.alive());
  expect(replica.counts).toMatchObject({ digestMismatches: 1, heals: 1, snapshots: 1 });
  expect(replica.state.verifiedVersion).toBe(checkpoint);
  await expect
    .poll(() => lines.slice(2))
    .toEqual(['added node.n1.pods.web.lost', 'removed node.n1.pods.web.ghost']);
});

test('what the lost end of a stream left is healed, however high its sequence', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const before = world.reader(feed, node1);
  await before.whenCurrent();
  const { entries, ...bookmark } = stored(before);
  const lost = entries.map(([subject, version, high, , object]): BookmarkEntry => {
    return [subject, version + 1_000, high, 0, { ...object, phase: 'Failed' }];
  });
  const replica = world.reader(feed, node1, { resumeFrom: { ...bookmark, entries: lost }, clock });
  await replica.whenCurrent();
  await feed.checkpoint('node.n1');
  await expect.poll(() => heldBy(replica), PATIENCE).toEqual(feed.alive());
  await replica.whenCurrent();
  expect(replica.counts).toMatchObject({ digestMismatches: 1, heals: 1, snapshots: 1 });
});

test('a checkpoint that is wrong itself costs one snapshot, not one after the other', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replica = world.reader(feed, node1, { clock });
  await replica.whenCurrent();
  await feed.checkpoint('node.n1', { objects: 5 });
  await expect.poll(() => replica.counts.snapshots, PATIENCE).toBe(2);
  await untilPhase(replica, 'wrong');
  const last = await feed.put(node1, pod('b'));
  await expect.poll(() => replica.state.version, PATIENCE).toBe(last);
  expect(replica.state.phase).toBe('wrong');
  expect(stored(replica).version).toBe(0);
  expect(replica.counts).toMatchObject({ digestMismatches: 1, heals: 1, snapshots: 2 });
  const minVersion = await feed.checkpoint('node.n1');
  await replica.whenCurrent({ minVersion });
  expect(replica.counts).toMatchObject({ digestMismatches: 1, heals: 1, snapshots: 2 });
});

test('a checkpoint that forgotten deletes may have followed accuses nobody', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  await feed.put(node1, pod('b'));
  const checkpoint = await feed.checkpoint('node.n1');
  await feed.purge(node1, pod('b'));
  await feed.floor(checkpoint + 1);
  const replica = world.reader(feed, node1);
  await replica.whenCurrent();
  expect(replica.state.verifiedVersion).toBeUndefined();
  expect(replica.counts.digestMismatches).toBe(0);
});

test('a live message that was missed is noticed by the next one on its subject', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replica = world.reader(feed, node1);
  await replica.whenCurrent();
  await feed.silently(async () => {
    await feed.put(node1, pod('a'));
    await feed.put(node1, pod('b'));
  });
  await feed.put(node1, pod('a'));
  await untilEqual(replica, feed);
  await replica.whenCurrent();
  expect(replica.counts).toMatchObject({ gaps: 1, resumes: 1, snapshots: 1 });
});

test('also when others came in between, and nothing else is missing', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replica = world.reader(feed);
  await replica.whenCurrent();
  await feed.silently(async () => void (await feed.put(node1, pod('a'))));
  await feed.put(node1, pod('b'));
  await feed.put(node1, pod('a'));
  await untilEqual(replica, feed);
  await replica.whenCurrent();
  expect(replica.counts).toMatchObject({ gaps: 1, resumes: 1, snapshots: 1 });
});

test('as long as it knows that something is missing, it does not call itself current', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replica = world.reader(feed, 'cluster', { clock: standingClock });
  await replica.whenCurrent();
  await feed.silently(async () => void (await feed.put(node1, pod('a'))));
  await feed.put(node1, pod('a'));
  await expect.poll(() => replica.counts.gaps, PATIENCE).toBe(1);
  expect(replica.state.phase).toBe('catching-up');
});
