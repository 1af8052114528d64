// Whether a proof still counts, told from the objects alone.
import { describe, expect, test } from 'vitest';
import { judge, type Present } from '../../../functions/storage-audit/certificate.ts';
import type { StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';

const present: Present = {
  group: 'example.com',
  resource: 'widgets',
  kind: 'Widget',
  versions: [
    { name: 'v1alpha1', served: true, storage: false },
    { name: 'v1', served: true, storage: true },
  ],
  storedVersions: ['v1'],
  storageVersion: 'v1',
  uid: 'crd-1',
  generation: 2,
  resourceVersion: '1000',
};

const status: StorageMigrationStatus = {
  phase: 'Done',
  target: { version: 'v1', kind: 'Widget', dryRun: false, crdUid: 'crd-1', crdGeneration: 2 },
  storedVersions: ['v1'],
  proof: {
    oracle: 'SecondPass',
    version: 'v1',
    objects: 4,
    resourceVersion: '900',
    crdGeneration: 2,
    at: '2026-11-21T00:00:00Z',
  },
};

const migration = (said: StorageMigrationStatus): KubeObject => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name: 'widgets', uid: 'sm', resourceVersion: '950' },
  spec: { resource: { group: 'example.com', resource: 'widgets' } },
  status: said,
});

const why = (said: StorageMigrationStatus, now: Partial<Present> = {}): string => {
  const judged = judge(migration(said), { ...present, ...now });
  return 'why' in judged ? judged.why : '';
};

test('a proof of just this CRD counts', () => {
  expect(judge(migration(status), present)).toEqual({
    certificate: {
      migration: 'widgets',
      at: '2026-11-21T00:00:00Z',
      resourceVersion: '900',
      objects: 4,
      oracle: 'SecondPass',
    },
  });
});

describe('it does not count', () => {
  const { proof: _proof, ...unproved } = status;
  const { crdGeneration: _generation, ...vague } = status.proof ?? { oracle: 'SecondPass' };
  test.each<[string, StorageMigrationStatus, Partial<Present>, string]>([
    ['without a proof', { ...unproved, phase: 'Verifying' }, {}, '(Verifying) has no proof'],
    ['of another CRD', status, { uid: 'crd-2' }, 'the CRD is another one'],
    ['of another generation', status, { generation: 3 }, 'its generation is 3, and was 2'],
    [
      'of no known generation',
      { ...status, proof: vague as StorageMigrationStatus['proof'] } as StorageMigrationStatus,
      {},
      'its generation is 2',
    ],
    ['of another version', status, { storageVersion: 'v2' }, 'it is of v1'],
    ['where more is listed', status, { storedVersions: ['v1alpha1', 'v1'] }, 'lists v1alpha1'],
    ['of a later etcd', status, { resourceVersion: '899' }, 'an etcd of another time'],
    ['where nothing can be compared', status, { resourceVersion: 'abc' }, 'resourceVersion abc'],
  ])('%s', (_, said, now, reason) => {
    expect(why(said, now)).toContain(reason);
  });

  test('a list that was left as it was is no reason', () => {
    const both = ['v1alpha1', 'v1'];
    expect(why({ ...status, storedVersions: both }, { storedVersions: both })).toBe('');
  });
});
