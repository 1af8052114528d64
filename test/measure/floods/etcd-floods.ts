// Floods of the functions for etcd by objects that tenants write: pods that look like members, and
// clusters and members with as many labels as fit.
import { ETCD_CLUSTER_LABEL, ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEER_LABEL, ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { letPeersBeWritten, PEER_SPEC, peerManifest } from '../../builders/peer-writers.ts';
import type { Flood } from './http-floods.ts';
import { createAll, hugePod, manyLabels, names, PODS, TENANT, ticks } from './own-floods.ts';
import type { World } from './shipped.ts';
import { eventHeaders } from './traffic.ts';

const HUGE = manyLabels(10_000);

const etcdCluster = (name: string, labels: Readonly<Record<string, string>> = {}): Manifest => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name, namespace: TENANT, labels },
  spec: {},
});

function etcdPeer(name: string, labels: Readonly<Record<string, string>> = {}): Manifest {
  const cluster = name.slice(0, name.lastIndexOf('-'));
  const ordinal = Number(name.slice(cluster.length + 1));
  const initialCluster = [{ name, url: `http://${name}-0.${cluster}-headless.default.svc:2380` }];
  const bootstrap = { ...PEER_SPEC.bootstrap, initialCluster };
  const manifest = peerManifest(TENANT, name, { ...PEER_SPEC, cluster, ordinal, bootstrap });
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

function podsThatLookLikeServers(
  world: World,
  kind: string,
  name: string,
  label: string,
  create: () => Promise<void>,
): Flood {
  return {
    name: '300 Pods with 7,000 labels that look like members, and 100 events of them',
    run: async (_victim, crowd) => {
      await create();
      const pods = names(`${kind}-${name}`.toLowerCase(), 300);
      await createAll(
        world,
        PODS,
        pods.map((pod) => hugePod(pod, { [label]: name })),
      );
      await crowd.send(100, () => ({
        headers: eventHeaders({ 'ce-type': 'dev.knative.apiserver.resource.update' }),
        body: JSON.stringify({ kind, metadata: { name, namespace: TENANT } }),
      }));
      return 100;
    },
  };
}

const INVENTED_TICKS = ticks('200 invented ticks', 200);

export const etcdClusterFloods = (world: World): readonly Flood[] => [
  podsThatLookLikeServers(world, 'EtcdCluster', 'mine', ETCD_CLUSTER_LABEL, () =>
    createAll(world, ETCD_CLUSTERS, [etcdCluster('mine')]),
  ),
  {
    name: '150 EtcdClusters with 10,000 labels, and sweeps',
    run: async (victim, crowd) => {
      const huge = names('huge-etcd', 150).map((name) => etcdCluster(name, HUGE));
      await createAll(world, ETCD_CLUSTERS, huge);
      return ticks('', 20).run(victim, crowd);
    },
  },
  INVENTED_TICKS,
];

export const etcdPeerFloods = (world: World): readonly Flood[] => [
  podsThatLookLikeServers(world, 'EtcdPeer', 'alone-0', ETCD_PEER_LABEL, async () => {
    await letPeersBeWritten(world.kube);
    await createAll(world, ETCD_PEERS, [etcdPeer('alone-0')]);
  }),
  {
    name: '150 EtcdPeers with 10,000 labels, and sweeps',
    run: async (victim, crowd) => {
      await letPeersBeWritten(world.kube);
      const huge = names('huge-peer', 150).map((name) => etcdPeer(name, HUGE));
      await createAll(world, ETCD_PEERS, huge);
      return ticks('', 20).run(victim, crowd);
    },
  },
  INVENTED_TICKS,
];
