// The road of events breaks: Knative's adapter and the function die, hang, come back and multiply.
import { expect, test } from 'vitest';
import { API_SERVER, NATS, type Rig } from '../../../chaos/rig.ts';
import { PODS } from '../../../chaos/shapes.ts';
import { isKubeError } from '../../../../shared/kube/errors.ts';
import { LONG, type Story, WELL, withStory } from './story.ts';

let story: Story;
let rig: Rig;

withStory((opened) => {
  story = opened;
  ({ rig } = opened);
});

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
  const [, ...others] = rig.instances;
  await Promise.all(others.map((other) => other.stop()));
});

/** The last one: an adapter that lost its API server comes back by itself, but late. */
test('410: the API server no longer knows where the adapter and the sweep left off', async () => {
  const { resources = [] } = await rig.status();
  const from = resources.find(({ name }) => name === 'pods')?.resourceVersion ?? '';
  await rig.adapter.pause();
  await story.goesOn();
  await rig.plane.part(API_SERVER).restart();
  await expect.poll(() => watchFrom(from), LONG).toBe('expired');
  rig.adapter.resume();
  expect(await story.ending()).toEqual(WELL);
});

/** As the adapter and the sweep do it. */
async function watchFrom(resourceVersion: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(10_000);
    const options = { from: { resourceVersion }, timeoutSeconds: 2, signal };
    for await (const event of rig.kube.watch(PODS, options)) return event.type;
    return 'nothing';
  } catch (error) {
    return isKubeError(error, 'KUBE_EXPIRED') ? 'expired' : String(error);
  }
}
