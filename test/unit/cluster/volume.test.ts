// Steps for a claim: none before its place is known, a directory then, growth later; and for a
// volume that nobody claims any more.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { pathToRemove, stepForClaim } from '../../../knative/try/cluster/inside/volume.ts';

const NODES = '/nodes';

interface ClaimParts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly spec?: object;
  readonly status?: object;
}

const claim = ({ spec, status, ...metadata }: ClaimParts = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'shop', uid: 'u1', resourceVersion: '1', ...metadata },
  spec: {
    storageClassName: 'local',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
  status: { phase: 'Pending', ...status },
});

const placed = { annotations: { 'volume.kubernetes.io/selected-node': 'node-2' } };
const bound = { volumeName: 'pvc-u1' };

test.each([
  ['whose pod has no node yet', claim()],
  ['of another class', claim({ ...placed, spec: { storageClassName: 'fast' } })],
  ['that is going', claim({ ...placed, deletionTimestamp: '2026-11-21T00:00:00Z' })],
  ['for a raw device', claim({ ...placed, spec: { volumeMode: 'Block' } })],
  [
    'that has what it asks for',
    claim({ spec: bound, status: { phase: 'Bound', capacity: { storage: '1Gi' } } }),
  ],
  ['that is bound in this moment', claim({ spec: bound, status: { phase: 'Pending' } })],
])('nothing is done about a claim %s', (_case, object) => {
  expect(stepForClaim(object, NODES)).toEqual({ do: 'nothing' });
});

test('a claim gets a directory on the node of its pod, and nowhere else', () => {
  const spec = { accessModes: ['ReadWriteOncePod'] };
  const step = stepForClaim(claim({ ...placed, spec }), NODES);
  if (step.do !== 'provision') throw new Error(`${step.do} is not it`);
  expect(step.path).toBe('/nodes/node-2/volumes/pvc-u1');
  expect(step.volume).toMatchObject({
    metadata: { name: 'pvc-u1' },
    spec: {
      capacity: { storage: '1Gi' },
      local: { path: step.path },
      claimRef: { namespace: 'shop', name: 'data', uid: 'u1' },
      accessModes: ['ReadWriteOncePod'],
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', values: ['node-2'] }] },
          ],
        },
      },
    },
  });
});

test('a bound claim that asks for more grows', () => {
  const spec = { ...bound, resources: { requests: { storage: '2Gi' } } };
  const object = claim({ spec, status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
  expect(stepForClaim(object, NODES)).toEqual({
    do: 'grow',
    volumeName: 'pvc-u1',
    storage: '2Gi',
  });
});

const spec = (policy: string): object => ({ persistentVolumeReclaimPolicy: policy });

const volume = (phase: string, policy = 'Delete', by = 'ballast.dev/local'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: {
    name: 'pvc-u1',
    uid: 'u2',
    resourceVersion: '1',
    annotations: { 'pv.kubernetes.io/provisioned-by': by },
  },
  spec: { ...spec(policy), local: { path: '/nodes/node-2/volumes/pvc-u1' } },
  status: { phase },
});

test('only a released volume of ours, which is not to be retained, is removed', () => {
  expect(pathToRemove(volume('Released'), NODES)).toBe('/nodes/node-2/volumes/pvc-u1');
  expect(pathToRemove(volume('Bound'), NODES)).toBeUndefined();
  expect(pathToRemove(volume('Released', 'Retain'), NODES)).toBeUndefined();
  expect(pathToRemove(volume('Released', 'Delete', 'somebody.else/disk'), NODES)).toBeUndefined();
});

test.each([
  '/nodes/node-2',
  '/nodes/node-2/volumes',
  '/nodes/node-2/volumes/pvc-u1/inner',
  '/nodes/node-2/volumes/others',
  '/nodes/../volumes/pvc-u1',
  '/nodes/../etc/volumes/pvc-u1',
  '/etc',
  '/',
])('a volume that says it is ours and lies at %s is not removed', (path) => {
  const object = { ...volume('Released'), spec: { ...spec('Delete'), local: { path } } };
  expect(pathToRemove(object, NODES)).toBeUndefined();
});

test.each(['..', '../..', '/', 'node-2/volumes/pvc-u1', '.'])(
  'a claim whose node is called %s gets no directory',
  (node) => {
    const annotations = { 'volume.kubernetes.io/selected-node': node };
    expect(stepForClaim(claim({ annotations }), NODES)).toEqual({ do: 'nothing' });
  },
);
