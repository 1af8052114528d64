// The account of `takeover` in the wrong hands, and all that it may change: it tries each time what
// a takeover does, and something else with it. Services are reached by whom their fields say, and
// have the names that annotations say; finalizers keep what ends; an owner that is not there has a
// Service deleted.
import { beforeAll, describe, expect, test } from 'vitest';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { chartServices, chartStatefulSet } from '../../builders/legacy-chart.ts';
import { putStored } from '../../builders/etcd-values.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
const CORE_AT = `/api/v1/namespaces/${namespace}`;
const APPS_AT = `/apis/apps/v1/namespaces/${namespace}`;
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' } as const;
const KEPT = 'and nothing else of what is there';

const { admin, patch } = stealTakeover(
  takeoverRights(namespace, ['granted-users'], undefined, ['granted'], ['chart']),
);

const COREOS = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster', uid: 'a' };
const NATS_IO = { apiVersion: 'nats.io/v1alpha2', kind: 'NatsCluster', uid: 'a' };

const serviceOf = (name: string, owners: readonly object[], selector: object, spec: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name, ownerReferences: owners, annotations: { kept: 'a' } },
    spec: { selector, ports: [{ name: 'client', port: 2379 }], ...spec },
  }) as Manifest;

const BALANCED = { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8'] };
const TO_ETCD = 'ballast.dev/etcd-cluster';
const TO_NATS = 'ballast.dev/nats-cluster';

async function putAll(): Promise<void> {
  const kube = admin();
  const put = (ref: ResourceRef, object: Manifest) => kube.create(ref, object);
  const coreos = [{ ...COREOS, name: 'old' }];
  await put(SERVICES, serviceOf('old-client', coreos, { etcd_cluster: 'old' }, BALANCED));
  await put(SERVICES, serviceOf('bus', [{ ...NATS_IO, name: 'bus' }], { nats_cluster: 'bus' }));
  for (const to of ['granted', 'web']) {
    await put(SERVICES, serviceOf(`to-${to}-client`, [], { [TO_ETCD]: to }));
    await put(SERVICES, serviceOf(`nats-to-${to}`, [], { [TO_NATS]: to }));
  }
  const resources = { requests: { storage: '1Gi' } };
  await put(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: 'old-0', ownerReferences: coreos },
    spec: { accessModes: ['ReadWriteOnce'], resources },
  });
  const labels = { name: 'operator' };
  const containers = [{ name: 'operator', image: 'quay.io/coreos/etcd-operator:v0.9.4' }];
  await put(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'operator', labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  const place = { namespace, name: 'chart' };
  await put(STATEFUL_SETS, chartStatefulSet(place));
  for (const service of chartServices(place)) await put(SERVICES, service);
  await put(NATS_CLUSTERS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'NatsCluster',
    metadata: { namespace, name: 'granted', labels: { 'ballast.dev/takeover': 'over' } },
    spec: {},
  });
}

const selector = { etcd_cluster: null, [TO_ETCD]: 'granted' };
const OVER = { metadata: { ownerReferences: null }, spec: { selector } };
const DOWN = { spec: { replicas: 0 } };

beforeAll(async () => {
  await putAll();
  // Rights and policies hold a moment after they were made.
  const free = { metadata: { ownerReferences: null } };
  const at = `${CORE_AT}/persistentvolumeclaims/old-0`;
  await until('rights to hold', async () => (await patch(at, free)).status === 200);
  const labelled = { metadata: { labels: { a: 'b' } } };
  await until('the policy to hold', async () => (await patch(at, labelled)).status === 422);
});

interface Patch {
  readonly metadata?: object;
  readonly spec?: object;
}

const SCALABLE = {
  metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' }] },
};
const ANYWHERE: readonly Patch[] = [
  { metadata: { annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'example.com' } } },
  { metadata: { finalizers: ['example.com/mine'] } },
  { metadata: { labels: { a: 'b' } } },
];
const routed = { spec: { extraRoutes: ['old-1.old-mgmt.default.svc:6222'] } };

/** Each kind with what a takeover does with it, and with what somebody would like to do at once. */
const KINDS: readonly (readonly [string, Patch, readonly Patch[]])[] = [
  [
    `${CORE_AT}/services/old-client`,
    OVER,
    [
      { metadata: { annotations: { kept: null } } },
      { spec: { loadBalancerSourceRanges: null } },
      { spec: { loadBalancerSourceRanges: ['0.0.0.0/0'] } },
      { spec: { externalTrafficPolicy: 'Local' } },
      { spec: { internalTrafficPolicy: 'Local' } },
      { spec: { sessionAffinity: 'ClientIP' } },
      { spec: { trafficDistribution: 'PreferClose' } },
      { spec: { allocateLoadBalancerNodePorts: false } },
      { spec: { externalIPs: ['10.1.1.1'] } },
      { spec: { type: 'ClusterIP', loadBalancerSourceRanges: null } },
      { spec: { ports: [{ name: 'client', port: 2379, targetPort: 4444 }] } },
    ],
  ],
  [
    `${CORE_AT}/persistentvolumeclaims/old-0`,
    { metadata: { ownerReferences: null } },
    // It would go while a pod uses it, without `kubernetes.io/pvc-protection`.
    [{ metadata: { finalizers: null } }],
  ],
  [
    `${APPS_AT}/deployments/operator`,
    DOWN,
    [
      SCALABLE,
      { spec: { paused: true } },
      { spec: { minReadySeconds: 9 } },
      { spec: { revisionHistoryLimit: 0 } },
      { spec: { progressDeadlineSeconds: 9 } },
      { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } },
      { spec: { template: { spec: { hostNetwork: true } } } },
    ],
  ],
  [`${APPS_AT}/statefulsets/chart`, DOWN, [SCALABLE, { spec: { minReadySeconds: 9 } }]],
  [
    `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/natsclusters/granted`,
    routed,
    [SCALABLE, { spec: { replicas: 5 } }, { spec: { networkPolicy: 'None' } }],
  ],
];

