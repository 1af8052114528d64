// The account of etcd-cluster in the wrong hands, where it was granted its rights: what its
// admission policy lets it write.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { createStorageClass } from '../../builders/storage-class.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Outcome, StolenAccount } from './accounts-at-work.ts';
import type { Body, Owned } from './forged.ts';
import { CLUSTER, etcdPeer, FORGED, LABELS, MEMBER, ownedBy } from './forged-etcd.ts';
import { Installed } from './installed.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const namespace = 'default';
const CLAIM = 'data-main-0';
const STORAGE_CLASS = 'growing';
const GROUPS: Readonly<Record<string, string>> = {
  secrets: '/api/v1',
  services: '/api/v1',
  pods: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  statefulsets: '/apis/apps/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
  etcdpeers: '/apis/ballast.dev/v1alpha1',
};

let installed: Installed;
let stolen: StolenAccount;
let owned: Owned;

const pathOf = (resource: string, name = ''): string =>
  `${GROUPS[resource]}/namespaces/${namespace}/${resource}${name === '' ? '' : `/${name}`}`;

const write = (resource: string, body: Body, query = ''): Promise<Outcome> =>
  stolen.try({ method: 'POST', path: `${pathOf(resource)}${query}`, body });

const patch = (resource: string, name: string, body: object): Promise<Outcome> =>
  stolen.try({ method: 'PATCH', path: pathOf(resource, name), body });

const remove = (resource: string, name: string): Promise<Outcome> =>
  stolen.try({ method: 'DELETE', path: `${pathOf(resource, name)}?dryRun=All` });

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane } = installed;
  const file = 'npm run rights';
  await applyObjects(
    kube,
    etcdClusterRights(namespace).map((object) => ({ file, object })),
  );
  const made = await kube.create(ETCD_CLUSTERS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { namespace, name: CLUSTER },
    spec: {},
  });
  owned = ownedBy(made.object.metadata.uid);
  stolen = await StolenAccount.of(plane, kube, 'etcd-cluster');
  // Rights and policies hold a moment after they were made.
  await until('the policy to hold', async () => {
    const unlabelled = { metadata: { name: 'unlabelled' } };
    return (await write('secrets', unlabelled, '?dryRun=All')).status === 422;
  });
});

afterAll(async () => {
  await installed?.stop();
});

const claim = (name: string, labels: object): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace, name, labels },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: STORAGE_CLASS,
    resources: { requests: { storage: '1Gi' } },
  },
});

test('it makes what an EtcdCluster is made of, and no pods', async () => {
  expect(await write('secrets', { metadata: owned('main-tls') })).toMatchObject({ status: 201 });
  expect(await write('etcdpeers', etcdPeer(owned))).toMatchObject({ status: 201 });
  const body = { metadata: owned(CLUSTER), spec: {} };
  expect((await write('statefulsets', body)).status).toBe(403);
  expect((await write('pods', body)).status).toBe(403);
  expect((await write('persistentvolumeclaims', claim(CLAIM, LABELS))).status).toBe(403);
});

test('the Secret of root it makes once, for nobody, and changes it never', async () => {
  const root = { namespace, name: 'main-root', labels: LABELS };
  const forOwner = await write('secrets', { metadata: owned('main-root') });
  expect([forOwner.status, forOwner.text]).toEqual([
    422,
    expect.stringContaining('belongs to nobody'),
  ]);
  expect((await write('secrets', { metadata: root })).status).toBe(201);
  const data = { password: Buffer.from('mine').toString('base64') };
  expect((await patch('secrets', 'main-root', { data })).status).toBe(422);
  expect((await write('secrets', { metadata: owned('main-user-app') })).status).toBe(201);
});

test.each(FORGED)('it is refused %s', async (_, resource, body, why) => {
  const { status, text } = await write(resource, body(owned), '?dryRun=All');
  expect([status, text]).toEqual([422, expect.stringContaining(why)]);
});

test('of a member and its claim it changes its own part alone', async () => {
  const finalizers = ['example.com/mine'];
  const told = async (answer: Promise<Outcome>): Promise<string> => {
    const { status, text } = await answer;
    return `${status} ${text}`;
  };
  const member = (body: object): Promise<string> => told(patch('etcdpeers', MEMBER, body));
  expect(await member({ spec: { snapshotCount: 5_000 } })).toMatch(/^200 /);
  expect(await member({ metadata: { finalizers } })).toMatch(/^422 .*changes no finalizer/);
  await createStorageClass(installed.kube, STORAGE_CLASS, true);
  const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
  const target = { namespace, name: CLAIM, subresource: 'status' };
  await installed.kube.create(core('persistentvolumeclaims'), claim(CLAIM, LABELS));
  await installed.kube.patch(core('persistentvolumeclaims'), target, {
    type: 'merge',
    body: bound,
  });
  const claimed = (body: object): Promise<string> =>
    told(patch('persistentvolumeclaims', CLAIM, body));
  const annotations = { [CLUSTER_ID_ANNOTATION]: 'f00' };
  expect(await claimed({ metadata: { annotations } })).toMatch(/^200 /);
  // Its class would let it grow.
  const larger = { resources: { requests: { storage: '2Gi' } } };
  expect(await claimed({ spec: larger })).toMatch(/^422 .*and nothing else/);
  const labels = { 'example.com/mine': 'yes' };
  expect(await claimed({ metadata: { labels } })).toMatch(/^422 .*belongs to somebody else/);
  expect(await claimed({ metadata: { finalizers } })).toMatch(/^422 .*and nothing else/);
});

test('it changes nothing of others', async () => {
  const { kube } = installed;
  // An object of the right name that belongs to somebody else.
  const metadata = { namespace, name: 'main-client' };
  await kube.create(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata });
  const answer = await patch('secrets', 'main-client', { metadata: owned('main-client') });
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('somebody else')]);
  await kube.create(core('persistentvolumeclaims'), claim('data-main-9', {}));
  const labelled = { metadata: { labels: LABELS } };
  expect((await patch('persistentvolumeclaims', 'data-main-9', labelled)).status).toBe(422);
});

test.each([
  ['pods', 'web-1', {}, 422],
  ['pods', 'web-2', LABELS, 422],
  ['pods', 'main-1-0', {}, 422],
  ['pods', 'main-2-0', LABELS, 200],
  ['persistentvolumeclaims', 'data-web-0', {}, 422],
  ['persistentvolumeclaims', 'data-web-1', LABELS, 422],
  ['persistentvolumeclaims', 'data-main-1', {}, 422],
  ['persistentvolumeclaims', 'data-main-2', LABELS, 200],
] as const)('it deletes of %s %s with labels %j: %d', async (resource, name, labels, status) => {
  const spec = { containers: [{ name: 'a', image: 'a' }] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels }, spec };
  await installed.kube.create(core(resource), resource === 'pods' ? pod : claim(name, labels));
  expect((await remove(resource, name)).status).toBe(status);
});

test('where it is not granted it reads no Secret', async () => {
  const path = '/api/v1/namespaces/kube-system/secrets/crown';
  expect((await stolen.try({ method: 'GET', path })).status).toBe(403);
  const own = pathOf('secrets', 'main-tls');
  expect((await stolen.try({ method: 'GET', path: own })).status).toBe(200);
});
