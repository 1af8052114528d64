// An EtcdPeer where nobody runs pods or makes volumes: its pod and the state of its claim are put
// there by hand. Its function sends the API server the same requests.
import { ETCD_PEERS, type EtcdPeerStatus } from '../../../shared/api/etcd-peer.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { letPeersBeWritten, PEER_SPEC, peerManifest } from '../../builders/peer-writers.ts';
import { createStorageClass } from '../../builders/storage-class.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const CLAIMS = core('persistentvolumeclaims');
const PODS = core('pods');
const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;

const namespace = 'default';
const PEER = { namespace, name: 'main-0' };
const POD = { namespace, name: 'main-0-0' };
const CLAIM = { namespace, name: 'data-main-0' };
const STORAGE_CLASS = 'growing-too';
const storageOf = (size: string) => ({
  storage: { medium: 'Volume', size, storageClassName: STORAGE_CLASS },
});

export class HandMadePeer {
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  async create(): Promise<void> {
    await createStorageClass(this.#kube, STORAGE_CLASS, true);
    await letPeersBeWritten(this.#kube);
    const spec = { ...PEER_SPEC, ...storageOf('10Gi') };
    await this.#kube.create(ETCD_PEERS, peerManifest(namespace, PEER.name, spec));
  }

  /** The condition after its type: `True Running: Pod main-0-0 is as the spec says.`. */
  async condition(type: string): Promise<string> {
    const object = await this.#kube.get(ETCD_PEERS, PEER);
    const { conditions = [] } = (object?.['status'] ?? {}) as EtcdPeerStatus;
    const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
    return `${status} ${reason}: ${message}`;
  }

  async hasStatefulSet(): Promise<boolean> {
    return (await this.#kube.get(STATEFUL_SETS, PEER)) !== null;
  }

  /** Its pod is there, and its claim gets no volume. */
  async start(): Promise<void> {
    const statefulSet = await this.#kube.get(STATEFUL_SETS, PEER);
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: PEER.name };
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...POD,
        labels: { 'ballast.dev/etcd-cluster': 'main', 'ballast.dev/etcd-peer': PEER.name },
        ownerReferences: [{ ...owner, uid: statefulSet?.metadata.uid ?? '', controller: true }],
      },
      spec: { containers: [{ name: 'etcd', image: PEER_SPEC.image }] },
    });
    await this.#say({ phase: 'Pending' });
  }

  /** The volume came, and the spec wants a larger one. */
  async growClaim(): Promise<void> {
    await this.#say({ phase: 'Bound' });
    const body = { spec: storageOf('20Gi') };
    await this.#kube.patch(ETCD_PEERS, PEER, { type: 'merge', body });
  }

  async hasGrown(): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, CLAIM);
    return Object(claim?.['spec']).resources?.requests?.storage === '20Gi';
  }

  async delete(): Promise<void> {
    const because = 'it is the only one';
    await this.#kube.delete(ETCD_PEERS, PEER, { precondition: 'none', because });
  }

  /** As the garbage collector and the kubelet do, once the StatefulSet is gone. */
  async endPod(): Promise<void> {
    const gone = { precondition: 'none', because: 'its StatefulSet is gone' } as const;
    await this.#kube.delete(PODS, POD, gone, { gracePeriodSeconds: 0 });
  }

  async isGone(): Promise<boolean> {
    return (await this.#kube.get(ETCD_PEERS, PEER)) === null;
  }

  /** Its data outlives it. */
  async hasClaim(): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, CLAIM);
    return claim !== null && claim.metadata.deletionTimestamp === undefined;
  }

  async #say(status: object): Promise<void> {
    const target = { ...CLAIM, subresource: 'status' };
    await this.#kube.patch(CLAIMS, target, { type: 'merge', body: { status } });
  }
}
