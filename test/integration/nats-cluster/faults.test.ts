// What happens to a running cluster against its owner's wish, with publishers and a durable
// consumer on a stream of three replicas all the while: nothing that was acknowledged is lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { Place } from './place.ts';
import { reported } from './report.ts';
import {
  endure,
  killAll,
  replaceLostVolume,
  startTraffic,
  untilTrafficFlows,
} from './scenarios.ts';
import { SCENARIO_MS } from './scene.ts';
import type { Traffic } from './traffic.ts';

let place: Place;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
const stage = () => ({ place, ours, cluster });
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
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await startTraffic({ place, cluster }, { stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

test(
  'a server that is killed comes back, and nothing is done to the others',
  settings,
  async () => {
    const kill = () => place.kill(cluster, 'nats-1');
    expect(await endure(stage(), traffic, kill)).toEqual([]);
  },
);

test('all servers are killed at once', settings, async () => {
  expect(await endure(stage(), traffic, () => killAll(stage()))).toEqual([]);
});

test('while nobody answers Ready is not True, and Unknown once it lasts', settings, async () => {
  await untilTrafficFlows(traffic);
  await Promise.all(SERVERS.map((server) => place.kubelet.kill(server, { isHeld: true })));
  const isSilent = async () =>
    (await place.condition(cluster, 'Ready')).startsWith('Unknown NoContact');
  await place.tickUntil(ours, cluster, 'Ready to be Unknown', isSilent);
  expect((await place.status(cluster)).servers?.every(({ lastContact }) => lastContact)).toBe(true);
  for (const server of SERVERS) place.kubelet.release(server);
  await place.tickUntilReady(ours, cluster);
});

test('a lost volume is replaced once, and its streams come back', settings, async () => {
  expect(await replaceLostVolume(stage(), traffic)).toHaveLength(1);
});
