// The road of events breaks: Knative's adapter and the function die, hang, come back and multiply.
import { expect, test } from 'vitest';
import { NATS } from '../../../chaos/rig.ts';
import { LONG, WELL, rig, story } from './story.ts';

test('gap 2: the adapter is killed while objects are added, changed, deleted, reborn', async () => {
  await rig.adapter.kill();
  await story.goesOn();
  await rig.adapter.start();
  expect(await story.picture(0)).not.toEqual(WELL);
  expect(await story.ending()).toEqual(WELL);
});

test('the adapter hangs, and tells everything late', async () => {
  await rig.adapter.pause();
  await story.goesOn();
  expect(await story.picture(0)).not.toEqual(WELL);
  rig.adapter.resume();
  expect(await story.ending()).toEqual(WELL);
});

test('the function is down, and every event of that time is lost', async () => {
  const [instance] = rig.instances;
  const { lost } = rig.relay;
  await instance?.kill();
  await story.goesOn();
  await rig.relay.quiet();
  expect(rig.relay.lost).toBeGreaterThan(lost);
  await instance?.start();
  expect(await story.ending()).toEqual(WELL);
});

test('the function hangs for longer than anybody waits for it', async () => {
  const [instance] = rig.instances;
  const { lost } = rig.relay;
  await instance?.pause();
  await story.goesOn();
  await expect.poll(() => rig.relay.lost, LONG).toBeGreaterThan(lost);
  instance?.resume();
  expect(await story.ending()).toEqual(WELL);
});

test('the function is killed between reading and publishing', async () => {
  const [instance] = rig.instances;
  const nats = rig.plane.part(NATS);
  await nats.pause();
  await story.goesOn();
  await expect.poll(() => rig.relay.inFlight, LONG).toBeGreaterThan(0);
  await instance?.kill();
  nats.resume();
  await instance?.start();
  expect(await story.ending()).toEqual(WELL);
});

test('the function is killed in the middle of a sweep', async () => {
  const [instance] = rig.instances;
  await rig.adapter.kill();
  await story.goesOn();
  const before = rig.readers.map(({ observer }) => observer.seen);
  const ticking = rig.heartbeat.during(rig.tick());
  const seen = (): readonly number[] => rig.readers.map(({ observer }) => observer.seen);
  await expect.poll(seen, { timeout: 10_000, interval: 1 }).not.toEqual(before);
  await instance?.kill();
  await ticking;
  await instance?.start();
  await rig.adapter.start();
  expect(await story.ending()).toEqual(WELL);
});

test('gap 10: two instances take turns, and sweep at the same time', async () => {
  await rig.setInstances(2);
  await story.goesOn();
  await Promise.all([rig.tick(0), story.isBusy(), rig.tick(1)]);
  expect(await story.ending()).toEqual(WELL);
});

test('gap 10: five instances take turns, and sweep at the same time', async () => {
  await rig.setInstances(5);
  await story.goesOn();
  await Promise.all([...rig.instances.map((_, index) => rig.tick(index)), story.isBusy()]);
  expect(await story.ending()).toEqual(WELL);
  await Promise.all(rig.instances.slice(2).map((other) => other.stop()));
});
