// What happens to a running cluster against its owner's wish, with publishers and a durable
// consumer on a stream of three replicas all the while: nothing that was acknowledged is lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { until } from '../../builders/versioned-kind.ts';
import { Place, SCENARIO_MS } from './place.ts';
import { reported } from './report.ts';
import { Traffic } from './traffic.ts';

let place: Place;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
const SERVERS = ['shop/nats-0', 'shop/nats-1', 'shop/nats-2'];
const settings = { timeout: SCENARIO_MS };

beforeAll(async () => {
  place = await Place.start();
  await place.namespace('shop');
  ours = await place.startFunction();
  await place.create(cluster, { replicas: 3, lameDuck: { graceSeconds: 1 } });
  await place.tickUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

beforeEach(async ({ task }) => {
  const { username: user = '', password: pass = '' } = await place.secret(cluster, 'nats-user');
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await Traffic.start({ servers: place.addresses(cluster, 3), user, pass, stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

/** Messages go on being acknowledged. */
async function untilTrafficFlows(): Promise<void> {
  const before = traffic.acknowledged;
  await until('messages to be acknowledged', () => traffic.acknowledged > before + 50);
}

test(
  'a server that is killed comes back, and nothing is done to the others',
  settings,
  async () => {
    await untilTrafficFlows();
    await place.kubelet.kill('shop/nats-1');
    await untilTrafficFlows();
    await place.tickUntilReady(ours, cluster);
    const restarts = (await place.events(cluster)).filter((one) => one.startsWith('Restarted'));
    expect(restarts).toEqual([]);
  },
);

test('all servers are killed at once', settings, async () => {
  await untilTrafficFlows();
  await Promise.all(SERVERS.map((server) => place.kubelet.kill(server)));
  await place.tickUntilReady(ours, cluster);
  await untilTrafficFlows();
  const restarts = (await place.events(cluster)).filter((one) => one.startsWith('Restarted'));
  expect(restarts).toEqual([]);
});

test('while nobody answers Ready is not True, and Unknown once it lasts', settings, async () => {
  await untilTrafficFlows();
  await Promise.all(SERVERS.map((server) => place.kubelet.kill(server, { isHeld: true })));
  const isSilent = async () =>
    (await place.condition(cluster, 'Ready')).startsWith('Unknown NoContact');
  await place.tickUntil(ours, cluster, 'Ready to be Unknown', isSilent);
  expect((await place.status(cluster)).servers?.every(({ lastContact }) => lastContact)).toBe(true);
  for (const server of SERVERS) place.kubelet.release(server);
  await place.tickUntilReady(ours, cluster);
});

test('a lost volume is replaced once, and its streams come back', settings, async () => {
  await untilTrafficFlows();
  const before = await place.claimUid(cluster, 'data-nats-2');
  await place.loseVolume(cluster, 'nats-2');
  await place.tickUntil(ours, cluster, 'the claim to be replaced', async () => {
    const uid = await place.claimUid(cluster, 'data-nats-2');
    return uid !== undefined && uid !== before;
  });
  await place.tickUntilReady(ours, cluster);
  const events = await place.events(cluster);
  expect(events.filter((one) => one.startsWith('ClaimDeleted'))).toHaveLength(1);
  expect((await place.status(cluster)).replacing).toBeUndefined();
});
