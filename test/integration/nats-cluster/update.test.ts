// What a running cluster goes through at its owner's wish, with publishers and a durable consumer
// on a stream of three replicas all the while: nothing that was acknowledged is lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { NEW_IMAGE, OLD_IMAGE, Place, SCENARIO_MS } from './place.ts';
import { Traffic } from './traffic.ts';
import { reported } from './report.ts';

let place: Place;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };

beforeAll(async () => {
  place = await Place.start();
  await place.namespace('shop');
  ours = await place.startFunction();
  await place.create(cluster, {
    image: OLD_IMAGE,
    jetStream: { fileStorage: { size: '1Gi' } },
    lameDuck: { graceSeconds: 1 },
  });
  await place.tickUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

beforeEach(async ({ task }) => {
  const { username: user = '', password: pass = '' } = await place.secret(cluster, 'nats-user');
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await Traffic.start({ servers: place.addresses(cluster, 5), user, pass, stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

const settings = { timeout: SCENARIO_MS };

test('an image is rolled out one server at a time, the meta leader last', settings, async () => {
  const before = await place.status(cluster);
  await place.edit(cluster, { image: NEW_IMAGE });
  await place.tickUntilReady(ours, cluster);
  const { servers = [], version } = await place.status(cluster);
  expect(servers.map((one) => one.version)).toEqual(['2.15.2', '2.15.2', '2.15.2']);
  expect(version).toBe('2.15.2');
  const restarts = (await place.events(cluster)).filter((one) => one.startsWith('Restarted'));
  expect(restarts).toHaveLength(3);
  expect(before.version).toBe('2.14.9');
});

test('a changed account is reloaded, and no pod is made anew', settings, async () => {
  const uids = async () => (await place.pods(cluster)).map(({ metadata }) => metadata.uid);
  const before = await uids();
  const { password = '' } = await place.secret(cluster, 'nats-user');
  await place.putSecret(cluster, 'passwords', { shop: 'secret & <odd> "one"', default: password });
  const user = (name: string, key: string) => ({
    name,
    passwordSecret: { name: 'passwords', key },
  });
  // A kubelet takes up to a minute and a half until a changed Secret is in the pods.
  place.kubelet.syncDelayMs = 3_000;
  await place.edit(cluster, {
    accounts: [
      { name: 'DEFAULT', users: [user('default', 'default')] },
      { name: 'SHOP', users: [user('shop', 'shop')] },
    ],
  });
  await place.tickUntilReady(ours, cluster);
  expect(await uids()).toEqual(before);
  const servers = place.addresses(cluster, 3);
  const pass = 'secret & <odd> "one"';
  const other = await Traffic.start({ servers, user: 'shop', pass, stream: 'SHOP' });
  expect((await other.stop()).lost).toBe(0);
});

test(
  'three servers become five and three again, and streams go where they may',
  settings,
  async () => {
    await place.edit(cluster, { replicas: 5 });
    await place.tickUntilReady(ours, cluster);
    expect((await place.status(cluster)).servers).toHaveLength(5);
    const streams = await startStreams(5);
    await place.edit(cluster, { replicas: 3 });
    await place.tickUntilReady(ours, cluster);
    for (const one of streams) reported('one of five streams', await one.stop());
    const moved = (await place.events(cluster)).filter((one) => one.startsWith('StreamMoved'));
    expect(moved.length).toBeGreaterThan(0);
    const { servers, ...status } = await place.status(cluster);
    expect(servers).toHaveLength(3);
    expect(status).toMatchObject({ ready: '3/3', replicas: 3 });
    expect(await place.claims(cluster)).toEqual(['data-nats-0', 'data-nats-1', 'data-nats-2']);
  },
);

/** Beside each other on five servers, so that some of them are on those that go. */
async function startStreams(count: number): Promise<readonly Traffic[]> {
  const { username: user = '', password: pass = '' } = await place.secret(cluster, 'nats-user');
  const servers = place.addresses(cluster, 5);
  const started: Traffic[] = [];
  for (let index = 0; index < count; index += 1) {
    const stream = `WIDE${index}`;
    started.push(await Traffic.start({ servers, user, pass, stream, publishers: 1 }));
  }
  return started;
}
