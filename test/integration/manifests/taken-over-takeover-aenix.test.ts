// The account of `takeover` in the wrong hands, where it was granted its rights, as far as they are
// about an EtcdCluster of aenix's operator: it deletes such an object, leads the Service of its
// clients over, and has a backup shown its certificate. All else of these it is refused.
import { beforeAll, expect, test } from 'vitest';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { AENIX_ETCDS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { AenixEtcd, defineAenixEtcd } from '../../builders/aenix-etcd.ts';
import { leaveWebhook } from '../../builders/legacy-kind.ts';
import { until } from '../../builders/versioned-kind.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
const CORE_AT = `/api/v1/namespaces/${namespace}`;
const AENIX_AT = `/apis/etcd.aenix.io/v1alpha1/namespaces/${namespace}/etcdclusters`;
const BACKUPS_AT = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/etcdbackups`;
const SERVICE_AT = `${CORE_AT}/services/old`;
const LABEL = 'app.kubernetes.io/instance';

const { admin, post, patch, remove } = stealTakeover(
  takeoverRights(namespace, ['client', 'given'], undefined, ['old-2']),
);
let over: KubeObject;

const service = (name: string, of: string, owner: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name, ownerReferences: [{ uid: 'a', ...owner }] },
  spec: { selector: { [LABEL]: of }, ports: [{ port: 2379 }] },
});
const AENIX = { apiVersion: 'etcd.aenix.io/v1alpha1', kind: 'EtcdCluster', name: 'old' };

/** With the same labels, as every chart has them, and a claim that somebody gave to the object. */
async function putOthers(kube: KubeClient, owner: object): Promise<void> {
  const other = { apiVersion: 'etcd.example.com/v1', kind: 'EtcdCluster', name: 'web' };
  await kube.create(SERVICES, service('web', 'web', other));
  await kube.create(SERVICES, service('elsewhere', 'web', AENIX));
  await kube.create(SERVICES, service('backups', 'old', { ...AENIX, kind: 'EtcdBackup' }));
  await kube.create(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: 'data-old-0', ownerReferences: [owner] },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const labels = { [LABEL]: 'old' };
  await kube.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: 'old-0', labels, ownerReferences: [owner] },
    spec: { containers: [{ name: 'etcd', image: 'quay.io/coreos/etcd:v3.5.35' }] },
  });
}

beforeAll(async () => {
  const kube = admin();
  await defineAenixEtcd(kube);
  const old = new AenixEtcd(kube, namespace, 'old');
  await old.create(3);
  await leaveWebhook(kube, AENIX_ETCDS);
  await old.takeOver('over');
  const found = await kube.get(TAKEOVERS, { namespace, name: 'over' });
  if (found === null) throw new Error('there is no Takeover');
  over = found;
  await putOthers(kube, { ...AENIX, uid: 'a' });
  // Rights and policies hold a moment after they were made.
  await until('the policy to hold', async () => (await patch(SERVICE_AT, LED)).status === 200);
});

const GIVEN_UP = {
  'app.kubernetes.io/name': null,
  [LABEL]: null,
  'app.kubernetes.io/managed-by': null,
};
const selector = { ...GIVEN_UP, 'ballast.dev/etcd-cluster': 'old-2' };
const metadata = { ownerReferences: null };
const LED = { metadata, spec: { selector } };

test('the Service of its clients is led over, and no other one changed', async () => {
  const kept = { ...selector, [LABEL]: 'old' };
  const ports = [{ name: 'client', port: 2379, targetPort: 4444 }];
  const outcomes = [
    await patch(SERVICE_AT, LED),
    await patch(SERVICE_AT, { spec: { selector } }),
    await patch(SERVICE_AT, { metadata }),
    await patch(SERVICE_AT, { metadata, spec: { selector: kept } }),
    await patch(SERVICE_AT, { metadata, spec: { selector: { ...GIVEN_UP, app: 'web' } } }),
    await patch(SERVICE_AT, { metadata, spec: { selector, ports } }),
    await patch(SERVICE_AT, { metadata, spec: { selector, externalIPs: ['10.1.1.1'] } }),
    await patch(SERVICE_AT, { metadata: { ...metadata, labels: { a: 'b' } }, spec: { selector } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422, 422, 422, 422, 422]);
});

test.each([
  ['members know each other by', 'old-headless'],
  ['belongs to somebody else', 'web'],
  ['leads to others than those of its owner', 'elsewhere'],
  ['belongs to another kind of that group', 'backups'],
])('a Service that %s is not led over', async (_, name) => {
  const { status, text } = await patch(`${CORE_AT}/services/${name}`, LED);
  expect(text).toContain('leads a Service of clients over, and changes no other');
  expect(status).toBe(422);
});

test('the object is deleted where that was granted, and nothing of its own', async () => {
  const own = `/apis/apps/v1/namespaces/${namespace}/statefulsets/old`;
  const budget = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/old`;
  const freed = { metadata };
  const outcomes = [
    // Its webhooks are dead, and are not asked.
    await remove(`${AENIX_AT}/old`),
    await remove(AENIX_AT),
    await remove(`${AENIX_AT.replace(namespace, 'kube-system')}/old`),
    await patch(`${AENIX_AT}/old`, { metadata: { finalizers: ['a.example.com/b'] } }),
    await post(AENIX_AT, { ...AENIX, metadata: { name: 'mine' } }),
    await remove(own),
    await patch(own, { spec: { replicas: 0 } }),
    await remove(budget),
    await remove(`${CORE_AT}/configmaps/old-cluster-state`),
    await remove(`${CORE_AT}/services/old-headless`),
    await remove(`${CORE_AT}/pods/old-0`),
    await remove(`${CORE_AT}/persistentvolumeclaims/data-old-0`),
    // No plan is made where it has an owner.
    await patch(`${CORE_AT}/persistentvolumeclaims/data-old-0`, freed),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    200, 403, 403, 403, 403, 403, 403, 403, 403, 403, 422, 422, 422,
  ]);
});

const keys = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };
const MEMBER = 'https://old-0.old-headless.default.svc:2379';
const backupOf = (tls: object, endpoint = MEMBER) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdBackup',
  metadata: {
    namespace,
    name: 'over-takeover-1',
    labels: { 'ballast.dev/takeover': 'over' },
    ownerReferences: [
      {
        apiVersion: 'ballast.dev/v1alpha1',
        kind: 'Takeover',
        name: 'over',
        uid: over.metadata.uid,
        controller: true,
      },
    ],
  },
  spec: {
    source: { endpoints: [endpoint], tls: { secretName: 'client', keys, ...tls } },
    target: { claim: { name: 'over-takeover-1' } },
  },
});

test('a backup of its shows members the certificate of their operator', async () => {
  expect(await post(BACKUPS_AT, backupOf({}))).toMatchObject({ status: 201 });
});

test.each<[string, object, string]>([
  ['a Secret that it may not read', { secretName: 'server' }, MEMBER],
  ['all of a Secret', { keys: undefined }, MEMBER],
  ['keys of both operators', { keys: { ...keys, key: 'etcd-client.key' } }, MEMBER],
  ['another key of it', { keys: { ...keys, authority: 'password' } }, MEMBER],
  ['it to a stranger', {}, 'https://etcd.example.com:2379'],
  ['it to another namespace', {}, MEMBER.replace('default', 'mine')],
])('a backup of its that shows %s is refused', async (_, tls, endpoint) => {
  const { status, text } = await post(BACKUPS_AT, backupOf(tls, endpoint));
  expect(text).toContain('from a Secret that it may read, and nobody else anything');
  expect(status).toBe(422);
});
