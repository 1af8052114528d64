// A replica in good times, on a real nats-server: snapshot, then live, in each of the scopes.
import { expect, test } from 'vitest';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { MovedClock } from '../../builders/moved-clock.ts';
import {
  PATIENCE,
  type World,
  heldBy,
  node1,
  node2,
  pod,
  told,
  untilEqual,
  untilPhase,
  withWorld,
} from './world.ts';

let world: World;

withWorld((opened) => {
  world = opened;
});

const namespace = { resource: 'namespaces', namespace: '', name: 'web' } as const;

test('what was there is held, and then each change as it comes', async () => {
  const feed = await world.feed();
  await feed.put('all', namespace, { kind: 'Namespace' });
  await feed.put(node1, pod('a'), { phase: 'Pending' });
  const replica = world.reader(feed);
  expect(replica.state).toEqual({ phase: 'connecting', version: 0 });
  const lines = told(replica);
  await replica.whenCurrent();
  expect(heldBy(replica)).toEqual(feed.alive());
  const changed = await feed.put(node1, pod('a'), { phase: 'Running' });
  await feed.remove('all', namespace);
  const last = await feed.put(node2, pod('b'));
  expect(await replica.whenCurrent({ minVersion: last })).toBe(last);
  expect(heldBy(replica)).toEqual(feed.alive());
  expect(replica.catalog.find(pod('a'))).toMatchObject({
    version: changed,
    object: { phase: 'Running' },
  });
  await expect
    .poll(() => lines)
    .toEqual([
      'added all._.namespaces._.web',
      'added node.n1.pods.web.a',
      'changed node.n1.pods.web.a',
      'removed all._.namespaces._.web',
      'added node.n2.pods.web.b',
    ]);
});

test('a consumer that comes later is first told what is held', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replica = world.reader(feed);
  await replica.whenCurrent();
  const lines = told(replica);
  await expect.poll(() => lines).toEqual(['added node.n1.pods.web.a']);
  const ended: string[] = [];
  const stop = new AbortController();
  for await (const { type } of replica.changes(stop.signal)) {
    ended.push(type);
    stop.abort();
  }
  expect(ended).toEqual(['added']);
});

test('a node is told of its own and of what all share, and of nothing else', async () => {
  const feed = await world.feed();
  const replica = world.reader(feed, node1);
  await feed.put(node1, pod('mine'));
  await feed.put(node2, pod('theirs'));
  await feed.put('cluster', pod('nobodys'));
  await feed.put('all', namespace);
  await replica.whenCurrent();
  await feed.put(node2, pod('later'));
  const last = await feed.put('all', { ...namespace, name: 'db' });
  await replica.whenCurrent({ minVersion: last });
  expect(Object.keys(heldBy(replica)).toSorted()).toEqual([
    'all._.namespaces._.db',
    'all._.namespaces._.web',
    'node.n1.pods.web.mine',
  ]);
});

test('a pod that gets its node appears there, and moves for who sees both places', async () => {
  const feed = await world.feed();
  await feed.put('cluster', pod('a'));
  const [cluster, node] = [world.reader(feed), world.reader(feed, node1)];
  const [clusterLines, nodeLines] = [told(cluster), told(node)];
  await Promise.all([cluster.whenCurrent(), node.whenCurrent()]);
  const minVersion = await feed.move('cluster', node1, pod('a'));
  await Promise.all([cluster.whenCurrent({ minVersion }), node.whenCurrent({ minVersion })]);
  await untilEqual(cluster, feed);
  await expect.poll(() => nodeLines).toEqual(['added node.n1.pods.web.a']);
  expect(clusterLines).toEqual([
    'added cluster._.pods.web.a',
    'removed cluster._.pods.web.a (moved)',
    'added node.n1.pods.web.a',
  ]);
});

test('namespaces are read wherever their objects stand, with what belongs to none', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a', 'web'));
  await feed.put(node2, pod('b', 'db.local'));
  await feed.put(node2, pod('c', 'other'));
  await feed.put('all', namespace);
  const replica = world.reader(feed, { namespaces: ['web', 'db.local', 'web'] });
  await replica.whenCurrent();
  await feed.put('cluster', pod('d', 'web'));
  const minVersion = await feed.checkpoint('namespace.web');
  await replica.whenCurrent({ minVersion });
  await untilEqual(replica, feed, (subject) => !subject.includes('.other.'));
  expect(replica.state.verifiedVersion).toBe(minVersion);
  expect(replica.counts).toMatchObject({ digestMismatches: 0, gaps: 0, snapshots: 1 });
});