const both = (one: Patch, other: Patch): Patch => ({
  metadata: { ...one.metadata, ...other.metadata },
  spec: { ...one.spec, ...other.spec },
});

describe.each(KINDS)('%s', (at, does, attacks) => {
  test('is changed as a takeover does it', async () => {
    expect(await patch(at, does)).toMatchObject({ status: 200 });
  });

  test.each([...ANYWHERE, ...attacks])('and not with %j', async (attack) => {
    const { status, text } = await patch(at, both(does, attack));
    expect(text).toContain(KEPT);
    expect(status).toBe(422);
  });
});

/** Kubernetes 1.19 knew no `clusterIPs`, families or traffic policies, and stored none. */
test('a Service that was stored years ago is led over, and not changed otherwise', async () => {
  const [kube, plane] = [admin(), sharedPlane()];
  const name = 'past-client';
  const owners = [{ ...COREOS, name: 'past' }];
  const today = serviceOf(name, owners, { etcd_cluster: 'past' });
  const { object } = await kube.create(SERVICES, today);
  const { clusterIP } = object['spec'] as { readonly clusterIP: string };
  const { uid, creationTimestamp } = object.metadata;
  const ports = [{ name: 'client', protocol: 'TCP', port: 2379, targetPort: 2379 }];
  await putStored(plane, 'services', 'specs', `${namespace}/${name}`, {
    ...today,
    metadata: { ...today.metadata, uid, creationTimestamp },
    spec: {
      selector: { etcd_cluster: 'past' },
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP,
      ports,
    },
    status: { loadBalancer: {} },
  });
  const at = `${CORE_AT}/services/${name}`;
  const outcomes = [
    await patch(at, OVER),
    await patch(at, both(OVER, { spec: { internalTrafficPolicy: 'Local' } })),
    await patch(at, both(OVER, { spec: { ipFamilyPolicy: 'PreferDualStack' } })),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422]);
});

test('the Service of a chart is led over, and keeps its annotations', async () => {
  const at = `${CORE_AT}/services/chart`;
  const found = await admin().get(SERVICES, { namespace, name: 'chart' });
  const { selector: led = {} } = (found?.['spec'] ?? {}) as { readonly selector?: object };
  const none = Object.fromEntries(Object.keys(led).map((key) => [key, null]));
  const to = (name: string) => ({
    metadata: { labels: { 'app.kubernetes.io/managed-by': null } },
    spec: { selector: { ...none, [TO_NATS]: name } },
  });
  const [annotated, kept] = [{ metadata: { labels: {}, annotations: { a: 'b' } } }, to('granted')];
  const outcomes = [
    await patch(at, kept),
    await patch(at, to('web')),
    await patch(at, both(kept, { metadata: { ...kept.metadata, ...annotated.metadata } })),
    await patch(at, both(kept, { metadata: { finalizers: ['example.com/mine'] } })),
    await patch(at, both(kept, { spec: { sessionAffinity: 'ClientIP' } })),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([200, 422, 422, 422, 422]);
  expect(outcomes[1]?.text).toContain('and to no other');
});

test.each([
  ['old-client', { etcd_cluster: null, [TO_ETCD]: 'web' }],
  ['bus', { nats_cluster: null, [TO_NATS]: 'web' }],
])('clients of %s are led to no cluster whose name was not granted', async (name, to) => {
  const { status, text } = await patch(`${CORE_AT}/services/${name}`, {
    metadata: { ownerReferences: null },
    spec: { selector: to },
  });
  expect(text).toMatch(/^.*leads clients to .* and to no other/);
  expect(status).toBe(422);
});

/** The owner is of nobody, so that the garbage collector would delete the Service. */
test.each([
  ['to-granted-client', 200],
  ['to-web-client', 422],
  ['nats-to-granted', 200],
  ['nats-to-web', 422],
])(
  'after the grant has ended %s gets no owner with which it would be deleted',
  async (name, is) => {
    const isNats = name.startsWith('nats-');
    const of = name.replace(/-client$/, '');
    const owner = { ...(isNats ? NATS_IO : COREOS), name: of, controller: true };
    const back = isNats
      ? { [TO_NATS]: null, nats_cluster: of }
      : { [TO_ETCD]: null, etcd_cluster: of };
    const { status } = await patch(`${CORE_AT}/services/${name}`, {
      metadata: { ownerReferences: [owner] },
      spec: { selector: back },
    });
    expect(status).toBe(is);
  },
);
