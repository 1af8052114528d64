// The account of `takeover` in the wrong hands, as far as it is about what improbable's operator
// left: it leads over the one Service that an EtcdCluster of that had, and takes one finalizer off
// an EtcdPeer. All else of these it is refused.
import { beforeAll, expect, test } from 'vitest';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { IMPROBABLE_ETCDS } from '../../../shared/api/takeover.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CLAIMS, SERVICES } from '../../../shared/stateful/parts.ts';
import {
  CLEANUP,
  IMPROBABLE_PEERS,
  leaveOnServer,
  podOf,
} from '../../builders/legacy-improbable.ts';
import { defineLegacyKind } from '../../builders/legacy-kind.ts';
import { until } from '../../builders/versioned-kind.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
const CORE_AT = `/api/v1/namespaces/${namespace}`;
const APPS_AT = `/apis/apps/v1/namespaces/${namespace}`;
const THEIRS_AT = `/apis/etcd.improbable.io/v1alpha1/namespaces/${namespace}`;
const PEER_AT = `${THEIRS_AT}/etcdpeers/old-0`;
const OTHER = 'example.com/mine';
const LABEL = 'etcd.improbable.io/cluster-name';

const { admin, post, patch, remove } = stealTakeover(
  takeoverRights(namespace, [], undefined, ['old-2']),
);

/** Services whose name, owner and selector do not name one EtcdCluster. */
async function leaveServices(kube: KubeClient): Promise<void> {
  const old = await kube.get(SERVICES, { namespace, name: 'old' });
  const [owner] = old?.metadata.ownerReferences ?? [];
  if (owner === undefined) throw new Error('it has no owner');
  const of = { web: ['old', 'old'], mine: ['old', 'mine'], yours: ['yours', 'old'] } as const;
  for (const [name, [owning, selected]] of Object.entries(of)) {
    const ownerReferences = [{ ...owner, name: owning }];
    await kube.create(SERVICES, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name, ownerReferences },
      spec: { selector: { [LABEL]: selected }, ports: [{ port: 2379 }] },
    });
  }
}

beforeAll(async () => {
  const kube = admin();
  await defineLegacyKind(kube, IMPROBABLE_ETCDS, 'EtcdCluster', 'ietcd');
  await defineLegacyKind(kube, IMPROBABLE_PEERS, 'EtcdPeer', 'ipeer');
  const peer = { name: 'old-0', ip: '10.0.0.1', finalizers: [OTHER, CLEANUP] };
  const free = { name: 'old-1', ip: '10.0.0.2' };
  await leaveOnServer(kube, { namespace, name: 'old', peers: [peer, free] });
  await leaveServices(kube);
  // Rights and policies hold a moment after they were made.
  const labelled = { metadata: { labels: { a: 'b' } } };
  await until('the policy to hold', async () => (await patch(PEER_AT, labelled)).status === 422);
});

test('an EtcdPeer loses the finalizer that deletes a claim, and nothing else', async () => {
  const finalizers = [OTHER];
  const outcomes = [
    await patch(PEER_AT, { metadata: { finalizers } }),
    await patch(PEER_AT, { metadata: { finalizers: null } }),
    await patch(PEER_AT, { metadata: { finalizers: [CLEANUP] } }),
    await patch(PEER_AT, { metadata: { finalizers: [OTHER, 'a.b/c'] } }),
    await patch(PEER_AT, { metadata: { finalizers, labels: { a: 'b' } } }),
    await patch(PEER_AT, { metadata: { finalizers, annotations: { a: 'b' } } }),
    await patch(PEER_AT, { metadata: { finalizers, ownerReferences: null } }),
    await patch(PEER_AT, { metadata: { finalizers }, spec: { version: '3.4.0' } }),
    await patch(`${THEIRS_AT}/etcdpeers/old-1`, { metadata: { finalizers: [CLEANUP] } }),
    await patch(`${THEIRS_AT}/etcdpeers/old-1`, { metadata: { finalizers: [] } }),
  ];
  const [first, ...others] = outcomes.map(({ status }) => status);
  expect([first, new Set(others)]).toEqual([200, new Set([422])]);
});

test('the one Service of its clients is led over, and no other one changed', async () => {
  const at = `${CORE_AT}/services/old`;
  const metadata = { ownerReferences: null };
  const selector = {
    'app.kubernetes.io/name': null,
    [LABEL]: null,
    'ballast.dev/etcd-cluster': 'old-2',
  };
  const ports = [{ name: 'etcd-client', port: 2379, targetPort: 4444 }];
  const both = { ...selector, [LABEL]: 'old' };
  const outcomes = [
    await patch(at, { metadata, spec: { selector, publishNotReadyAddresses: false } }),
    await patch(at, { spec: { selector } }),
    await patch(at, { metadata, spec: { selector: both } }),
    await patch(at, { metadata, spec: { selector: { a: 'b' } } }),
    await patch(at, { metadata, spec: { selector, ports } }),
    await patch(at, { metadata: { ...metadata, labels: { a: 'b' } }, spec: { selector } }),
    await patch(at, { metadata, spec: { selector, externalIPs: ['10.1.1.1'] } }),
    await patch(`${CORE_AT}/services/web`, { metadata, spec: { selector } }),
    await patch(`${CORE_AT}/services/mine`, { metadata, spec: { selector } }),
    await patch(`${CORE_AT}/services/yours`, { metadata, spec: { selector } }),
  ];
  const [first, ...others] = outcomes.map(({ status }) => status);
  expect([first, new Set(others)]).toEqual([200, new Set([422])]);
});

test('a Service that is led does not begin to tell clients pods that are not ready', async () => {
  const kube = admin();
  const spec = { publishNotReadyAddresses: false };
  const target = { namespace, name: 'old' };
  await kube.patch(SERVICES, target, { type: 'merge', body: { spec } });
  const metadata = { ownerReferences: null };
  const selector = {
    'app.kubernetes.io/name': null,
    [LABEL]: null,
    'ballast.dev/etcd-cluster': 'old-2',
  };
  const at = `${CORE_AT}/services/old`;
  const told = await patch(at, { metadata, spec: { selector, publishNotReadyAddresses: true } });
  const quiet = await patch(at, { metadata, spec: { selector } });
  expect([told.status, quiet.status]).toEqual([422, 200]);
});

test('its pods go by the garbage collector alone, and its claims by a person', async () => {
  const claims = await admin().list(CLAIMS, { namespace });
  expect(claims.items.map(({ metadata }) => metadata.name)).toEqual(['old-0', 'old-1']);
  const outcomes = [
    await remove(`${THEIRS_AT}/etcdclusters/old`),
    await remove(PEER_AT),
    await remove(`${APPS_AT}/replicasets/old-0`),
    await remove(`${CORE_AT}/pods/${podOf('old-0')}`),
    await remove(`${CORE_AT}/services/old`),
    await remove(`${CORE_AT}/persistentvolumeclaims/old-0`),
    await patch(`${CORE_AT}/persistentvolumeclaims/old-0`, { metadata: { labels: { a: 'b' } } }),
    await patch(`${APPS_AT}/replicasets/old-0`, { spec: { replicas: 0 } }),
    await patch(`${THEIRS_AT}/etcdclusters/old`, { spec: { replicas: 1 } }),
    await post(`${THEIRS_AT}/etcdpeers`, {
      apiVersion: 'etcd.improbable.io/v1alpha1',
      kind: 'EtcdPeer',
      metadata: { namespace, name: 'mine', finalizers: [CLEANUP] },
    }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([
    200, 403, 403, 422, 403, 422, 422, 403, 403, 403,
  ]);
});
