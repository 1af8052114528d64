// A NatsCluster from three lines to Ready, on real nats-servers.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { Place } from './place.ts';
import { SCENARIO_MS } from './scene.ts';

let place: Place;
let ours: RunningFunction;
const cluster = { namespace: 'shop', name: 'nats' };

beforeAll(async () => {
  place = await Place.start();
  await place.namespace('shop');
  ours = await place.startFunction();
});

afterAll(async () => {
  await place?.stop();
});

test('three lines of spec become three servers', { timeout: SCENARIO_MS }, async () => {
  await place.create(cluster, { replicas: 3, jetStream: { fileStorage: { size: '1Gi' } } });
  await place.tickUntilReady(ours, cluster);
  const { servers = [], ...status } = await place.status(cluster);
  expect(status).toMatchObject({ ready: '3/3', replicas: 3, version: '2.15.2' });
  expect(servers.filter(({ role }) => role === 'MetaLeader')).toHaveLength(1);
  expect(servers.every(({ upToDate }) => upToDate)).toBe(true);
});
