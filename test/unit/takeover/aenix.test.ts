// The plan for an EtcdCluster of aenix's etcd operator, as that leaves it: a StatefulSet with its
// pods, claims that belong to nobody, one operator for all namespaces.
import { beforeEach, expect, test } from 'vitest';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import { PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { GONE, IMAGE, leaveAenix, type Left } from './aenix-world.ts';
import {
  fates,
  namespace,
  noteOf,
  plan,
  putOperator,
  refusal,
  refusals,
  specTried,
  world,
} from './world.ts';

beforeEach(() => {
  leaveAenix({ metadata: GONE });
});

test('every object has its fate, and nothing speaks against it', async () => {
  const { steps, refusals: against } = await plan();
  expect(against).toEqual([]);
  expect(steps.at(-1)?.precondition).toContain('Claims stay when StatefulSet old (uid ');
  expect((await fates()).filter((one) => !one.startsWith('Make'))).toEqual([
    'Adopt Service old',
    'Delete Service old-headless',
    'Delete EtcdCluster (etcd.aenix.io) old',
    'Delete StatefulSet old',
    'Delete ConfigMap old-cluster-state',
    'Delete Pod old-0',
    'Delete Pod old-1',
    'Delete Pod old-2',
    'Keep PersistentVolumeClaim data-old-0',
    'Keep PersistentVolumeClaim data-old-1',
    'Keep PersistentVolumeClaim data-old-2',
    'Keep CustomResourceDefinition etcdclusters.etcd.aenix.io',
  ]);
});

test('while nobody says that its operator is gone it has to be named', async () => {
  leaveAenix();
  expect(await refusals()).toEqual(['OperatorUnknown']);
  putOperator(2, { image: IMAGE });
  expect(await refusals()).toEqual([]);
  expect(await noteOf('WebhooksStop')).toContain(
    'kubectl -n shop scale deployment etcd-operator --replicas=2',
  );
});

test.each<[string, Left, string]>([
  ['claims go with the StatefulSet', { policy: { whenDeleted: 'Delete' } }, 'ClaimsGo: '],
  [
    'pods are started anew one after the other',
    { status: { currentRevision: 'old-1', updateRevision: 'old-2' } },
    'PodsRolling: StatefulSet shop/old is bringing a change to its pods',
  ],
  [
    'finalizers keep it',
    { metadata: { ...GONE, finalizers: ['a.example.com/b'] } },
    'FinalizersLeft: Finalizers keep the EtcdCluster from ending (a.example.com/b)',
  ],
  [
    'the kubelet ends whom an alarm makes unready',
    { etcd: { livenessProbe: { httpGet: { path: '/readyz', port: 2381 } } } },
    'ProbeEndsPods: ',
  ],
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
  leaveAenix({ metadata: GONE, ...left });
  expect(await refusal()).toContain(why);
});

test('without its StatefulSet nobody knows its pods', async () => {
  world.kube.remove(STATEFUL_SETS, { namespace, name: 'old' });
  expect(await refusals()).toContain('StatefulSetMissing');
});

test('a member that starts is none of what a plan is about', async () => {
  const { id } = await plan();
  const status = { containerStatuses: [{ name: 'etcd', started: false }] };
  world.kube.change(PODS, { namespace, name: 'old-0' }, { status });
  expect([id, (await plan()).id]).toEqual([expect.stringMatching(/^over-/), id]);
});

test('it is refused where new members would run an older etcd', async () => {
  const into = { name: 'new', spec: { image: 'quay.io/coreos/etcd:v3.4.13' } };
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec: { into } });
  expect(await refusal()).toContain('VersionTooNew: It runs etcd 3.5.12, and new members would');
});

test('what its options say is carried over, and room is made for its quota', async () => {
  const options = {
    'quota-backend-bytes': '21474836480',
    'auto-compaction-retention': '8',
    'heartbeat-interval': '250',
  };
  leaveAenix({ metadata: GONE, spec: { replicas: 4, options } });
  const into = { name: 'new', spec: null };
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec: { into } });
  expect(await refusals()).not.toContain('CannotSay');
  expect(await specTried()).toMatchObject({
    replicas: 5,
    quota: '21474836480',
    compaction: { mode: 'Periodic', retention: '8h' },
    heartbeatMilliseconds: 250,
    storage: { medium: 'Volume', size: '42949672960' },
  });
});