test('checkpoints are agreed with, live and in the snapshot', async () => {
  const feed = await world.feed();
  const live = world.reader(feed, node1);
  await live.whenCurrent();
  await feed.put(node1, pod('a'));
  await feed.put(node2, pod('b'));
  await feed.remove(node1, pod('a'));
  await feed.put(node1, pod('c'));
  const minVersion = await feed.checkpoint('node.n1');
  await live.whenCurrent({ minVersion });
  const late = world.reader(feed, node1);
  await late.whenCurrent();
  for (const { state, counts } of [live, late]) {
    expect(state).toMatchObject({ phase: 'current', verifiedVersion: minVersion });
    expect(state.verifiedAtMs).toBeGreaterThan(0);
    expect(counts.digestMismatches).toBe(0);
  }
});

test('a message that somebody else wrote is counted and changes nothing', async () => {
  const feed = await world.feed();
  await feed.put(node1, pod('a'));
  const replica = world.reader(feed);
  await replica.whenCurrent();
  await feed.raw('node.n1.pods.web.a', 'hello');
  await feed.raw('node.n1.pods.web.b', '{"kind":"Pod"}');
  const forged = feed.object(node1, pod('c'));
  await feed.forge('node.n1.pods.web.c', encodeMessage(forged));
  const minVersion = await feed.raw('some.where.else', 'hello');
  await replica.whenCurrent({ minVersion });
  expect(replica.counts).toMatchObject({ foreign: 4, gaps: 0, snapshots: 1 });
  expect(Object.keys(heldBy(replica))).toEqual(['node.n1.pods.web.a']);
});

test('a snapshot of many pages and large objects is whole', async () => {
  const feed = await world.feed();
  const fields = { text: 'x'.repeat(300_000) };
  for (let at = 0; at < 12; at += 1) await feed.put(node1, pod(`large-${at}`), { fields });
  const names = Array.from({ length: 2_300 }, (_, index) => pod(`small-${index}`));
  for (let at = 0; at < names.length; at += 100) {
    await Promise.all(names.slice(at, at + 100).map((key) => feed.put(node1, key)));
  }
  await feed.checkpoint('node.n1');
  const replica = world.reader(feed, node1);
  await untilEqual(replica, feed);
  await expect.poll(() => replica.state.verifiedVersion, PATIENCE).toBeGreaterThan(0);
});

test('a feed whose writer is dead is stale after two of its periods and a minute', async () => {
  const feed = await world.feed();
  const clock = new MovedClock();
  const replica = world.reader(feed, node1, { clock });
  await replica.whenCurrent();
  const sweep = async (): Promise<void> => {
    await replica.whenCurrent({ minVersion: await feed.floor(0) });
  };
  await sweep();
  await clock.advance(179_000);
  expect(replica.state).toMatchObject({ phase: 'current', sweptAtMs: clock.nowMs() - 179_000 });
  expect(replica.state).not.toHaveProperty('isStale');
  await sweep();
  await clock.advance(180_000);
  // It goes on applying what comes: only nobody compares it.
  await replica.whenCurrent({ minVersion: await feed.put(node1, pod('a')) });
  expect(replica.state).toMatchObject({ isStale: true, sweptAtMs: clock.nowMs() - 180_000 });
  await sweep();
  expect(replica.state).not.toHaveProperty('isStale');
});

test('a reader that comes later counts from when the floor was stored, not from then', async () => {
  const feed = await world.feed();
  const storedMs = Date.now();
  for (let left = 100; left > 0; left -= 1) await feed.put(node1, pod(`p${left}`));
  const passedMs = Date.now() - storedMs;
  const clock = new MovedClock();
  const replica = world.reader(feed, 'cluster', { clock });
  await replica.whenCurrent();
  const ageMs = clock.nowMs() - (replica.state.sweptAtMs ?? NaN);
  expect(ageMs).toBeGreaterThanOrEqual(passedMs);
  await clock.advance(180_000 - ageMs);
  expect(replica.state).toMatchObject({ isStale: true });
});

test('a reader that finds no floor says so at once, and until one comes', async () => {
  const feed = await world.writer();
  await feed.create();
  await feed.mark();
  const replica = world.reader(feed);
  await replica.whenCurrent();
  expect(replica.state).toMatchObject({ phase: 'current', isStale: true });
  await replica.whenCurrent({ minVersion: await feed.floor(0) });
  expect(replica.state).not.toHaveProperty('isStale');
});

test.each([
  ['of another format', '{"format":2,"id":"x","epoch":1,"ready":true}'],
  ['that is none', 'nothing'],
])('a marker %s that comes live ends the reading until there is one again', async (_what, text) => {
  const feed = await world.feed();
  const held = await feed.put(node1, pod('a'));
  const replica = world.reader(feed, node1);
  await replica.whenCurrent();
  await feed.raw('all._.feed', text);
  await untilPhase(replica, 'waiting');
  expect(replica.state.why).toBe('its marker is not of format 1');
  await feed.raw('node.n1.pods.web.b', 'of a format that nobody knows');
  expect(heldBy(replica)).toEqual({ 'node.n1.pods.web.a': held });
  await feed.mark();
  await replica.whenCurrent();
  expect(replica.counts).toMatchObject({ snapshots: 1, resumes: 1 });
});
