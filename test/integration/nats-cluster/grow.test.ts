// Claims that grow: where the storage class allows it they do, and no server is restarted; where it
// does not, the edit is refused with the reason. And several clusters beside each other.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { createStorageClass } from '../../builders/storage-class.ts';
import { Place } from './place.ts';
import { CLAIMS, SCENARIO_MS } from './scene.ts';

let place: Place;
let ours: RunningFunction;
const growing = { namespace: 'shop', name: 'nats' };
const rigid = { namespace: 'office', name: 'nats' };
const settings = { timeout: SCENARIO_MS };

beforeAll(async () => {
  place = await Place.start();
  ours = await place.startFunction();
  for (const [cluster, storageClassName] of [
    [growing, 'growing'],
    [rigid, 'rigid'],
  ] as const) {
    await place.namespace(cluster.namespace);
    await createStorageClass(place.kube, storageClassName, storageClassName === 'growing');
    const fileStorage = { size: '1Gi', storageClassName };
    await place.create(cluster, { jetStream: { fileStorage } });
  }
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

const larger = { jetStream: { fileStorage: { size: '2Gi' } } };
const uids = async (): Promise<readonly string[]> =>
  (await place.pods(growing)).map(({ metadata }) => metadata.uid);

async function sizes({ namespace }: { readonly namespace: string }): Promise<readonly string[]> {
  const { items } = await place.kube.list(CLAIMS, { namespace });
  return items.map(({ spec }) => {
    const { resources } = spec as {
      readonly resources: { readonly requests: { readonly storage: string } };
    };
    return resources.requests.storage;
  });
}

test('clusters of one name in two namespaces are two clusters', settings, async () => {
  await place.tickUntilReady(ours, growing);
  await place.tickUntilReady(ours, rigid);
  const passwords = await Promise.all(
    [growing, rigid].map(async (one) => (await place.secret(one, 'nats-system'))['password']),
  );
  expect(new Set(passwords).size).toBe(2);
});

test('claims grow, and the pods stay', settings, async () => {
  const before = await uids();
  await place.edit(growing, larger);
  await place.tickUntilReady(ours, growing);
  expect(await sizes(growing)).toEqual(['2Gi', '2Gi', '2Gi']);
  expect(await uids()).toEqual(before);
});

test('where the storage class does not allow it the edit is refused', settings, async () => {
  await place.edit(rigid, larger);
  const isRefused = async () =>
    (await place.condition(rigid, 'Degraded')).startsWith('True StorageCannotGrow');
  await place.tickUntil(ours, rigid, 'a refusal', isRefused);
  expect(await sizes(rigid)).toEqual(['1Gi', '1Gi', '1Gi']);
});
