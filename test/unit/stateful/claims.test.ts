// Claims as they are read, and which of them has to grow first.
import { expect, test } from 'vitest';
import { findGrowth, readClaims } from '../../../shared/stateful/claims.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from './kube-model.ts';
import { claim } from './samples.ts';

const { signal } = new AbortController();

function classes(allowVolumeExpansion: boolean): KubeModel {
  const kube = new KubeModel();
  const ref = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };
  const metadata = { name: 'standard' };
  const apiVersion = 'storage.k8s.io/v1';
  kube.put(ref, { apiVersion, kind: 'StorageClass', metadata, allowVolumeExpansion });
  return kube;
}

const growth = (kube: KubeModel, sizes: readonly string[], size: string) => {
  const claims = sizes.map((one, index) => claim(`db-${index}`, { size: one }));
  return findGrowth({ kube: kube.client, signal }, claims, size);
};

test.each([true, false])('the smallest claim grows first, if its class lets it: %s', async (is) => {
  const found = await growth(classes(is), ['9Gi', '1000Mi', '10Gi', '12Gi'], '10Gi');
  expect(found).toMatchObject({ claim: { name: 'data-db-1' }, size: '10Gi', isAllowed: is });
});

test('no claim grows that is as large as wanted, or larger, in whatever spelling', async () => {
  expect(await growth(classes(true), ['10240Mi', '12Gi'], '10Gi')).toBeUndefined();
});

test('a claim of no class, or of one that is gone, does not grow', async () => {
  const kube = new KubeModel();
  expect(await growth(kube, ['1Gi'], '2Gi')).toMatchObject({ isAllowed: false });
  const classless = [claim('db-0', { storageClassName: undefined })];
  const found = await findGrowth({ kube: classes(true).client, signal }, classless, '20Gi');
  expect(found).toMatchObject({ isAllowed: false });
});

test('claims are read with all that decisions need, and those of others are left out', async () => {
  const kube = new KubeModel();
  const put = (name: string, db: string) =>
    kube.put(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        namespace: 'shop',
        name,
        labels: { db },
        annotations: { 'volume.kubernetes.io/selected-node': 'node-a' },
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeName: 'volume',
        storageClassName: 'standard',
        resources: { requests: { storage: '10Gi' } },
      },
      status: { phase: 'Bound' },
    });
  for (const name of ['data-one-0', 'theirs']) put(name, 'one');
  put('data-two-0', 'two');
  const isOwn = (name: string): boolean => name.startsWith('data-');
  const selection = { namespace: 'shop', labelSelector: 'db=one', isOwn };
  expect(await readClaims({ kube: kube.client, signal }, selection, () => ({}))).toEqual([
    {
      name: 'data-one-0',
      uid: expect.any(String),
      phase: 'Bound',
      size: '10Gi',
      storageClassName: 'standard',
      accessMode: 'ReadWriteOnce',
      createdAt: expect.any(String),
      node: 'node-a',
      volume: 'volume',
      isEnding: false,
    },
  ]);
});
