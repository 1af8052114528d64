// A stream that is not current on every one of its servers pauses a rollout, and is named; what is
// known to be broken and waived does not. Nothing is killed in doubt, and nothing is said for
// certain of servers that nobody hears of.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { hasty, NEW_IMAGE, OLD_IMAGE, SCENARIO_MS } from './scene.ts';
import { reported } from './report.ts';
import { place } from './shared-place.ts';
import { connectTo, type Traffic, untilTrafficFlows } from './traffic.ts';

let ours: RunningFunction;
let traffic: Traffic;
let skippedMs = 0;
const later: Clock = { ...hasty, nowMs: () => systemClock.nowMs() + skippedMs };
const cluster = { namespace: 'shop', name: 'nats' };
const SERVERS = ['nats-0', 'nats-1', 'nats-2'];
const settings = { timeout: SCENARIO_MS };

beforeAll(async () => {
  await place.namespace('shop');
  ours = await place.startFunction({ clock: later });
  await place.create(cluster, { image: OLD_IMAGE, lameDuck: { graceSeconds: 1 } });
  await place.wakeUntilReady(ours, cluster);
  traffic = await place.startTraffic(cluster, { stream: 'ORDERS' });
}, SCENARIO_MS);

afterAll(async () => {
  await place.remove(cluster);
}, SCENARIO_MS);

const restarts = async (): Promise<readonly string[]> =>
  (await place.events(cluster)).filter((one) => one.startsWith('Restarted'));

/** The Raft group of the durable consumer. */
async function consumerGroup(): Promise<string> {
  const nats = await connectTo(await place.client(cluster));
  const info = await (await nats.jetstreamManager()).consumers.info('ORDERS', 'worker');
  await nats.close();
  return (info.cluster as unknown as { readonly raft_group: string }).raft_group;
}

test('a consumer that one server has lost pauses the rollout, and is named', settings, async () => {
  await place.breakGroup(cluster, 'nats-2', await consumerGroup());
  await place.edit(cluster, { image: NEW_IMAGE });
  const isPaused = (waitsFor = '') =>
    waitsFor.startsWith('Consumer worker on stream ORDERS of account DEFAULT');
  await place.wakeUntil(ours, cluster, 'a pause', ({ plan }) => isPaused(plan?.waitsFor));
  // A few looks more come to the same.
  for (let looks = 0; looks < 3; looks += 1) await place.tick(ours);
  const { plan, streamsAtRisk, metaLeader } = await place.status(cluster);
  // The leader goes last, and the server that was broken may have become it.
  expect(plan?.next).toBe(`Restart ${metaLeader === 'nats-2' ? 'nats-1' : 'nats-2'}`);
  expect(streamsAtRisk).toEqual([
    expect.objectContaining({ account: 'DEFAULT', stream: 'ORDERS', consumer: 'worker' }),
  ]);
  expect(await place.condition(cluster, 'Ready')).toContain('False StreamAtRisk: Consumer worker');
  expect(await restarts()).toEqual([]);
});

test('waived by name, it holds nothing up', settings, async () => {
  await place.edit(cluster, {
    waive: [{ account: 'DEFAULT', stream: 'ORDERS', consumer: 'worker' }],
  });
  await place.wakeUntilReady(ours, cluster);
  expect(await restarts()).toHaveLength(3);
  expect((await place.status(cluster)).version).toBe('2.15.2');
  reported('a rollout with a broken consumer', { ...(await traffic.stop()), unseen: 0 });
});

test('while nobody answers Ready is not True, and Unknown once it lasts', settings, async () => {
  const orders = await place.startTraffic(cluster, { stream: 'SILENT' });
  await untilTrafficFlows(orders);
  await Promise.all(SERVERS.map((server) => place.hold(cluster, server)));
  const readyUntil = (start: string) =>
    place.wakeUntil(ours, cluster, `Ready to be ${start}`, async () =>
      (await place.condition(cluster, 'Ready')).startsWith(start),
    );
  await readyUntil('False');
  skippedMs += 61_000;
  await readyUntil('Unknown NoContact');
  expect((await place.status(cluster)).servers?.every(({ lastContact }) => lastContact)).toBe(true);
  // The count of acknowledged messages waits for the servers, too.
  const counting = orders.stop();
  for (const server of SERVERS) place.release(cluster, server);
  const [counted] = await Promise.all([counting, place.wakeUntilReady(ours, cluster)]);
  reported('nobody answered', counted);
});
