// Claims that grow: where the storage class allows it they do, and no server is restarted; where it
// does not, the edit is refused with the reason. And several clusters beside each other.
import { beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { createStorageClass } from '../../builders/storage-class.ts';
import { CLAIMS, type Named, SCENARIO_MS } from './scene.ts';
import { place } from './shared-place.ts';

let ours: RunningFunction;
const growing = { namespace: 'market', name: 'nats' };
const rigid = { namespace: 'office', name: 'nats' };
const settings = { timeout: SCENARIO_MS };
const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;

beforeAll(async () => {
  ours = await place.startFunction();
  for (const [cluster, storageClassName] of [
    [growing, 'growing'],
    [rigid, 'rigid'],
  ] as const) {
    await place.namespace(cluster.namespace);
    await createStorageClass(place.kube, storageClassName, storageClassName === 'growing');
    if (cluster === growing) await createOldClaim(storageClassName);
    const fileStorage = { size: '1Gi', storageClassName };
    // One server is enough for a refusal.
    const replicas = cluster === growing ? 3 : 1;
    await place.create(cluster, { replicas, jetStream: { fileStorage } });
  }
}, SCENARIO_MS);

/**
 * The claims are of a cluster from before there was a choice, which was deleted and is made again.
 */
async function createOldClaim(storageClassName: string): Promise<void> {
  const { namespace, name } = growing;
  await place.kube.create(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace,
      name: `data-${name}-0`,
      labels: { 'ballast.dev/nats-cluster': name },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName,
    },
  });
}

const larger = { jetStream: { fileStorage: { size: '2Gi' } } };
const uids = async (): Promise<readonly string[]> =>
  (await place.pods(growing)).map(({ metadata }) => metadata.uid);

interface ClaimSpec {
  readonly accessModes: readonly string[];
  readonly resources: { readonly requests: { readonly storage: string } };
}

async function claimSpecs(namespace: string): Promise<readonly ClaimSpec[]> {
  const { items } = await place.kube.list(CLAIMS, { namespace });
  return items.map(({ spec }) => spec as ClaimSpec);
}

const sizes = async ({ namespace }: Named): Promise<readonly string[]> =>
  (await claimSpecs(namespace)).map(({ resources }) => resources.requests.storage);

/** Access modes of the claims, and of those that the StatefulSet would make. */
async function modes({ namespace, name }: Named): Promise<readonly string[]> {
  const set = await place.kube.get(STATEFUL_SETS, { namespace, name });
  const { volumeClaimTemplates: templates = [] } = (set?.['spec'] ?? {}) as {
    readonly volumeClaimTemplates?: readonly { readonly spec: ClaimSpec }[];
  };
  const all = [...(await claimSpecs(namespace)), ...templates.map(({ spec }) => spec)];
  return [...new Set(all.flatMap(({ accessModes }) => accessModes))];
}

test('clusters of one name in two namespaces are two clusters', settings, async () => {
  await place.wakeUntilReady(ours, growing);
  await place.wakeUntilReady(ours, rigid);
  const passwords = await Promise.all(
    [growing, rigid].map(async (one) => (await place.secret(one, 'nats-system'))['password']),
  );
  expect(new Set(passwords).size).toBe(2);
  expect(await modes(growing)).toEqual(['ReadWriteOnce']);
  expect(await modes(rigid)).toEqual(['ReadWriteOncePod']);
});

test('claims grow, and the pods stay', settings, async () => {
  const before = await uids();
  await place.edit(growing, larger);
  await place.wakeUntilReady(ours, growing);
  expect(await sizes(growing)).toEqual(['2Gi', '2Gi', '2Gi']);
  expect(await modes(growing)).toEqual(['ReadWriteOnce']);
  expect(await uids()).toEqual(before);
});

test('where the storage class does not allow it the edit is refused', settings, async () => {
  await place.edit(rigid, larger);
  const isRefused = async () =>
    (await place.condition(rigid, 'Degraded')).startsWith('True StorageCannotGrow');
  await place.wakeUntil(ours, rigid, 'a refusal', isRefused);
  expect(await sizes(rigid)).toEqual(['1Gi']);
});
