// An EtcdCluster of improbable's etcd operator as that leaves it (v0.2.0 and later): the object, an
// EtcdPeer, a ReplicaSet, a pod and a claim for each member, and one headless Service. A test says
// where the pods are, and which finalizers are left.
import { IMPROBABLE_ETCDS } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES } from '../../shared/stateful/parts.ts';
import { runsAt } from './legacy-kind.ts';

const IMPROBABLE_TYPE = 'etcd.improbable.io/v1alpha1';
export const IMPROBABLE_PEERS = { ...IMPROBABLE_ETCDS, resource: 'etcdpeers' };
export const CLEANUP = 'etcdpeer.etcd.improbable.io/pvc-cleanup';
const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' } as const;
const DATA_DIR = '/var/lib/etcd';

interface LeftPeer {
  readonly name: string;
  readonly ip: string;
  readonly finalizers?: readonly string[];
}

interface LeftCluster {
  readonly namespace: string;
  readonly name: string;
  readonly peers: readonly LeftPeer[];
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** As a Takeover names it. */
export const improbableOf = (name: string) => ({
  apiVersion: IMPROBABLE_TYPE,
  kind: 'EtcdCluster',
  name,
});

/** The name of the pod that a ReplicaSet has made for a peer. */
export const podOf = (peer: string): string => `${peer}-x7k2p`;

/** Each is made before the next one, which may belong to it. */
type Made = Generator<readonly [ref: ResourceRef, manifest: Manifest], void, KubeObject>;

const ownerOf = ({ apiVersion, kind, metadata }: KubeObject): object => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

export function* improbableEtcd(cluster: LeftCluster): Made {
  const { namespace, name, peers, spec, annotations = {} } = cluster;
  const object = yield [
    IMPROBABLE_ETCDS,
    {
      apiVersion: IMPROBABLE_TYPE,
      kind: 'EtcdCluster',
      metadata: { namespace, name, annotations },
      spec: {
        replicas: peers.length,
        version: '3.3.27',
        storage: { volumeClaimTemplate: CLAIM },
        ...spec,
      },
      status: { replicas: peers.length, clusterVersion: '3.3.0' },
    },
  ];
  const labels = { 'app.kubernetes.io/name': 'etcd', 'etcd.improbable.io/cluster-name': name };
  const metadata = { namespace, name, labels, ownerReferences: [ownerOf(object)] };
  yield [SERVICES, { apiVersion: 'v1', kind: 'Service', metadata, spec: serviceSpec(labels) }];
  for (const peer of peers) yield* improbablePeer(cluster, peer, metadata);
}

const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'standard',
  resources: { requests: { storage: '1Gi' } },
};

const serviceSpec = (selector: object): object => ({
  clusterIP: 'None',
  publishNotReadyAddresses: true,
  selector,
  ports: [
    { name: 'etcd-client', port: 2379, protocol: 'TCP' },
    { name: 'etcd-peer', port: 2380, protocol: 'TCP' },
  ],
});

interface OfCluster {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly object[];
}

/** `ofCluster`: the metadata of what belongs to the cluster itself. */
function* improbablePeer(
  { name: clusterName, peers }: LeftCluster,
  { name, ip, finalizers = [] }: LeftPeer,
  ofCluster: OfCluster,
): Made {
  const hosts = peers.map((one) => ({ name: one.name, host: `${one.name}.${clusterName}` }));
  const peer = yield [
    IMPROBABLE_PEERS,
    {
      apiVersion: IMPROBABLE_TYPE,
      kind: 'EtcdPeer',
      metadata: { ...ofCluster, name, finalizers },
      spec: {
        clusterName,
        version: '3.3.27',
        bootstrap: { static: { initialCluster: hosts }, initialClusterState: 'New' },
        storage: { volumeClaimTemplate: CLAIM },
      },
      status: { serverVersion: '3.3.27' },
    },
  ];
  const { namespace, labels: shared } = ofCluster;
  const labels = { ...shared, 'etcd.improbable.io/peer-name': name };
  const metadata = { namespace, name, labels };
  // Nobody owns it: the operator leaves it where it was when its EtcdCluster goes.
  yield [CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: CLAIM }];
  const spec = podSpec(name, clusterName);
  const set = yield [
    REPLICA_SETS,
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { ...metadata, ownerReferences: [ownerOf(peer)] },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata, spec } },
    },
  ];
  yield [
    PODS,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, name: podOf(name), ownerReferences: [ownerOf(set)] },
      // No kubelet of a test takes what runs elsewhere already.
      spec: { ...spec, nodeName: 'elsewhere' },
      status: { phase: 'Running', podIP: ip },
    },
  ];
}

const podSpec = (name: string, clusterName: string) => ({
  hostname: name,
  subdomain: clusterName,
  hostAliases: [{ ip: '127.0.0.1', hostnames: [`${name}.${clusterName}`] }],
  containers: [
    {
      name: 'etcd',
      image: 'quay.io/coreos/etcd:v3.3.27',
      env: [
        { name: 'ETCD_NAME', value: name },
        { name: 'ETCD_INITIAL_CLUSTER_TOKEN', value: clusterName },
        { name: 'ETCD_ADVERTISE_CLIENT_URLS', value: `http://${name}.${clusterName}:2379` },
        { name: 'ETCD_LISTEN_CLIENT_URLS', value: 'http://0.0.0.0:2379' },
        { name: 'ETCD_DATA_DIR', value: DATA_DIR },
      ],
      ports: [
        { name: 'etcd-client', containerPort: 2379 },
        { name: 'etcd-peer', containerPort: 2380 },
      ],
      volumeMounts: [{ name: 'etcd-data', mountPath: DATA_DIR }],
    },
  ],
  volumes: [{ name: 'etcd-data', persistentVolumeClaim: { claimName: name } }],
});

/** On a real API server, with pods that run where the test says. */
export async function leaveOnServer(kube: KubeClient, cluster: LeftCluster): Promise<void> {
  const objects = improbableEtcd(cluster);
  for (let made = objects.next(); made.done !== true;) {
    const { object } = await kube.create(...made.value);
    made = objects.next(object);
  }
  const { namespace, peers } = cluster;
  for (const { name, ip } of peers) await runsAt(kube, { namespace, name: podOf(name) }, ip);
}
