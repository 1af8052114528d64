// The account of `takeover` in the wrong hands, where it was granted a NATS of Helm's chart: it
// leads the Service of that over and back, scales that StatefulSet down and deletes it when it is
// to have no pod, and routes a NatsCluster of its own with that alone. All else it is refused.
import { beforeAll, expect, test } from 'vitest';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { chartConfigMap, chartServices, chartStatefulSet } from '../../builders/legacy-chart.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { Outcome } from './accounts-at-work.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
const CORE_AT = `/api/v1/namespaces/${namespace}`;
const NATS_AT = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/natsclusters`;
const SETS_AT = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
/** The second one was granted to nobody. */
const [OLD, OTHER] = ['old', 'other'];
/** It was granted as well, and has claims. */
const KEEPING = 'keeping';

const { admin, attempt, post, patch, remove } = stealTakeover(
  takeoverRights(namespace, ['free-users', 'new-users'], undefined, [], [OLD, KEEPING]),
);
const read = (path: string): Promise<Outcome> => attempt({ method: 'GET', path });
const statuses = (outcomes: readonly Outcome[]) => outcomes.map(({ status }) => status);

const clusterOf = (name: string, clusterName: string) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'NatsCluster',
  metadata: { namespace, name, labels: { 'ballast.dev/takeover': 'over' } },
  spec: { clusterName },
});

beforeAll(async () => {
  const kube = admin();
  for (const name of [OLD, OTHER]) {
    const place = { namespace, name };
    await kube.create(CONFIG_MAPS, chartConfigMap(place, '{}'));
    await kube.create(STATEFUL_SETS, chartStatefulSet(place));
    for (const service of chartServices(place)) await kube.create(SERVICES, service);
  }
  const claim = {
    metadata: { name: 'keeping-js' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const claims = { replicas: 0, volumeClaimTemplates: [claim] };
  await kube.create(STATEFUL_SETS, chartStatefulSet({ namespace, name: KEEPING }, claims));
  const web = chartStatefulSet({ namespace, name: 'web' });
  await kube.create(STATEFUL_SETS, {
    ...web,
    metadata: { namespace, name: 'web', labels: { app: 'web' } },
  });
  await kube.create(NATS_CLUSTERS, clusterOf('new', OLD));
  // Rights and policies hold a moment after they were made.
  const isRefused = async () =>
    (await patch(`${SETS_AT}/${OLD}`, { spec: { replicas: 9 } })).status;
  await until('the policy to hold', async () => (await isRefused()) === 422);
});

test('it scales that StatefulSet down, and changes nothing else of one', async () => {
  const at = `${SETS_AT}/${OLD}`;
  const image = { name: 'nats', image: 'mine:1' };
  const outcomes = [
    await patch(at, { spec: { replicas: 2 } }),
    await patch(at, { spec: { replicas: 0 } }),
    await patch(at, { spec: { replicas: 4 } }),
    await patch(at, { spec: { replicas: 3 } }),
    await patch(at, { spec: { replicas: 2, template: { spec: { containers: [image] } } } }),
    await patch(at, { spec: { replicas: 2, minReadySeconds: 9 } }),
    await patch(at, { spec: { replicas: 2 }, metadata: { labels: { a: 'b' } } }),
    await patch(at, { spec: { replicas: 2 }, metadata: { annotations: { a: 'b' } } }),
    await patch(at, { spec: { replicas: 2 }, metadata: { finalizers: ['a.b/c'] } }),
    await patch(`${SETS_AT}/${OTHER}`, { spec: { replicas: 2 } }),
    await patch(`${SETS_AT}/web`, { spec: { replicas: 2 } }),
    await post(SETS_AT, chartStatefulSet({ namespace, name: 'mine' })),
  ];
  expect(statuses(outcomes)).toEqual([200, 200, 422, 422, 422, 422, 422, 422, 422, 403, 403, 403]);
});

test('it deletes it when it is to have no pod, and no other one', async () => {
  const kube = admin();
  const target = { namespace, name: OLD };
  const scale = (replicas: number) =>
    kube.patch(STATEFUL_SETS, target, { type: 'merge', body: { spec: { replicas } } });
  const before = await remove(`${SETS_AT}/${OLD}`);
  await scale(0);
  const outcomes = [
    before,
    await remove(`${SETS_AT}/${OLD}`),
    await remove(`${SETS_AT}/${OTHER}`),
    await remove(SETS_AT),
  ];
  await scale(3);
  expect(statuses(outcomes)).toEqual([422, 200, 403, 403]);
});

test('one that has claims it neither scales nor deletes', async () => {
  const kube = admin();
  const [at, target] = [`${SETS_AT}/${KEEPING}`, { namespace, name: KEEPING }];
  const gone = await remove(at);
  const body = { spec: { replicas: 3 } };
  await kube.patch(STATEFUL_SETS, target, { type: 'merge', body });
  expect(statuses([gone, await patch(at, { spec: { replicas: 2 } })])).toEqual([422, 422]);
});

test('it reads what these servers were told, and no other ConfigMap', async () => {
  const outcomes = [
    await read(`${CORE_AT}/configmaps/${OLD}-config`),
    await read(`${CORE_AT}/configmaps/${OTHER}-config`),
    await read(`${CORE_AT}/configmaps`),
    await patch(`${CORE_AT}/configmaps/${OLD}-config`, { data: { 'nats.conf': '{}' } }),
  ];
  expect(statuses(outcomes)).toEqual([200, 403, 403, 403]);
});

test('it makes a NatsCluster of the name of that NATS, and routes it with that alone', async () => {
  const routed = (...extraRoutes: readonly string[]) => ({ spec: { extraRoutes } });
  const outcomes = [
    await post(NATS_AT, clusterOf('free', OLD)),
    await post(NATS_AT, clusterOf('free', OTHER)),
    await post(NATS_AT, clusterOf('free', 'old.x')),
    await patch(`${NATS_AT}/new`, routed('old-0.old-headless.default.svc:6222')),
    await patch(`${NATS_AT}/new`, routed('other-0.other-headless.default.svc:6222')),
    await patch(`${NATS_AT}/new`, routed('old-0.old-headless.other.svc:6222')),
    await patch(`${NATS_AT}/new`, routed('old-0.old-mgmt.default.svc:6222')),
    await patch(`${NATS_AT}/new`, { spec: { clusterName: OTHER } }),
  ];
  expect(statuses(outcomes)).toEqual([201, 422, 422, 200, 422, 422, 422, 422]);
  expect(outcomes[1]?.text).toContain('only where it was granted the StatefulSet of that');
});

const MARK = 'app.kubernetes.io/managed-by';
const NONE = {
  'app.kubernetes.io/component': null,
  'app.kubernetes.io/instance': null,
  'app.kubernetes.io/name': null,
};
const ports = (changes: object = {}) => [
  { name: 'nats', port: 4222, protocol: 'TCP', appProtocol: 'tcp', targetPort: 4222, ...changes },
];
const OVER = {
  metadata: { labels: { [MARK]: null } },
  spec: { selector: { ...NONE, 'ballast.dev/nats-cluster': 'new' }, ports: ports() },
};

test('the Service of that NATS is led over, and no other one changed', async () => {
  const to = (changes: { readonly metadata?: object; readonly spec?: object }) => ({
    metadata: changes.metadata ?? OVER.metadata,
    spec: { ...OVER.spec, ...changes.spec },
  });
  const at = `${CORE_AT}/services/${OLD}`;
  const outcomes = [
    await patch(at, OVER),
    await patch(at, to({ spec: { ports: ports({ targetPort: 'nats' }) } })),
    await patch(at, to({ metadata: {} })),
    await patch(at, to({ metadata: { labels: { [MARK]: null, a: 'b' } } })),
    await patch(at, to({ spec: { ports: ports({ targetPort: 8222 }) } })),
    await patch(at, to({ spec: { ports: ports({ port: 4333 }) } })),
    await patch(at, to({ spec: { ports: [...ports(), { name: 'b', port: 1 }] } })),
    await patch(at, to({ spec: { selector: { ...OVER.spec.selector, app: 'web' } } })),
    await patch(at, to({ spec: { selector: { ...NONE, app: 'web' } } })),
    await patch(at, to({ spec: { externalIPs: ['10.1.1.1'] } })),
    await patch(at, to({ spec: { type: 'NodePort' } })),
    await patch(`${CORE_AT}/services/${OTHER}`, OVER),
    await patch(`${CORE_AT}/services/${OLD}-headless`, OVER),
    await remove(at),
  ];
  const refused = Array.from({ length: 11 }, () => 422);
  expect(statuses(outcomes)).toEqual([200, 200, ...refused, 403]);
});

test('it is led back to the old servers, and to nobody else', async () => {
  const kube = admin();
  const target = { namespace, name: OLD };
  await kube.patch(SERVICES, target, { type: 'merge', body: OVER });
  const selector = {
    'ballast.dev/nats-cluster': null,
    'app.kubernetes.io/component': 'nats',
    'app.kubernetes.io/instance': OLD,
    'app.kubernetes.io/name': 'nats',
  };
  const back = { ports: ports({ targetPort: 'nats' }), selector };
  const to = (spec: object = {}, labels: object = { [MARK]: 'Helm' }) => ({
    metadata: { labels },
    spec: { ...back, ...spec },
  });
  const at = `${CORE_AT}/services/${OLD}`;
  const outcomes = [
    await patch(at, to()),
    await patch(at, to({}, {})),
    await patch(at, to({}, { [MARK]: 'me' })),
    await patch(at, to({ selector: { ...selector, 'app.kubernetes.io/instance': OTHER } })),
    await patch(at, to({ selector: { ...selector, 'app.kubernetes.io/component': 'web' } })),
    await patch(at, to({ selector: { ...selector, app: 'web' } })),
    await patch(at, to({ ports: ports({ targetPort: 'monitor' }) })),
  ];
  expect(statuses(outcomes)).toEqual([200, 422, 422, 422, 422, 422, 422]);
});
