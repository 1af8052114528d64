// Disasters of a feed: NATS without its disk, an API server whose revisions went back, either of
// them away. After each, the feed is whole again within a sweep or two.
import { execFile } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { FLOOR_SUBJECT } from '../../../shared/feed/subjects.ts';
import { openReplica, type Replica } from '../../../shared/nats/replica/replica.ts';
import type { Stream } from '../../../shared/nats/stream.ts';
import { withFeedEach } from './each.ts';
import { createPod, labelPod, removePod } from './objects.ts';
import { withOwnPlane } from './own-plane.ts';
import { AT_THEIR_WORD, type FeedWorld, type Sender, soon } from './world.ts';

const LONG = { timeout: 30_000, interval: 200 };

const run = promisify(execFile);

let world: FeedWorld;
let feed = '';
let stream: Stream;
let sender: Sender;

const ownPlane = withOwnPlane();

withFeedEach(async (given) => {
  ({ world, feed, stream } = given);
  await world.createFeed(feed);
  // Short: who waits for a server that is away waits for nothing here.
  sender = await world.startFunction({ REQUEST_DEADLINE_SECONDS: '6' });
  await createPod(world.kube, 'a', 'n1');
  await sender.sweep();
}, ownPlane);

const difference = (): Promise<readonly string[]> => world.difference(stream);

test('NATS back without its disk: a new epoch, and everything is there again', async () => {
  const server = ownPlane().part('nats-server');
  const before = await world.status(feed);
  await server.kill();
  await rm(join(ownPlane().dir, 'data', 'nats'), { recursive: true });
  expect(await sender.change(await createPod(world.kube, 'b', 'n1'), 'add')).toBe(503);
  await server.start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  const after = await world.status(feed);
  expect([after.epoch, after.streamId === before.streamId]).toEqual([2, false]);
});

/** NATS comes back from a disk of before: a pod that is there lacks, one that is gone is shown. */
async function loseWhatWasSwept(): Promise<void> {
  const server = ownPlane().part('nats-server');
  const data = join(ownPlane().dir, 'data', 'nats');
  const before = `${data}-before-${feed}`;
  await server.stop();
  await cp(data, before, { recursive: true });
  await server.start();
  await createPod(world.kube, 'b', 'n1');
  await removePod(world.kube, 'a');
  await expect.poll(sender.sweep, LONG).toBe(204);
  await server.stop();
  await rm(data, { recursive: true });
  await cp(before, data, { recursive: true });
  await server.start();
}

test('NATS back from an older disk: what it acknowledged and lost is found out', async () => {
  await loseWhatWasSwept();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  expect(await world.status(feed)).toMatchObject({ epoch: 2 });
});

test('NATS back from an older disk, and grown on without a floor, is not believed', async () => {
  await loseWhatWasSwept();
  const { version = 0 } = await world.status(feed);
  await expect.poll(() => world.purge(stream, FLOOR_SUBJECT).then(() => true), LONG).toBe(true);
  // The events of others come before the next tick does.
  const grown = async (): Promise<number> => (await stream.state(soon())).lastSequence;
  await expect
    .poll(async () => sender.change(await createPod(world.kube, 'c'), 'add'), LONG)
    .toBe(204);
  for (let step = 0; (await grown()) <= version; step += 1) {
    await sender.change(await labelPod(world.kube, 'c', { step: `${step}` }), 'update');
  }
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
});

const PLACE_OF_A = 'node.n1.pods.default.a';

/** Its tombstone has ended. A nats-server that is killed reads its files anew, and has it again. */
async function bringBackWhatIsForgotten(): Promise<void> {
  const server = ownPlane().part('nats-server');
  await removePod(world.kube, 'a');
  await expect.poll(sender.sweep, LONG).toBe(204);
  await world.purge(stream, PLACE_OF_A);
  await server.kill();
  await server.start();
  await expect
    .poll(async () => [...(await world.shown(stream)).keys()], LONG)
    .toContain(PLACE_OF_A);
}

