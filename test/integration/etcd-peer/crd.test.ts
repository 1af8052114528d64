// The API server takes some EtcdPeers and refuses others, in the words of the definition.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { letPeersBeWritten, PEER_SPEC } from '../../builders/peer-writers.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const namespace = 'default';
const LEAST = PEER_SPEC;
const BOOTSTRAP = LEAST.bootstrap;

let kube: KubeClient;
let count = 0;

beforeAll(async () => {
  const { kubeconfigPath } = sharedPlane();
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  await letPeersBeWritten(kube);
});

afterAll(async () => {
  await kube?.close();
});

async function create(spec: object): Promise<string> {
  count += 1;
  const name = `main-${count}`;
  const metadata = { namespace, name };
  const apiVersion = 'ballast.dev/v1alpha1';
  await kube.create(ETCD_PEERS, { apiVersion, kind: 'EtcdPeer', metadata, spec });
  return name;
}

const edit = (name: string, spec: object) =>
  kube.patch(ETCD_PEERS, { namespace, name }, { type: 'merge', body: { spec } });

test('what its cluster says comes back as it was written: nothing is filled in', async () => {
  const name = await create(LEAST);
  expect((await kube.get(ETCD_PEERS, { namespace, name }))?.['spec']).toEqual(LEAST);
});

test.each(Object.keys(LEAST))('one without %s is refused', async (field) => {
  const spec = Object.fromEntries(Object.entries(LEAST).filter(([name]) => name !== field));
  await expect(create(spec)).rejects.toThrow(`spec.${field}: Required value`);
});

test.each<[object, string]>([
  [{ storage: { medium: 'Volume' } }, 'spec.storage.size: Required value'],
  [{ tls: { clients: { mode: 'None' } } }, 'spec.tls.peers: Required value'],
  [{ ordinal: -1 }, 'greater than or equal to 0'],
  [{ ordinal: 1_000 }, 'less than or equal to 999'],
  [{ bootstrap: { ...BOOTSTRAP, state: 'Old' } }, 'supported values: "New", "Existing"'],
  [{ bootstrap: { ...BOOTSTRAP, token: '' } }, 'should be at least 1 chars'],
  [{ bootstrap: { ...BOOTSTRAP, initialCluster: [] } }, 'at least 1 items'],
])('%j is refused', async (changes, why) => {
  await expect(create({ ...LEAST, ...changes })).rejects.toThrow(why);
});

test.each<[object, string]>([
  [{ cluster: 'other' }, 'A member does not change its cluster or its place in it'],
  [{ ordinal: 7 }, 'A member does not change its cluster or its place in it'],
  [{ bootstrap: { token: 'c2' } }, 'A member starts for the first time once'],
])('it does not get %j', async (changes, why) => {
  await expect(edit(await create(LEAST), changes)).rejects.toThrow(why);
});

test('the first member is born once: it becomes one like the others', async () => {
  const name = await create({ ...LEAST, bootstrap: { ...BOOTSTRAP, state: 'New' } });
  await edit(name, { bootstrap: { state: 'Existing' } });
  await expect(edit(name, { bootstrap: { state: 'New' } })).rejects.toThrow(
    'A member starts for the first time once',
  );
});

test('it joins once: from then on it is told of itself alone', async () => {
  const [self, other] = ['main-2', 'main-0'].map((name) => ({ name, url: `http://${name}:2380` }));
  const of = (...initialCluster: readonly unknown[]) => ({ bootstrap: { initialCluster } });
  const bootstrap = { ...BOOTSTRAP, state: 'Existing', initialCluster: [other, self] };
  const name = await create({ ...LEAST, bootstrap });
  const once = 'A member starts for the first time once';
  await expect(edit(name, of(self, self))).rejects.toThrow(once);
  await edit(name, of(self));
  await expect(edit(name, of(other, self))).rejects.toThrow(once);
});

test.each<object>([
  { running: false },
  { image: 'quay.io/coreos/etcd:v3.6.17' },
  { certificatesHash: '0123456789abcdef' },
  { storage: { size: '20Gi' } },
])('it gets %j', async (changes) => {
  expect((await edit(await create(LEAST), changes)).metadata.generation).toBe(2);
});

const forced = (number: number, force: boolean) => ({ recovery: { number, force } });

test.each<[object, object]>([
  [{}, forced(1, true)],
  [forced(1, true), forced(1, false)],
  [forced(1, false), forced(2, true)],
])('a recovery %j goes on with %j', async (before, after) => {
  const name = await create({ ...LEAST, ...before });
  expect((await edit(name, after)).metadata.generation).toBe(2);
});

test.each<[object, object]>([
  [forced(1, false), forced(1, true)],
  [forced(2, false), forced(1, true)],
  [forced(1, false), { recovery: null }],
])('after %j it is not forced by %j', async (before, after) => {
  const name = await create({ ...LEAST, ...before });
  await expect(edit(name, after)).rejects.toThrow('forced to go on alone once for each recovery');
});
