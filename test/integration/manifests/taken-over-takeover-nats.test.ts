// The account of `takeover` in the wrong hands, where it was granted its rights, as far as they are
// about NATS: it makes NatsClusters and Secrets of their users with nobody's passwords, leads a
// Service of old clients over and back, and ends old servers. All else of these it is refused.
import { beforeAll, expect, test } from 'vitest';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { defineLegacyNats, LegacyNats } from '../../builders/legacy-nats.ts';
import { until } from '../../builders/versioned-kind.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
const CORE_AT = `/api/v1/namespaces/${namespace}`;
const NATS_AT = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/natsclusters`;
const SERVICE_AT = `${CORE_AT}/services/old`;

const { admin, post, patch, remove } = stealTakeover(
  takeoverRights(namespace, ['old', 'old-2-users', 'new-users', 'new-tls']),
);
let ours: KubeObject;

const labels = { 'ballast.dev/takeover': 'over' };
const usersOf = (name: string) => [
  { name: '$G', users: [{ name: 'web', passwordSecret: { name, key: 'web' } }] },
];
const clusterOf = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'NatsCluster',
  metadata: { namespace, name, labels, ...metadata },
  spec: { accounts: usersOf(`${name}-users`), ...spec },
});
const ownedBy = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: 'ballast.dev/v1alpha1', kind, name, uid }],
});
const secretOf = (name: string, changes: object = {}, body: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    namespace,
    name,
    labels,
    ...ownedBy('NatsCluster', 'old-2', ours.metadata.uid),
    ...changes,
  },
  ...body,
});

beforeAll(async () => {
  const kube = admin();
  await defineLegacyNats(kube);
  const old = new LegacyNats(kube, namespace, 'old');
  await old.create([{ name: 'old-1', ip: '10.0.0.1' }], {});
  ours = (await kube.create(NATS_CLUSTERS, clusterOf('old-2'))).object;
  await kube.create(NATS_CLUSTERS, clusterOf('bus', {}, { labels: {} }));
  const metadata = { namespace, name: 'web', labels: { nats_cluster: 'old' } };
  const containers = [{ name: 'web', image: 'web:1' }];
  await kube.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } });
  await kube.create(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  // Rights and policies hold a moment after they were made.
  await until(
    'the policy to hold',
    async () => (await post(NATS_AT, clusterOf('new', {}, { labels: {} }))).status === 422,
  );
});

test('it makes a NatsCluster of its own, with Secrets that it may read', async () => {
  const clients = (secretName: string) => ({ tls: { clients: { secretName } } });
  const routes = (secretName: string) => ({ tls: { routes: { secretName } } });
  const outcomes = [
    await post(NATS_AT, clusterOf('new')),
    await post(NATS_AT, clusterOf('new', clients('new-tls'))),
    await post(NATS_AT, clusterOf('new', {}, { labels: {} })),
    await post(NATS_AT, clusterOf('new', {}, ownedBy('Takeover', 'over', 'a'))),
    await post(NATS_AT, clusterOf('new', { extraRoutes: ['old-1.old-mgmt.default.svc:6222'] })),
    await post(NATS_AT, clusterOf('new', { accounts: usersOf('mail') })),
    await post(NATS_AT, clusterOf('mail')),
    await post(NATS_AT, clusterOf('new', clients('web-tls'))),
    await post(NATS_AT, clusterOf('new', routes('web-tls'))),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    201, 201, 422, 422, 422, 422, 422, 422, 422,
  ]);
  expect(outcomes[5]?.text).toContain('gives users passwords of Secret INTO-users alone');
});

test('it routes that one with old servers, and changes nothing else', async () => {
  const [at, route] = [`${NATS_AT}/old-2`, 'old-1.old-mgmt.default.svc:6222'];
  const routed = (...extraRoutes: readonly string[]) => ({ spec: { extraRoutes } });
  const outcomes = [
    await patch(at, routed(route)),
    await patch(at, { spec: { extraRoutes: null } }),
    await patch(`${NATS_AT}/bus`, routed(route)),
    await patch(at, routed(route, 'nats.example.com:6222')),
    await patch(at, routed('old-1.old-mgmt.other.svc:6222')),
    await patch(at, routed('old-1.old-mgmt.default.svc.example.com:6222')),
    await patch(at, routed('10.0.0.9:6222')),
    await patch(at, routed('web-0.web.default.svc:6222')),
    await patch(at, { spec: { accounts: usersOf('mail') } }),
    await patch(at, { spec: { replicas: 5 } }),
    await patch(at, { spec: { accounts: null } }),
    await patch(at, { metadata: { labels: { a: 'b' } } }),
    await patch(at, { metadata: { annotations: { a: 'b' } } }),
    await patch(at, { metadata: ownedBy('Takeover', 'over', 'a') }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    200, 200, 422, 422, 422, 422, 422, 422, 422, 422, 422, 422, 422, 422,
  ]);
});

test('it makes the Secret of the users of a NatsCluster, and no other', async () => {
  const at = `${CORE_AT}/secrets`;
  const type = 'kubernetes.io/service-account-token';
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  const { uid } = ours.metadata;
  const outcomes = [
    await post(at, secretOf('old-2-users')),
    await post(at, secretOf('mail')),
    await post(at, secretOf('bus-users')),
    await post(at, secretOf('old-2-users', { ownerReferences: [] })),
    await post(at, secretOf('old-2-users', { labels: {} })),
    await post(at, secretOf('old-2-users', ownedBy('Takeover', 'old-2', uid))),
    await post(at, secretOf('old-2-users', { annotations }, { type })),
    await remove(`${at}/old`),
    await patch(`${at}/old`, { stringData: { a: 'b' } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    201, 422, 422, 422, 422, 422, 422, 403, 403,
  ]);
  expect((await admin().list(SECRETS, { namespace })).items).toHaveLength(1);
});

test('it deletes what it has made, and old servers, and nothing else', async () => {
  const outcomes = [
    await remove(`${NATS_AT}/old-2`),
    await remove(`${CORE_AT}/pods/old-1`),
    await remove(`${NATS_AT}/bus`),
    await remove(`${CORE_AT}/pods/web`),
    await remove(SERVICE_AT),
    await remove(`${CORE_AT}/pods`),
    await remove('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/natsclusters.nats.io'),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 422, 422, 403, 403, 403]);
});

const ports = [{ name: 'tcp-client', port: 4222, targetPort: 4444 }];
const OVER = { app: null, nats_cluster: null, 'ballast.dev/nats-cluster': 'old-2' };

test('the Service of the old clients is led over, and no other one changed', async () => {
  const metadata = { ownerReferences: null };
  const to = (selector: object, more: object = {}) => ({ metadata, spec: { selector, ...more } });
  const outcomes = [
    await patch(SERVICE_AT, to(OVER)),
    await patch(SERVICE_AT, { spec: { selector: OVER } }),
    await patch(SERVICE_AT, to({ ...OVER, app: 'web' })),
    await patch(SERVICE_AT, to({ app: 'web', nats_cluster: null })),
    await patch(SERVICE_AT, to(OVER, { ports })),
    await patch(SERVICE_AT, to(OVER, { externalIPs: ['10.1.1.1'] })),
    await patch(SERVICE_AT, to(OVER, { type: 'NodePort' })),
    await patch(`${CORE_AT}/services/old-mgmt`, to({ ...OVER, nats_version: null })),
    await patch(`${CORE_AT}/services/web`, to(OVER)),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    200, 422, 422, 422, 422, 422, 422, 422, 422,
  ]);
});

test('it is led back to the old servers, and to nobody else', async () => {
  const kube = admin();
  const target = { namespace, name: 'old' };
  const found = await kube.get(SERVICES, target);
  const [owner] = found?.metadata.ownerReferences ?? [];
  const gone = { metadata: { ownerReferences: null }, spec: { selector: OVER } };
  await kube.patch(SERVICES, target, { type: 'merge', body: gone });
  const back = { 'ballast.dev/nats-cluster': null, app: 'nats', nats_cluster: 'old' };
  const to = (selector: object, owners: readonly object[], more: object = {}) => ({
    metadata: { ownerReferences: owners },
    spec: { selector, ...more },
  });
  const own = [{ ...owner }];
  const outcomes = [
    await patch(SERVICE_AT, to(back, own)),
    await patch(SERVICE_AT, to(back, [])),
    await patch(SERVICE_AT, to({ ...back, nats_cluster: 'web' }, own)),
    await patch(SERVICE_AT, to(back, [{ ...owner, name: 'web' }])),
    await patch(SERVICE_AT, to(back, [{ ...owner, apiVersion: 'v1', kind: 'ConfigMap' }])),
    await patch(SERVICE_AT, to(back, [...own, { ...owner, uid: 'a', name: 'web' }])),
    await patch(SERVICE_AT, to(back, own, { ports })),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422, 422, 422, 422]);
});
