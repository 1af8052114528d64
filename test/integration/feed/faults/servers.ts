// The ground breaks: NATS and the API server die, hang, come back with and without what they knew,
// and lose sight of each other and of those who need them.
import { expect, test } from 'vitest';
import { NATS_WIPED } from '../../../chaos/faults.ts';
import { Random } from '../../../chaos/random.ts';
import { ADAPTER, API_SERVER, FUNCTION, NATS } from '../../../chaos/rig.ts';
import { PODS } from '../../../chaos/shapes.ts';
import { isKubeError } from '../../../../shared/kube/errors.ts';
import { LONG, WELL, rig, story } from './story.ts';

test('nats-server is killed, and comes back with its disk', async () => {
  const { epoch } = await rig.status();
  const nats = rig.plane.part(NATS);
  await nats.kill();
  await story.goesOn();
  await nats.start();
  expect(await story.picture(0)).not.toEqual(WELL);
  expect(await story.ending()).toEqual(WELL);
  expect((await rig.status()).epoch).toBe(epoch);
});

test('nats-server hangs', async () => {
  const nats = rig.plane.part(NATS);
  await nats.pause();
  await story.goesOn();
  expect(await story.picture(0)).not.toEqual(WELL);
  nats.resume();
  expect(await story.ending()).toEqual(WELL);
});

test('gap 9: nats-server is back without its disk: a new epoch, and readers follow', async () => {
  const { epoch = 0 } = await rig.status();
  const lift = await NATS_WIPED.begin(rig, new Random(''));
  await story.goesOn();
  await lift();
  expect(await story.ending()).toEqual(WELL);
  expect((await rig.status()).epoch).toBeGreaterThan(epoch);
});

test('the function loses NATS', async () => {
  rig.plane.partition(FUNCTION, NATS);
  await story.goesOn();
  expect(await story.picture(0)).not.toEqual(WELL);
  rig.plane.heal(FUNCTION, NATS);
  expect(await story.ending()).toEqual(WELL);
});

test('the function loses the API server: events go on, sweeps do not', async () => {
  rig.plane.partition(FUNCTION, API_SERVER);
  await story.goesOn();
  expect(await rig.tick()).toBe(503);
  rig.plane.heal(FUNCTION, API_SERVER);
  expect(await story.ending()).toEqual(WELL);
});

test('the adapter loses the API server', async () => {
  rig.plane.partition(ADAPTER, API_SERVER);
  await story.goesOn();
  expect(await story.picture(0)).not.toEqual(WELL);
  rig.plane.heal(ADAPTER, API_SERVER);
  expect(await story.ending()).toEqual(WELL);
});

test('the API server loses etcd', async () => {
  await story.goesOn();
  rig.plane.partition(API_SERVER, 'etcd');
  expect(await rig.tick()).toBe(503);
  rig.plane.heal(API_SERVER, 'etcd');
  await expect.poll(() => rig.tick(), LONG).toBe(204);
  await story.isBusy();
  expect(await story.ending()).toEqual(WELL);
});

test('410: the API server no longer knows where the adapter and the sweep left off', async () => {
  const { resources = [] } = await rig.status();
  const from = resources.find(({ name }) => name === 'pods')?.resourceVersion ?? '';
  await rig.adapter.pause();
  await story.goesOn();
  await rig.plane.part(API_SERVER).restart();
  await expect.poll(() => watchFrom(from), LONG).toBe('expired');
  rig.adapter.resume();
  expect(await story.ending()).toEqual(WELL);
  // By itself it would come back, but late.
  await rig.adapter.restart();
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

test('the API server is killed, and comes back', async () => {
  const server = rig.plane.part(API_SERVER);
  await story.goesOn();
  await server.kill();
  expect(await rig.tick()).toBe(503);
  await server.start();
  await story.isBusy();
  expect(await story.ending()).toEqual(WELL);
  // By itself it would come back, but late.
  await rig.adapter.restart();
});