test.each(['the same instance', 'another one'])(
  'a forgotten delete that a killed NATS brings back ends with one sweep, by %s',
  async (which) => {
    const url = ownPlane().part('nats-server').urls?.['reader'] ?? '';
    const stayed = openReplica({ url, feed, scope: 'cluster' });
    await stayed.whenCurrent({ signal: soon() });
    await bringBackWhatIsForgotten();
    const came = openReplica({ url, feed, scope: { node: 'n1' } });
    const isHeld = ({ catalog }: Replica): boolean =>
      catalog.find({ resource: 'pods', namespace: 'default', name: 'a' }) !== undefined;
    // It is not current: the checkpoint of before says otherwise.
    await expect.poll(() => [stayed, came].map(isHeld), LONG).toEqual([false, true]);
    const sweeper = which === 'another one' ? await world.startFunction() : sender;
    await expect.poll(sweeper.sweep, LONG).toBe(204);
    expect(await difference()).toEqual([]);
    const { conditions = [], version = 0 } = await world.status(feed);
    expect(conditions.find(({ type }) => type === 'InSync')?.reason).toBe('Healed');
    await expect.poll(() => [stayed, came].map(isHeld), LONG).toEqual([false, false]);
    // No checkpoint ever said that it was there.
    const current = [stayed, came].map((one) =>
      one.whenCurrent({ minVersion: version, signal: soon() }),
    );
    await Promise.all(current);
    expect(stayed.counts).toMatchObject({ snapshots: 1, digestMismatches: 0 });
    await Promise.all([stayed, came].map((reader) => reader.close()));
  },
);

/** The whole control plane goes back to an older copy, as an administrator would do it. */
async function restoreEtcd(path: string): Promise<void> {
  const plane = ownPlane();
  const data = join(plane.dir, 'data', 'etcd');
  await plane.part('kube-apiserver').stop();
  await plane.part('etcd').stop();
  await rm(data, { recursive: true });
  const restore = ['snapshot', 'restore', path, `--data-dir=${data}`];
  await run(await resolvePart('etcdutl'), restore, { env: {} });
  await plane.part('etcd').start();
  await plane.part('kube-apiserver').start();
}

test('etcd restored from an older copy, status and all: a new epoch, readers follow', async () => {
  const plane = ownPlane();
  const url = plane.part('nats-server').urls?.['reader'] ?? '';
  const reader = openReplica({ url, feed, scope: 'cluster' });
  await expect.poll(sender.sweep, LONG).toBe(204);
  const before = await world.status(feed);
  const copy = join(plane.dir, 'copy.db');
  const endpoint = ['--endpoints', plane.part('etcd').url];
  await run(await resolvePart('etcdctl'), [...endpoint, 'snapshot', 'save', copy], { env: {} });
  for (const step of ['1', '2', '3']) {
    await sender.change(await labelPod(world.kube, 'a', { step }), 'update');
  }
  await sender.change(await createPod(world.kube, 'lost', 'n1'), 'add');
  await sender.sweep();
  expect(await difference()).toEqual([]);
  await restoreEtcd(copy);
  // Before anybody compares them, the revisions have passed all that the feed ever saw.
  for (let left = 40; left > 0; left -= 1) await labelPod(world.kube, 'a', { left: `${left}` });
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  const { epoch, streamId, version = 0 } = await world.status(feed);
  expect({ epoch, streamId }).toEqual({ epoch: 2, streamId: before.streamId });
  await reader.whenCurrent({ minVersion: version, signal: soon() });
  expect([...reader.catalog.entries()].map(({ object }) => object.epoch)).not.toContain(1);
  expect(reader.catalog.find({ resource: 'pods', namespace: 'default', name: 'lost' })).toBe(
    undefined,
  );
  expect(reader.counts).toMatchObject({ snapshots: 1, digestMismatches: 0 });
  await reader.close();
  // Once it is known, it is not found again.
  await sender.sweep();
  expect(await world.status(feed)).toMatchObject({ epoch: 2 });
});

test('an event that claims a revision of the far future begins no epoch', async () => {
  const pod = await labelPod(world.kube, 'a', { step: '1' });
  const resourceVersion = '9000000000000000000';
  const forged = { ...pod, metadata: { ...pod.metadata, resourceVersion, labels: { evil: 'x' } } };
  const credulous = await world.startFunction(AT_THEIR_WORD);
  expect(await credulous.change(forged, 'update')).toBe(204);
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  await sender.sweep();
  const { epoch, events } = await world.status(feed);
  expect([epoch, events?.unfounded]).toEqual([1, 1]);
});

test('the API server away, and back: events are kept, and the sweep goes on', async () => {
  const server = ownPlane().part('kube-apiserver');
  const pod = await createPod(world.kube, 'b', 'n1');
  await server.kill();
  // Its sender keeps it: nobody can say whether it is so.
  expect(await sender.change(pod, 'add')).toBe(503);
  expect(await sender.sweep()).toBe(503);
  await server.start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
});
