// The account of `takeover` in the wrong hands, where it was granted its rights, as far as they are
// about etcd: it makes and deletes what belongs to a Takeover, and an EtcdCluster whose name it was
// granted; it leads a Service of the old clients over, lets claims go from their old owner, and
// scales a Deployment. All else of these it is refused.
import { beforeAll, expect, test } from 'vitest';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, SERVICES } from '../../../shared/stateful/parts.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { until } from '../../builders/versioned-kind.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
const CORE_AT = `/api/v1/namespaces/${namespace}`;
const OURS_AT = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}`;
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' } as const;
const DEPLOYMENTS_AT = `/apis/apps/v1/namespaces/${namespace}/deployments`;
const OWN = 'over-takeover-1';
const INTO = ['old-2', 'made', 'ours'];

const { admin, attempt, post, patch, remove } = stealTakeover(
  takeoverRights(namespace, ['operator', 'given'], undefined, INTO),
);
let made: KubeObject;

const metadataOf = (name: string, changes: object = {}) => {
  const owner = { apiVersion: 'ballast.dev/v1alpha1', kind: 'Takeover', controller: true };
  const { name: of, uid } = made.metadata;
  const labels = { 'ballast.dev/takeover': 'over' };
  return { namespace, name, labels, ownerReferences: [{ ...owner, name: of, uid }], ...changes };
};

const CLAIM_SPEC = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const claimOf = (name: string, changes: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: metadataOf(name, changes),
  spec: CLAIM_SPEC,
});
const endpoints = ['https://10.0.0.1:2379'];
const backupOf = (name: string, changes: object = {}, spec: object = {}) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdBackup',
  metadata: metadataOf(name, changes),
  spec: { source: { endpoints }, target: { claim: { name } }, ...spec },
});
const restoreOf = (
  name: string,
  changes: object = {},
  source: object = { etcdBackup: { name } },
) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdRestore',
  metadata: metadataOf(name, changes),
  spec: { source, etcdCluster: { name: 'old-2' } },
});

const marksOf = (more: object = {}) => ({ 'ballast.dev/takeover-uid': 'a', ...more });
const clusterOf = (name: string, spec: object = {}, changes: object = {}) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: {
    namespace,
    name,
    labels: { 'ballast.dev/takeover': 'over' },
    annotations: marksOf(),
    ...changes,
  },
  spec,
});

async function putDeployment(): Promise<void> {
  const labels = { name: 'etcd-operator' };
  const containers = [{ name: 'operator', image: 'quay.io/coreos/etcd-operator:v0.9.4' }];
  await admin().create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'etcd-operator' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
}

async function putClusters(): Promise<void> {
  await put(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'led-client' },
    spec: { selector: { 'ballast.dev/etcd-cluster': 'made' }, ports: [{ port: 2379 }] },
  });
  for (const [name, label] of [
    ['ours', OWN],
    ['main', OWN],
    ['theirs', 'by-hand'],
  ] as const) {
    await put(
      ETCD_CLUSTERS,
      clusterOf(name, {}, { labels: { 'ballast.dev/etcd-restore': label } }),
    );
  }
  await put(ETCD_CLUSTERS, clusterOf('made'));
  await put(ETCD_CLUSTERS, clusterOf('other'));
}

const put = (ref: ResourceRef, body: object): Promise<unknown> =>
  admin().create(ref, body as Manifest);

beforeAll(async () => {
  const kube = admin();
  await defineLegacyEtcd(kube);
  const old = new LegacyEtcd(kube, namespace, 'old');
  await old.create([{ name: 'old-a', ip: '10.0.0.1', claim: 'old-a' }]);
  await old.takeOver('over');
  const found = await kube.get(TAKEOVERS, { namespace, name: 'over' });
  if (found === null) throw new Error('there is no Takeover');
  made = found;
  await putDeployment();
  const none = { ownerReferences: [] };
  const member = { 'ballast.dev/etcd-cluster': 'main', 'ballast.dev/etcd-peer': 'main-0' };
  await put(CLAIMS, claimOf(OWN));
  await put(CLAIMS, claimOf('data-main-0', { ...none, labels: member }));
  await put(CLAIMS, claimOf('disk', { ...none, labels: {} }));
  await put(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'web-client' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await putClusters();
  // Rights and policies hold a moment after they were made.
  await until(
    'the policy to hold',
    async () => (await post(`${CORE_AT}/persistentvolumeclaims`, claimOf('disk-2'))).status === 422,
  );
});

test('it makes what belongs to a Takeover, and nothing else', async () => {
  const [claims, backups, restores] = [
    `${CORE_AT}/persistentvolumeclaims`,
    `${OURS_AT}/etcdbackups`,
    `${OURS_AT}/etcdrestores`,
  ] as const;
  const next = 'over-takeover-2';
  const stranger = { ownerReferences: [] };
  const other = { labels: { 'ballast.dev/takeover': 'other' } };
  const cluster = {
    apiVersion: 'ballast.dev/v1alpha1',
    metadata: { namespace, name: 'mine' },
    spec: {},
  };
  const outcomes = [
    await post(claims, claimOf(next)),
    await post(backups, backupOf(next)),
    await post(restores, restoreOf(next)),
    await post(claims, claimOf('disk-2')),
    await post(claims, claimOf(next, stranger)),
    await post(backups, backupOf(next, stranger)),
    await post(backups, backupOf('nightly')),
    await post(restores, restoreOf(next, other)),
    await attempt({
      method: 'POST',
      path: `${OURS_AT}/etcdclusters`,
      body: { ...cluster, kind: 'EtcdCluster' },
    }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    201, 201, 201, 422, 422, 422, 422, 422, 422,
  ]);
});

const S3 = { bucket: 'backups', credentials: { secretName: 'mail' } };
const passwordSecret = { name: 'mail', key: 'password' };
const encryption = { secretName: 'mail' };

test.each<[object]>([
  [{ source: { endpoints, login: { passwordSecret } } }],
  [{ source: { etcdCluster: { name: 'main' } } }],
  [{ target: { s3: S3 } }],
  [{ target: { claim: { name: 'disk' } } }],
  [{ encryption }],
  [{ rehearsal: { image: 'quay.io/coreos/etcd:v3.6.16' } }],
])('a backup of its with %j is refused: it would get what is not its own', async (spec) => {
  const { status, text } = await post(
    `${OURS_AT}/etcdbackups`,
    backupOf('over-takeover-2', {}, spec),
  );
  expect(text).toContain('has backups taken of endpoints into its own claim, with no Secret but');
  expect(status).toBe(422);
});

const keys = {
  certificate: 'etcd-client.crt',
  key: 'etcd-client.key',
  authority: 'etcd-client-ca.crt',
};
const members = ['https://old-a.old.default.svc:2379', 'https://old-b.old.default.svc:2379'];
const LONGER = 'https://old-a.old.default.svc.example.com:2379';
const shown = (tls: object = {}, urls: readonly string[] = members) => ({
  source: { endpoints: urls, tls: { secretName: 'operator', keys, ...tls } },
});

test('a backup of its shows old members the certificate of their operator', async () => {
  const body = backupOf('over-takeover-2', {}, shown());
  expect(await post(`${OURS_AT}/etcdbackups`, body)).toMatchObject({ status: 201 });
});

test.each<[string, object]>([
  ['a Secret that it may not read', shown({ secretName: 'mail' })],
  ['all of a Secret', shown({ keys: undefined })],
  ['another key of it', shown({ keys: { ...keys, certificate: 'password' } })],
  ['it to a stranger', shown({}, ['https://etcd.example.com:2379'])],
  ['it to an address', shown({}, endpoints)],
  ['it to another namespace', shown({}, ['https://old-a.old.mine.svc:2379'])],
  ['it to a name that only begins like theirs', shown({}, [LONGER])],
  ['it to a stranger as well', shown({}, [...members, 'https://a.example.com:2379'])],
])('a backup of its that shows %s is refused', async (_, spec) => {
  const body = backupOf('over-takeover-2', {}, spec);
  const { status, text } = await post(`${OURS_AT}/etcdbackups`, body);
  expect(text).toContain('from a Secret that it may read, and nobody else anything');
  expect(status).toBe(422);
});

test.each<[object]>([
  [{ s3: { ...S3, key: 'a.db' } }],
  [{ claim: { name: 'disk', path: 'a.db' } }],
  [{ etcdBackup: { name: 'nightly' } }],
  [{ etcdBackup: { name: 'over-takeover-2' }, encryption }],
])('a restore of its from %j is refused', async (source) => {
  const body = restoreOf('over-takeover-2', {}, source);
  const { status, text } = await post(`${OURS_AT}/etcdrestores`, body);
  expect(text).toContain('has its own backups restored, with no Secret');
  expect(status).toBe(422);
});

const CLUSTERS_AT = `${OURS_AT}/etcdclusters`;
const OF_DATA = { 'ballast.dev/etcd-cluster-id': 'a1b2' };
const JOINING = { ...OF_DATA, 'ballast.dev/etcd-joins': 'old-a=http://10.0.0.1:2380' };

test.each<[string, object, object]>([
  ['empty', {}, {}],
  ['with a certificate that it may read', { tls: { clients: { secretName: 'given' } } }, {}],
  ['that joins the members of a cluster', {}, { annotations: marksOf(JOINING) }],
])('it makes an EtcdCluster whose name it was granted: %s', async (_, spec, changes) => {
  const outcome = await post(CLUSTERS_AT, clusterOf('old-2', spec, changes));
  expect(outcome).toMatchObject({ status: 201 });
});

const label = { 'ballast.dev/takeover': 'over' };

test.each<[string, string, object, object]>([
  ['whose names it was granted', 'main', {}, {}],
  ['whose names it was granted', 'old-20', {}, {}],
  ['no EtcdCluster that asks for logins', 'old-2', { auth: {} }, {}],
  ['no certificates but those', 'old-2', { tls: { clients: { secretName: 'web' } } }, {}],
  ['no certificates but those', 'old-2', { tls: { peers: { secretName: 'web' } } }, {}],
  ['is born empty, or joins', 'old-2', {}, { annotations: marksOf(OF_DATA) }],
  ['is born empty, or joins', 'old-2', {}, { annotations: marksOf({ 'ballast.dev/a': 'b' }) }],
  ['is born empty, or joins', 'old-2', {}, { annotations: {} }],
  ['is born empty, or joins', 'old-2', {}, { finalizers: ['ballast.dev/a'] }],
  ['is born empty, or joins', 'old-2', {}, { labels: { ...label, a: 'b' } }],
])('an EtcdCluster of its is refused (%s): %s %j %j', async (why, name, spec, changes) => {
  const { status, text } = await post(CLUSTERS_AT, clusterOf(name, spec, changes));
  expect(text).toContain(why);
  expect(status).toBe(422);
});

test('an EtcdCluster of its belongs to nobody, and has the label of a Takeover', async () => {
  const { ownerReferences } = metadataOf('old-2');
  const owned = clusterOf('old-2', {}, { ownerReferences });
  const bare = clusterOf('old-2', {}, { labels: {} });
  const outcomes = [
    await post(CLUSTERS_AT, owned),
    await post(CLUSTERS_AT, bare),
    await patch(`${CLUSTERS_AT}/made`, { spec: { replicas: 1 } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([422, 422, 403]);
});

test('it deletes what it may have made, and nothing else', async () => {
  const outcomes = [
    await remove(`${CORE_AT}/persistentvolumeclaims/${OWN}`),
    await remove(`${CORE_AT}/persistentvolumeclaims/data-main-0`),
    await remove(`${OURS_AT}/etcdclusters/ours`),
    await remove(`${OURS_AT}/etcdclusters/made`),
    await remove(`${OURS_AT}/etcdclusters/main`),
    await remove(`${OURS_AT}/etcdclusters/other`),
    await remove(`${CORE_AT}/persistentvolumeclaims/disk`),
    await remove(`${CORE_AT}/persistentvolumeclaims/old-a`),
    await remove(`${OURS_AT}/etcdclusters/theirs`),
    await remove(`${CORE_AT}/services/old`),
    await remove(`${CORE_AT}/pods/old-a`),
    await remove(`${DEPLOYMENTS_AT}/etcd-operator`),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 422, 422, 422, 422, 422, 403, 422, 403,
  ]);
});

test('a claim loses its old owner, and is not changed otherwise', async () => {
  const at = `${CORE_AT}/persistentvolumeclaims/old-a`;
  const freed = { ownerReferences: null };
  const outcomes = [
    await patch(at, { metadata: freed }),
    await patch(at, { metadata: { ...freed, labels: { a: 'b' } } }),
    await patch(at, { metadata: { ...freed, annotations: { a: 'b' } } }),
    await patch(at, { metadata: { annotations: { a: 'b' } } }),
    await patch(`${CORE_AT}/persistentvolumeclaims/disk`, { metadata: { labels: { a: 'b' } } }),
    await patch(`${CORE_AT}/persistentvolumeclaims/${OWN}`, { metadata: freed }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422, 422, 422]);
});

test('the Service of the old clients is led over, and no other one changed', async () => {
  const at = `${CORE_AT}/services/old-client`;
  const metadata = { ownerReferences: null };
  const selector = { app: null, etcd_cluster: null, 'ballast.dev/etcd-cluster': 'old-2' };
  const ports = [{ name: 'client', port: 2379, targetPort: 4444 }];
  const outcomes = [
    await patch(at, { metadata, spec: { selector } }),
    await patch(at, { spec: { selector } }),
    await patch(at, { metadata, spec: { selector: { ...selector, app: 'web' } } }),
    await patch(at, { metadata, spec: { selector: { a: 'b' } } }),
    await patch(at, { metadata, spec: { selector, ports } }),
    await patch(at, { metadata, spec: { selector, externalIPs: ['10.1.1.1'] } }),
    await patch(`${CORE_AT}/services/old`, { metadata, spec: { selector } }),
    await patch(`${CORE_AT}/services/web-client`, { spec: { selector: selector } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422, 422, 422, 422, 422]);
});

test('a Service that it has led over is led back to its old owner, and nowhere else', async () => {
  const at = `${CORE_AT}/services/led-client`;
  const owner = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster', uid: 'a' };
  const metadata = { ownerReferences: [{ ...owner, name: 'led', controller: true }] };
  const other = { ownerReferences: [{ ...owner, name: 'old', controller: true }] };
  const selector = { 'ballast.dev/etcd-cluster': null, app: 'etcd', etcd_cluster: 'led' };
  const outcomes = [
    await patch(at, { metadata, spec: { selector } }),
    await patch(at, { spec: { selector } }),
    await patch(at, { metadata: other, spec: { selector } }),
    await patch(at, { metadata, spec: { selector: { ...selector, etcd_cluster: 'old' } } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422]);
});

test('a Deployment is scaled, and not changed otherwise', async () => {
  const at = `${DEPLOYMENTS_AT}/etcd-operator`;
  const containers = [{ name: 'operator', image: 'images.example.com/a:1' }];
  const outcomes = [
    await patch(at, { spec: { replicas: 0 } }),
    await patch(at, { spec: { template: { spec: { containers } } } }),
    await patch(at, { spec: { replicas: 0, strategy: { type: 'Recreate', rollingUpdate: null } } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422]);
});
