// The account of etcd-cluster alone writes EtcdPeers, and images of etcd are those of a list:
// whoever else has every right is refused, and may still delete a peer and let it go.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import {
  letNobodyWritePeers,
  letPeersBeWritten,
  PEER_SPEC,
  peerManifest,
} from '../../builders/peer-writers.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const namespace = 'default';
const AT = { namespace, name: 'main-0' };
const DIGEST = `sha256:${'0'.repeat(64)}`;

let kube: KubeClient;

beforeAll(() => {
  const { kubeconfigPath } = sharedPlane();
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
});

afterAll(async () => {
  await kube?.close();
});

const edit = (body: object) => kube.patch(ETCD_PEERS, AT, { type: 'merge', body: { ...body } });

const clusterOf = (image: string) =>
  kube.create(
    ETCD_CLUSTERS,
    {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { namespace, name: 'main' },
      spec: { image },
    },
    { dryRun: true },
  );

test('an administrator may neither make nor edit one, but deletes it and lets it go', async () => {
  const refusal = /etcd-cluster alone writes an EtcdPeer; edit EtcdCluster main instead/;
  // The file before this one may have taken the policy off.
  await letNobodyWritePeers(kube);
  await expect(kube.create(ETCD_PEERS, peerManifest(namespace, AT.name))).rejects.toThrow(refusal);
  await letPeersBeWritten(kube);
  const manifest = peerManifest(namespace, AT.name);
  const metadata = { ...manifest.metadata, finalizers: ['example.com/held'] };
  const { object } = await kube.create(ETCD_PEERS, { ...manifest, metadata });
  await letNobodyWritePeers(kube);
  await expect(edit({ spec: { running: false } })).rejects.toThrow(refusal);
  await expect(edit({ metadata: { labels: { a: 'b' } } })).rejects.toThrow(refusal);
  await edit({ metadata: { annotations: { a: 'b' } } });
  const { uid } = object.metadata;
  expect(await kube.delete(ETCD_PEERS, AT, { uid })).toBe('deleting');
  await edit({ metadata: { finalizers: null } });
  expect(await kube.get(ETCD_PEERS, AT)).toBeNull();
});

test.each([
  'images.example.com/etcd:3.6.16',
  'quay.io/coreos/etcdminer:v3.6.16',
  `quay.io/coreos/miner:v3.6.16@${DIGEST}`,
])('an EtcdCluster of %s is refused, and so is a member', async (image) => {
  const why = /Of .* not all may run in an EtcdCluster here; .* quay.io.* ballast-etcd-images/;
  await expect(clusterOf(image)).rejects.toThrow(why);
  await letPeersBeWritten(kube);
  const member = peerManifest(namespace, 'main-1', { ...PEER_SPEC, image });
  await expect(kube.create(ETCD_PEERS, member)).rejects.toThrow(why);
});

test.each([
  'quay.io/coreos/etcd:v3.6.17',
  `quay.io/coreos/etcd:v3.6.17@${DIGEST}`,
  'gcr.io/etcd-development/etcd:v3.5.35',
  'registry.k8s.io/etcd:3.6.17-0',
])('an EtcdCluster of %s is taken', async (image) => {
  expect((await clusterOf(image)).object['spec']).toMatchObject({ image });
});
