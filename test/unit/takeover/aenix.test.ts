// The plan for an EtcdCluster of aenix's etcd operator, as that leaves it: a StatefulSet with its
// pods, claims that belong to nobody, one operator for all namespaces. It is planned, never begun.
import { beforeEach, expect, test } from 'vitest';
import { AENIX_ETCDS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { CLAIMS, PODS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import {
  answerOf,
  begin,
  DEPLOYMENTS,
  namespace,
  plan,
  refusal,
  refusals,
  world,
} from './world.ts';

const apiVersion = 'etcd.aenix.io/v1alpha1';
const PODS_OF_SET = ['set-0', 'set-1', 'set-2'];
const labels = {
  'app.kubernetes.io/name': 'etcd',
  'app.kubernetes.io/instance': 'set',
  'app.kubernetes.io/managed-by': 'etcd-operator',
};

interface Left {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly policy?: object;
}

const put = (ref: typeof PODS, kind: string, name: string, owner: object, rest: object): string =>
  world.kube.put(ref, {
    apiVersion: ref.group === '' ? 'v1' : `${ref.group}/${ref.version}`,
    kind,
    metadata: { namespace, name, labels, ownerReferences: [owner] },
    ...rest,
  }).metadata.uid;

function leave({ spec = {}, annotations = {}, policy = {} }: Left = {}): void {
  begin();
  const { metadata } = world.kube.put(AENIX_ETCDS, {
    apiVersion,
    kind: 'EtcdCluster',
    metadata: { namespace, name: 'set', annotations },
    spec: { storage: {}, ...spec },
  });
  const owner = { apiVersion, kind: 'EtcdCluster', name: 'set', uid: metadata.uid };
  const claims = { persistentVolumeClaimRetentionPolicy: policy };
  const uid = put(STATEFUL_SETS, 'StatefulSet', 'set', owner, { spec: claims });
  const ofSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'set', uid };
  for (const [at, name] of PODS_OF_SET.entries()) {
    const podIP = `10.0.2.${at}`;
    const claimName = `data-${name}`;
    world.answers.set(podIP, answerOf(at, { version: '3.5.12' }));
    put(PODS, 'Pod', name, ofSet, {
      spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
      status: { phase: 'Running', podIP },
    });
    const claim = { metadata: { namespace, name: claimName, labels } };
    world.kube.put(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim });
  }
  const service = { spec: { selector: labels } };
  for (const name of ['set', 'set-headless']) put(SERVICES, 'Service', name, owner, service);
  const legacy = { apiVersion, kind: 'EtcdCluster', name: 'set' };
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec: { legacy } });
}

const GONE = { 'ballast.dev/operator': 'Gone' };

beforeEach(() => {
  leave({ annotations: GONE });
});

test('every object has its fate, and against it speaks alone that it is only planned', async () => {
  const { objects, refusals: against } = await plan();
  expect(against.map(({ reason }) => reason)).toEqual(['OnlyPlanned']);
  const told = objects.map(({ action, kind, name }) => `${action} ${kind} ${name}`);
  expect(told.filter((one) => !one.startsWith('Make'))).toEqual([
    'Adopt Service set',
    'Delete Service set-headless',
    'Delete EtcdCluster (etcd.aenix.io) set',
    'Delete StatefulSet set',
    'Delete ConfigMap set-cluster-state',
    'Delete Pod set-0',
    'Delete Pod set-1',
    'Delete Pod set-2',
    'Keep PersistentVolumeClaim data-set-0',
    'Keep PersistentVolumeClaim data-set-1',
    'Keep PersistentVolumeClaim data-set-2',
    'Keep CustomResourceDefinition etcdclusters.etcd.aenix.io',
  ]);
});

test('while nobody says that its operator is gone it has to be named', async () => {
  leave();
  expect(await refusals()).toEqual(['OnlyPlanned', 'OperatorUnknown']);
  world.kube.put(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'manager' },
    spec: {
      template: { spec: { containers: [{ image: 'a.b/aenix-io/etcd-operator:v0.4.2' }] } },
    },
  });
  expect(await refusals()).toEqual(['OnlyPlanned']);
});

test.each<[string, Left, string]>([
  ['claims go with the StatefulSet', { policy: { whenDeleted: 'Delete' } }, 'ClaimsGo: '],
  ['members ask for logins', { spec: { security: { enableAuth: true } } }, 'AuthEnabled: '],
  [
    'a flag has no word',
    { spec: { options: { 'max-txn-ops': '4', 'log-level': 'debug' } } },
    'CannotSay: Members have what an EtcdCluster has no words for, and clients may live by it: ' +
      'spec.options max-txn-ops. Take',
  ],
  [
    'etcd is started otherwise',
    { spec: { podTemplate: { spec: { containers: [{ name: 'etcd', args: ['--a'] }] } } } },
    'args of container etcd in spec.podTemplate',
  ],
  [
    'clients show no certificate',
    { spec: { security: { tls: { serverSecret: 'server' } } } },
    'CannotSay: Its members show clients a certificate and ask them for none',
  ],
])('it is refused where %s', async (_, left, why) => {
  leave({ ...left, annotations: GONE });
  expect(await refusal()).toContain(why);
});

test('without its StatefulSet nobody knows its pods', async () => {
  world.kube.remove(STATEFUL_SETS, { namespace, name: 'set' });
  expect(await refusals()).toContain('StatefulSetMissing');
});

test('what its options say is carried over, and room is made for its quota', async () => {
  const options = {
    'quota-backend-bytes': '21474836480',
    'auto-compaction-retention': '8',
    'heartbeat-interval': '250',
  };
  leave({ annotations: GONE, spec: { replicas: 4, options } });
  const into = { name: 'new', spec: null };
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec: { into } });
  const created: object[] = [];
  const create = world.kube.create.bind(world.kube);
  world.kube.create = async (ref, manifest, how) => {
    if (ref.resource === 'etcdclusters') created.push(manifest);
    return create(ref, manifest, how);
  };
  expect(await refusals()).not.toContain('CannotSay');
  expect(created[0]).toMatchObject({
    spec: {
      replicas: 5,
      quota: '21474836480',
      compaction: { mode: 'Periodic', retention: '8h' },
      heartbeatMilliseconds: 250,
      storage: { medium: 'Volume', size: '42949672960' },
    },
  });
});
