// The Secret with the password of the system account, deleted and edited by hand, with real
// servers: the function finds its way back in, and no server is restarted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { Place } from './place.ts';
import { isReady, SCENARIO_MS } from './scene.ts';

let place: Place;
let ours: RunningFunction;
let skippedMs = 0;
const later: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + skippedMs };
const cluster = { namespace: 'shop', name: 'nats' };
const settings = { timeout: SCENARIO_MS };
const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const SYSTEM = { namespace: 'shop', name: 'nats-system' };
/** What was read of the parts is read anew. */
const FRESH_MS = 301_000;

beforeAll(async () => {
  place = await Place.start();
  await place.namespace('shop');
  ours = await place.startFunction({ clock: later });
  await place.create(cluster, { lameDuck: { graceSeconds: 1 } });
  await place.tickUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

const system = () => place.secret(cluster, 'nats-system');
const digests = async () =>
  ((await place.status(cluster)).servers ?? []).map(({ configDigest = '' }) => configDigest);
const uids = async () => (await place.pods(cluster)).map(({ metadata }) => metadata.uid);

test('deleted, it comes back with what the servers have', settings, async () => {
  const [before, ran] = [await system(), await digests()];
  const uid = (await place.kube.get(SECRETS, SYSTEM))?.metadata.uid ?? '';
  await place.kube.delete(SECRETS, SYSTEM, { uid });
  skippedMs += FRESH_MS;
  await place.tickUntil(
    ours,
    cluster,
    'it to come back',
    async () => 'password' in (await system()),
  );
  expect(await system()).toEqual(before);
  await place.tickUntilReady(ours, cluster);
  expect(await digests()).toEqual(ran);
});

test('edited, its password comes to the servers by reloads', settings, async () => {
  const [before, ran, pods] = [await system(), await digests(), await uids()];
  const body = { stringData: { password: 'another one' } };
  await place.kube.patch(SECRETS, SYSTEM, { type: 'merge', body });
  skippedMs += FRESH_MS;
  await place.tickUntil(ours, cluster, 'other digests', async (status, { metadata }) => {
    const now = await digests();
    return isReady(status, metadata) && now.every((one) => one !== '' && !ran.includes(one));
  });
  // Nobody asks with the former one any more.
  skippedMs += FRESH_MS;
  await place.tick(ours);
  expect(await system()).toEqual({ ...before, password: 'another one' });
  expect(await uids()).toEqual(pods);
});
