// What NATS in real pods goes through at its owner's wish, with publishers and a durable consumer
// on a stream of three replicas all the while: nothing that was acknowledged is lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { bringCertificate } from '../../integration/nats-cluster/certificates.ts';
import { reported } from '../../integration/nats-cluster/report.ts';
import {
  reloadAccounts,
  rollOutImage,
  scaleBackToThree,
  scaleToFive,
  startTraffic,
} from '../../integration/nats-cluster/scenarios.ts';
import { OLD_IMAGE, SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import type { Traffic } from '../../integration/nats-cluster/traffic.ts';
import { PodPlace } from './pod-place.ts';
import { timed } from './timed.ts';

let place: PodPlace;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
const threeLines = { namespace: 'shop', name: 'lines' };
const settings = { timeout: SCENARIO_MS };
const stage = () => ({ place, ours, cluster });

beforeAll(async () => {
  place = await timed('three nodes', () => PodPlace.start());
  await place.namespace('shop');
  ours = await place.startFunction({ LOG_LEVEL: process.env['DEBUG_LOG'] ?? 'silent' });
  await place.create(cluster, { image: OLD_IMAGE, lameDuck: { graceSeconds: 1 } });
  await timed('2.14.9 to Ready', () => place.tickUntilReady(ours, cluster));
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
}, SCENARIO_MS);

beforeEach(async ({ task }) => {
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await startTraffic({ place, cluster }, { stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

test('three lines of spec become three servers on three nodes', settings, async () => {
  await place.create(threeLines, { jetStream: { fileStorage: { size: '1Gi' } } });
  await timed('three lines to Ready', () => place.tickUntilReady(ours, threeLines));
  const { servers = [], ...status } = await place.status(threeLines);
  expect(status).toMatchObject({ ready: '3/3', replicas: 3, version: '2.15.2' });
  expect(servers.filter(({ role }) => role === 'MetaLeader')).toHaveLength(1);
  const names = ['lines-0', 'lines-1', 'lines-2'];
  const nodes = await Promise.all(names.map((server) => place.nodeOf(threeLines, server)));
  expect(nodes.toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
  await place.remove(threeLines);
});

test('an image is rolled out one server at a time, the meta leader last', settings, async () => {
  const versions = await timed('image rolled out', () => rollOutImage(stage()));
  expect(versions).toEqual(['2.15.2', '2.15.2', '2.15.2']);
});

test('kubectl scales to five and back; only servers that go lose claims', settings, async () => {
  await timed('three to five', () => scaleToFive(stage()));
  const claims = await timed('five to three', () => scaleBackToThree(stage(), 2));
  expect(claims).toEqual(['data-nats-0', 'data-nats-1', 'data-nats-2']);
});

test('a changed account is reloaded, and no pod is made anew', settings, async () => {
  const { before, after } = await timed('accounts reloaded', () => reloadAccounts(stage()));
  expect(after).toEqual(before);
});

test('a certificate of the user is taken over without a restart', settings, async () => {
  const spec = { lameDuck: { graceSeconds: 1 }, tls: { clients: {}, routes: {} } };
  const secure = { place, ours, cluster: { namespace: 'shop', name: 'secure' } };
  await place.create(secure.cluster, spec);
  await place.tickUntilReady(ours, secure.cluster);
  const { before, after } = await timed('certificate shown', () => bringCertificate(secure));
  expect(after).toHaveLength(3);
  expect(after.filter((one) => before.includes(one))).toEqual([]);
});
