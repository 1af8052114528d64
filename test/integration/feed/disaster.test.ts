// What takes a feed's ground away: NATS without its disk, an API server whose revisions went back,
// either of them away. After each, the feed is whole again within a sweep or two.
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Stream } from '../../../shared/nats/stream.ts';
import { createPod, labelPod, removePod } from './objects.ts';
import { FeedWorld, type Sender } from './world.ts';

const FEED = 'd';
const LONG = { timeout: 30_000, interval: 200 };

let world: FeedWorld;
let stream: Stream;
let sender: Sender;

beforeEach(async () => {
  world = await FeedWorld.start();
  await world.createFeed(FEED);
  stream = world.stream(FEED);
  // Short: who waits for a server that is away waits for nothing here.
  sender = await world.startFunction({ REQUEST_DEADLINE_SECONDS: '6' });
  await createPod(world.kube, 'a', 'n1');
  await sender.sweep();
});

afterEach(async () => {
  await world?.stop();
});

const difference = (): Promise<readonly string[]> => world.difference(stream);

test('NATS back without its disk: a new epoch, and everything is there again', async () => {
  const server = world.plane.part('nats-server');
  const before = await world.status(FEED);
  await server.kill();
  await rm(join(world.plane.dir, 'data', 'nats'), { recursive: true });
  expect(await sender.change(await createPod(world.kube, 'b', 'n1'), 'add')).toBe(503);
  await server.start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  const after = await world.status(FEED);
  expect([after.epoch, after.streamId === before.streamId]).toEqual([2, false]);
});

test('NATS back from an older disk: what it acknowledged and lost is found out', async () => {
  const server = world.plane.part('nats-server');
  const data = join(world.plane.dir, 'data', 'nats');
  await server.stop();
  await cp(data, `${data}-old`, { recursive: true });
  await server.start();
  await createPod(world.kube, 'b', 'n1');
  await removePod(world.kube, 'a');
  await expect.poll(sender.sweep, LONG).toBe(204);
  await server.stop();
  await rm(data, { recursive: true });
  await cp(`${data}-old`, data, { recursive: true });
  await server.start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  expect(await world.status(FEED)).toMatchObject({ epoch: 2 });
});

test('etcd restored from a snapshot: revisions go back, and the feed follows', async () => {
  const { plane } = world;
  const data = join(plane.dir, 'data', 'etcd');
  await plane.part('etcd').stop();
  await cp(data, `${data}-old`, { recursive: true });
  await plane.part('etcd').start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  for (const step of ['1', '2', '3', '4', '5', '6', '7', '8']) {
    await sender.change(await labelPod(world.kube, 'a', { step }), 'update');
  }
  await sender.change(await createPod(world.kube, 'lost', 'n1'), 'add');
  await sender.sweep();
  expect(await difference()).toEqual([]);
  await plane.part('kube-apiserver').stop();
  await plane.part('etcd').stop();
  await rm(data, { recursive: true });
  await cp(`${data}-old`, data, { recursive: true });
  await plane.part('etcd').start();
  await plane.part('kube-apiserver').start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
  await sender.change(await labelPod(world.kube, 'a', { after: 'restore' }), 'update');
  expect(await difference()).toEqual([]);
});

test('the API server away, and back: events are kept, and the sweep goes on', async () => {
  const server = world.plane.part('kube-apiserver');
  const pod = await createPod(world.kube, 'b', 'n1');
  await server.kill();
  // A change needs no API server: the object came with its event.
  expect(await sender.change(pod, 'add')).toBe(204);
  expect(await sender.sweep()).toBe(503);
  await server.start();
  await expect.poll(sender.sweep, LONG).toBe(204);
  expect(await difference()).toEqual([]);
});
