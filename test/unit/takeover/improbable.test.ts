// The plan for an EtcdCluster of improbable's etcd operator, as that leaves it: EtcdPeers with
// ReplicaSets, claims that belong to nobody, and one headless Service for members and clients.
import { beforeEach, expect, test } from 'vitest';
import { IMPROBABLE_ETCDS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { CLEANUP, IMPROBABLE_PEERS } from '../../builders/legacy-improbable.ts';
import { IMAGE, leaveImprobable, PEERS, say } from './improbable-world.ts';
import {
  DEPLOYMENTS,
  fates,
  namespace,
  noteOf,
  notes,
  plan,
  refusal,
  refusals,
  specTried,
  world,
} from './world.ts';

beforeEach(() => {
  leaveImprobable();
});

test('every object has its fate, and nothing speaks against it', async () => {
  const { id, refusals: against } = await plan();
  expect([id, against]).toEqual([expect.stringMatching(/^over-/), []]);
  expect((await fates()).filter((one) => !one.startsWith('Make'))).toEqual([
    'Adopt Service old',
    'Delete EtcdCluster (etcd.improbable.io) old',
    'Delete EtcdPeer old-0',
    'Delete ReplicaSet old-0',
    'Delete EtcdPeer old-1',
    'Delete ReplicaSet old-1',
    'Delete EtcdPeer old-2',
    'Delete ReplicaSet old-2',
    'Delete Pod old-0-x7k2p',
    'Delete Pod old-1-x7k2p',
    'Delete Pod old-2-x7k2p',
    'Keep PersistentVolumeClaim old-0',
    'Keep PersistentVolumeClaim old-1',
    'Keep PersistentVolumeClaim old-2',
    'Keep CustomResourceDefinition etcdclusters.etcd.improbable.io',
    'Keep CustomResourceDefinition etcdpeers.etcd.improbable.io',
  ]);
});

test('of members and claims it is told what a person has to know, and no more', async () => {
  expect((await notes()).toSorted()).toEqual(['DirectClients', 'HeadlessService']);
  expect(await noteOf('DirectClients')).toContain('to the name of the Service itself');
});

test('while nobody says that its operator is gone it has to be named', async () => {
  leaveImprobable({ annotations: {} });
  expect(await refusals()).toEqual(['OperatorUnknown']);
  const operator = (containers: object) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'eco-controller-manager' },
    spec: { template: { spec: { containers } } },
  });
  const proxy = { image: IMAGE.replace('controller', 'proxy'), command: ['/proxy'] };
  world.kube.put(DEPLOYMENTS, operator([proxy]));
  expect(await refusals()).toEqual(['OperatorUnknown']);
  world.kube.put(DEPLOYMENTS, operator([{ image: IMAGE, command: ['/manager'] }]));
  expect(await refusals()).toEqual([]);
  expect(await noteOf('WebhooksStop')).toContain('no EtcdBackupSchedule of it is followed');
});

test('a peer and a pod that somebody made by hand are not its own', async () => {
  const labels = { 'app.kubernetes.io/name': 'etcd', 'etcd.improbable.io/cluster-name': 'old' };
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x' }];
  const metadata = { namespace, name: 'mine', labels };
  world.kube.put(IMPROBABLE_PEERS, {
    apiVersion: 'etcd.improbable.io/v1alpha1',
    kind: 'EtcdPeer',
    metadata,
  });
  world.kube.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, ownerReferences },
  });
  const { objects } = await plan();
  expect(objects.filter(({ name }) => name === 'mine')).toMatchObject([
    { action: 'Keep', kind: 'Pod' },
  ]);
});

test('a finalizer that would delete a claim, and a claim that goes, are told', async () => {
  leaveImprobable({ finalizers: [CLEANUP] });
  expect(await noteOf('PeersHeld')).toContain(`old-2 have finalizer ${CLEANUP}`);
  const before = (await plan()).objects.find(({ name, kind }) => name === 'old-2' && isClaim(kind));
  const deletionTimestamp = '2026-11-26T06:00:00Z';
  const claim = { namespace, name: 'old-2' };
  world.kube.change(CLAIMS, claim, { metadata: { deletionTimestamp } });
  expect(await noteOf('ClaimsEnd')).toContain('Claims old-2 are being deleted');
  const after = (await plan()).objects.find(({ name, kind }) => name === 'old-2' && isClaim(kind));
  expect([before?.action, after?.action]).toEqual(['Keep', 'Delete']);
});

const isClaim = (kind: string): boolean => kind === 'PersistentVolumeClaim';

test('a Service that is gone is told once, with both of its labels', async () => {
  world.kube.remove(SERVICES, { namespace, name: 'old' });
  expect(await refusals()).toEqual(['ServiceMissing']);
  expect(await refusal()).toContain(
    'app.kubernetes.io/name: etcd, etcd.improbable.io/cluster-name: old',
  );
});

test('members of 3.2 are refused, and those that are newer than the new ones', async () => {
  for (const at of PEERS.keys()) say(at, '3.2.28');
  expect(await refusal()).toContain('VersionTooOld: It runs etcd 3.2.28');
  const image = 'quay.io/coreos/etcd:v3.3.27';
  world.kube.change(
    TAKEOVERS,
    { namespace, name: 'over' },
    { spec: { into: { spec: { image } } } },
  );
  for (const at of PEERS.keys()) say(at, '3.4.13');
  expect(await refusals()).toContain('VersionTooNew');
});

test('what its spec says is carried over, and what has no word is told', async () => {
  const resources = { requests: { cpu: '200m', memory: '200Mi' }, limits: { memory: '400Mi' } };
  const podTemplate = { resources, affinity: { podAntiAffinity: {} }, metadata: {} };
  const claim = { storageClassName: 'fast', resources: { requests: { storage: '20Gi' } } };
  const storage = { volumeClaimTemplate: claim };
  leaveImprobable({ spec: { replicas: 4, podTemplate, storage } });
  const into = { name: 'new', spec: null };
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec: { into } });
  expect(await noteOf('NotCarriedOver')).toContain('will not have affinity of');
  expect(await specTried()).toMatchObject({
    replicas: 5,
    resources,
    storage: { medium: 'Volume', size: '20Gi', storageClassName: 'fast' },
  });
});

test('one that is being deleted is told, with what goes', async () => {
  const target = { namespace, name: 'old' };
  const deletionTimestamp = '2026-11-26T06:00:00Z';
  world.kube.change(IMPROBABLE_ETCDS, target, { metadata: { deletionTimestamp } });
  expect(await refusals()).toContain('LegacyEnding');
});
