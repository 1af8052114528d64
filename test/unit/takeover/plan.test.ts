// The plan of a takeover that nothing speaks against: every object with what becomes of it, the
// steps in their order, and an id that is of just this world.
import { beforeEach, expect, test } from 'vitest';
import { LEGACY_ETCDS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import {
  answer,
  answerOf,
  asked,
  begin,
  conditionOf,
  DEPLOYMENTS,
  fates,
  namespace,
  noteOf,
  plan,
  putClaim,
  putOperator,
  putPod,
  statusOf,
  sweep,
  world,
} from './world.ts';

beforeEach(() => {
  begin();
});

test('every object has its fate', async () => {
  putPod('foreign', undefined, false);
  putClaim('left', false);
  putOperator(1);
  expect(await fates()).toEqual([
    'Make PersistentVolumeClaim over-takeover-1',
    'Make EtcdBackup over-takeover-1',
    'Make EtcdRestore over-takeover-1',
    'Make PersistentVolumeClaim data-new-0',
    'Make EtcdCluster new',
    'Adopt Service old-client',
    'Delete Service old',
    'Change Deployment etcd-operator',
    'Delete EtcdCluster (etcd.database.coreos.com) old',
    'Delete Pod old-a',
    'Delete Pod old-b',
    'Delete Pod old-c',
    'Keep PersistentVolumeClaim left',
    'Keep PersistentVolumeClaim old-b',
    'Keep PersistentVolumeClaim old-c',
    'Keep Pod foreign',
    'Keep CustomResourceDefinition etcdclusters.etcd.database.coreos.com',
  ]);
  const { objects } = await plan();
  const whyOf = (name: string) => objects.find((one) => one.name === name)?.why;
  expect(whyOf('old-a')).toContain('which is in an emptyDir');
  expect(whyOf('left')).toContain('Belongs to nobody');
});

test('the steps are in an order that loses nothing, and one of them has no way back', async () => {
  putOperator(1);
  const { steps } = await plan();
  expect(
    steps.map(({ name, writers = '-', noWayBack = false }) => [name, writers, noWayBack]),
  ).toEqual([
    ['StopOperator', '-', false],
    ['FreezeWriters', 'Stop', false],
    ['Snapshot', '-', false],
    ['MakeCluster', '-', false],
    ['Compare', '-', false],
    ['SwitchService', 'GoOn', true],
    ['OrphanClaims', '-', false],
    ['DeleteLegacy', '-', false],
  ]);
  const snapshot = steps.find(({ name }) => name === 'Snapshot');
  expect(snapshot?.does).toContain('a snapshot of a member, as old-b');
  expect(steps.find(({ name }) => name === 'FreezeWriters')?.precondition).toContain('cluster 7');
});

test('an operator at rest is not stopped, and that of backups is no operator', async () => {
  putOperator(0);
  expect(await fates()).toContain('Keep Deployment etcd-operator');
  expect((await plan()).steps[0]?.name).toBe('FreezeWriters');
  putOperator(1, { command: ['/usr/local/bin/etcd-backup-operator'] });
  expect(await fates()).not.toContainEqual(expect.stringContaining('Deployment'));
  putOperator(1, { image: 'mirror/other:1', command: ['/usr/local/bin/etcd-operator'] });
  expect(await fates()).toContain('Change Deployment etcd-operator');
});

test('there is a plan, and nothing but the status is written', async () => {
  expect(await sweep()).toEqual(['apply takeovers/status over']);
  expect(statusOf()).toMatchObject({
    plan: { id: expect.stringMatching(/^over-[0-9a-f]{12}$/), next: 'Nothing', refusals: [] },
    members: [
      { pod: 'old-a', id: '64', version: '3.3.27', leads: true, storage: 'EmptyDir' },
      { pod: 'old-b', leads: false, storage: 'Claim', databaseBytes: 2 ** 20 },
      { pod: 'old-c', storage: 'Claim' },
    ],
  });
  expect([conditionOf('Planned'), conditionOf('Degraded')]).toEqual([
    'True Planned',
    'False NotDegraded',
  ]);
  expect(await sweep()).toEqual([]);
});

test('members are asked in plain where they have no certificates', async () => {
  await plan();
  expect(asked).toEqual({
    endpoint: { url: expect.stringMatching(/^http:..10.0.0.\d+:2379$/), serverName: undefined },
    tls: undefined,
  });
});

const edit = (ref: typeof PODS, name: string, body: object): void => {
  world.kube.change(ref, { namespace, name }, body as Record<string, unknown>);
};

test.each<[string, () => void]>([
  [
    'a pod is another one',
    () => (world.kube.remove(PODS, { namespace, name: 'old-c' }), putPod('old-c', 'old-c')),
  ],
  ['a pod is gone', () => world.kube.remove(PODS, { namespace, name: 'old-c' })],
  ['a claim comes', () => putClaim('old-d')],
  ['a claim loses its owner', () => edit(CLAIMS, 'old-b', { metadata: { ownerReferences: null } })],
  [
    'a Service selects more',
    () => edit(SERVICES, 'old-client', { spec: { selector: { a: 'b' } } }),
  ],
  ['an operator is started', () => putOperator(1)],
  ['the legacy object says something else', () => edit(LEGACY_ETCDS, 'old', { spec: { size: 5 } })],
  [
    'the Takeover says something else',
    () => edit(TAKEOVERS, 'over', { spec: { into: { name: 'newer' } } }),
  ],
  ['a member has another version', () => answer('old-c', answerOf(2, { version: '3.4.13' }))],
  ['a member is silent', () => answer('old-c', 'It hangs.')],
])('the id is another one when %s', async (_, change) => {
  const { id } = await plan();
  change();
  const { id: next, refusals } = await plan();
  expect(refusals).toEqual([]);
  expect(next).toMatch(/^over-[0-9a-f]{12}$/);
  expect(next).not.toBe(id);
});

test('the id stays while members are written to and another one leads', async () => {
  const { id } = await plan();
  const header = { clusterId: '7', memberId: '101', revision: '5000', raftTerm: 3 };
  answer('old-b', answerOf(1, { header, dbSizeBytes: 9_000_000, leaderId: '102' }));
  expect((await plan()).id).toBe(id);
});

test('what is to know stands there', async () => {
  putOperator(2);
  putPod('foreign', undefined, false);
  answer('old-c', 'It hangs.');
  const { notes } = await plan();
  expect(notes.map(({ reason }) => reason)).toEqual([
    'OperatorRuns',
    'EmptyDir',
    'MembersAway',
    'Strangers',
    'DirectClients',
  ]);
  expect(notes[0]?.message).toContain('Deployment shop/etcd-operator has 2 replicas');
  expect(notes[1]?.message).toContain('The data of old-a is in an emptyDir');
});

test('a member that has no pod here is told of', async () => {
  world.kube.remove(PODS, { namespace, name: 'old-c' });
  expect(await noteOf('MembersElsewhere')).toContain('Of its members old-c has no pod here');
});

test('one that is being deleted is left alone', async () => {
  edit(TAKEOVERS, 'over', { metadata: { deletionTimestamp: '2026-11-26T06:59:00Z' } });
  await sweep();
  expect(statusOf().plan).toBeUndefined();
});

test('where there is no Takeover their list alone is read, and nothing is written', async () => {
  world.kube.remove(TAKEOVERS, { namespace, name: 'over' });
  const { reads } = world.kube;
  expect(await sweep()).toEqual([]);
  expect(world.kube.reads - reads).toBe(1);
  expect(world.kube.of('leases').size).toBe(0);
});

test('where there is one the Lease of the sweep is renewed', async () => {
  await sweep();
  expect(world.kube.of('leases').size).toBe(1);
  expect(world.kube.of(DEPLOYMENTS.resource).size).toBe(0);
});
