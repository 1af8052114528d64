// Faults of NATS and a replica: it goes on by itself, keeps what it holds meanwhile, and is exact
// again.
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import type { FeedWriter } from '../../builders/feed-writer.ts';
import {
  PATIENCE,
  World,
  heldBy,
  node1,
  pod,
  stored,
  told,
  untilEqual,
  untilPhase,
} from './world.ts';

let plane: Plane;
let world: World;
let server: Part;

beforeEach(async () => {
  plane = await startPlane({ parts: ['nats-server'] });
  server = plane.part('nats-server');
  world = new World(server);
});

afterEach(async () => {
  await world.close();
  await plane.stop();
});

/** As each sweep does, the writer puts the floor, whatever stands there. */
async function untilWritable(feed: FeedWriter): Promise<void> {
  await expect.poll(() => feed.floor(0).catch(() => 0), PATIENCE).toBeGreaterThan(0);
}

test('a server that is away and comes back with its disk: it reads on', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replicas = [world.reader(feed), world.reader(feed, node1)];
  for (const replica of replicas) await replica.whenCurrent();
  await server.stop();
  for (const replica of replicas) await untilPhase(replica, 'connecting');
  expect(replicas.map(({ catalog }) => catalog.size)).toEqual([1, 1]);
  await server.start();
  await expect.poll(() => feed.put(node1, pod('b')).catch(() => 0), PATIENCE).toBeGreaterThan(0);
  for (const replica of replicas) {
    await untilEqual(replica, feed);
    await untilPhase(replica, 'current');
    expect(replica.counts).toMatchObject({ snapshots: 1, digestMismatches: 0 });
    expect(replica.counts.resumes).toBeGreaterThan(0);
  }
});

test('killed and without its disk: it waits for the feed, and follows the new one', async () => {
  const feed = await world.feed();
  for (const name of ['a', 'b', 'c']) await feed.put(node1, pod(name));
  const replica = world.reader(feed, node1);
  await replica.whenCurrent();
  const lines = told(replica);
  await server.kill();
  await rm(join(plane.dir, 'data', 'nats'), { recursive: true });
  await server.start();
  await untilPhase(replica, 'waiting');
  expect(replica.catalog.size).toBe(3);
  await expect
    .poll(
      () =>
        feed.begin().then(
          () => true,
          () => false,
        ),
      PATIENCE,
    )
    .toBe(true);
  await feed.put(node1, pod('c'), { phase: 'Running' });
  await untilEqual(replica, feed);
  await untilPhase(replica, 'current');
  expect(lines.slice(3).toSorted()).toEqual([
    'changed node.n1.pods.web.c',
    'removed node.n1.pods.web.a',
    'removed node.n1.pods.web.b',
  ]);
});

test('back from an older disk: what was read of the lost end does not outlive it', async () => {
  const feed = await world.feed();
  for (const name of ['a', 'b']) await feed.put(node1, pod(name));
  const known = new Map(feed.held);
  const data = join(plane.dir, 'data', 'nats');
  await server.stop();
  await cp(data, `${data}-old`, { recursive: true });
  await server.start();
  await untilWritable(feed);
  for (const name of ['c', 'd', 'e', 'a']) await feed.put(node1, pod(name));
  const replica = world.reader(feed, node1);
  await replica.whenCurrent();
  const bookmark = stored(replica);
  await server.stop();
  await untilPhase(replica, 'connecting');
  await rm(data, { recursive: true });
  await cp(`${data}-old`, data, { recursive: true });
  await server.start();
  feed.held.clear();
  for (const [subject, held] of known) feed.held.set(subject, held);
  const again = world.reader(feed, node1, { resumeFrom: bookmark });
  for (const each of [replica, again]) await untilPhase(each, 'current');
  await untilWritable(feed);
  await feed.put(node1, pod('a'), { phase: 'Failed' });
  await feed.checkpoint('node.n1');
  const late = world.reader(feed, node1, { resumeFrom: bookmark });
  await late.whenCurrent();
  // Nothing was said since it came. The next sweep says something.
  await untilWritable(feed);
  for (const each of [replica, again, late]) {
    await untilEqual(each, feed);
    await untilPhase(each, 'current');
    expect(heldBy(each)).toEqual(feed.alive());
  }
});

test('paused in the middle of a catch-up: it asks again', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const first = world.reader(feed);
  await first.whenCurrent();
  await server.pause();
  const replica = world.reader(feed);
  await expect.poll(() => replica.state.why, PATIENCE).toBeDefined();
  server.resume();
  await untilEqual(replica, feed);
  await feed.put(node1, pod('b'));
  await untilEqual(replica, feed);
  await untilEqual(first, feed);
});

test('no server at all is said, not thrown, and ends with close', async () => {
  await server.stop();
  const replica = world.reader({ feed: 'nowhere' });
  await expect.poll(() => replica.state.why, PATIENCE).toContain('cannot be reached');
  expect(replica.state.phase).toBe('connecting');
  const waiting = replica.whenCurrent();
  await Promise.all([expect(waiting).rejects.toThrow('closed'), replica.close()]);
  expect(heldBy(replica)).toEqual({});
});
