// Parts of an owner: they are told from those of others, and what somebody changed in one is seen,
// while what the API server or a webhook added is let be.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import {
  foundPartOf,
  HASH_ANNOTATION,
  isAsRendered,
  isOurs,
  nameTaken,
  owned,
  type Owner,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { KubeModel } from './kube-model.ts';

const OWNER: Owner = {
  apiVersion: 'example.org/v1',
  kind: 'Database',
  name: 'db',
  namespace: 'shop',
  uid: 'u1',
  labels: { db: 'db' },
};
const SPEC = {
  replicas: 3,
  template: { args: ['--a', '--b'], limits: { memory: '1024Mi' } },
  volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '10Gi' } } } }],
};
const manifest = owned(OWNER, 'apps/v1', 'StatefulSet', 'db-set', { spec: SPEC });

/** As the API server has it, with these changes. */
function stored(...changes: readonly Readonly<Record<string, unknown>>[]): KubeObject {
  const kube = new KubeModel();
  kube.put(STATEFUL_SETS, manifest);
  for (const change of changes) kube.change(STATEFUL_SETS, manifest.metadata, { ...change });
  const found = kube.objects.get('statefulsets/shop/db-set');
  if (found === undefined) throw new Error('it is not there');
  return found;
}

const isSame = (found: KubeObject | null): boolean => isAsRendered({ manifest }, found);

test('a part carries the labels of its owner, and goes when he goes', () => {
  const { labels, ownerReferences, name, namespace } = manifest.metadata;
  expect([labels, name, namespace]).toEqual([OWNER.labels, 'db-set', 'shop']);
  const { apiVersion, kind, uid } = OWNER;
  expect(ownerReferences).toEqual([{ apiVersion, kind, name: 'db', uid, controller: true }]);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['with fields that the API server fills in', { spec: { template: { dnsPolicy: 'Default' } } }],
  [
    'with an amount that is spelled otherwise',
    { spec: { template: { limits: { memory: '1Gi' } } } },
  ],
  ['with labels of somebody', { metadata: { labels: { more: 'yes' } } }],
])('a part %s is as rendered', (_, change) => {
  expect(isSame(stored(change))).toBe(true);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['with another number', { spec: { replicas: 2 } }],
  ['with another amount', { spec: { template: { limits: { memory: '1025Mi' } } } }],
  ['with a longer list', { spec: { template: { args: ['--a', '--b', '--c'] } } }],
  ['with a list in another order', { spec: { template: { args: ['--b', '--a'] } } }],
  ['without one of its fields', { spec: { template: { limits: undefined } } }],
  ['with a list in the place of fields', { spec: { template: ['a'] } }],
  ['rendered from something else', { metadata: { annotations: { [HASH_ANNOTATION]: 'old' } } }],
])('a part %s is not as rendered', (_, change) => {
  expect(isSame(stored(change))).toBe(false);
});

test('a part that is not there is not as rendered', () => {
  expect(isSame(null)).toBe(false);
});

test('parts of others, and of a former owner of that name, are not ours', () => {
  const former = [{ apiVersion: 'example.org/v1', kind: 'Database', name: 'db', uid: 'former' }];
  expect(isOurs(stored(), OWNER)).toBe(true);
  expect(isOurs(stored({ metadata: { ownerReferences: former } }), OWNER)).toBe(false);
  expect(isOurs(stored({ metadata: { ownerReferences: undefined } }), OWNER)).toBe(false);
  expect(nameTaken(stored()).message).toContain('StatefulSet db-set is there already');
});

test('of a part little is kept, however much somebody wrote into it', () => {
  const annotations = { text: 'x'.repeat(1_000_000) };
  const object = stored({ metadata: { annotations } });
  const { uid, resourceVersion } = object.metadata;
  const kept = { uid, resourceVersion, replicas: 3, storage: '10Gi' };
  expect(foundPartOf(object)).toEqual(kept);
  expect(foundPartOf({ ...object, kind: 'Service' })).toEqual({ uid, resourceVersion });
});
