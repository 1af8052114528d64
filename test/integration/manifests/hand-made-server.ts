// A NatsCluster of one server where nobody runs pods: the claim and the pod are put there by hand,
// and lost with their node. Its function sends the API server the same requests.
import {
  NATS_CLUSTER_LABEL,
  NATS_CLUSTERS,
  type NatsClusterStatus,
} from '../../../shared/api/nats-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createStorageClass } from '../../builders/storage-class.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const CLAIMS = core('persistentvolumeclaims');
const VOLUMES = core('persistentvolumes');
const PODS = core('pods');
const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;

const CLUSTER = { namespace: 'default', name: 'nats' };
const POD = { namespace: 'default', name: 'nats-0' };
const CLAIM = { namespace: 'default', name: 'data-nats-0' };
const OF_CLUSTER = { labels: { [NATS_CLUSTER_LABEL]: CLUSTER.name } };
const STORAGE_CLASS = 'growing';
const VOLUME = 'on-gone';
/** A node that is no more. */
const NODE = 'gone';
const filesOf = (size: string) => ({
  jetStream: { fileStorage: { size, storageClassName: STORAGE_CLASS } },
});
const requests = (storage: string) => ({ resources: { requests: { storage } } });
/** A pod that looks for a node for so long, while its volume is on one, may have lost that node. */
const PLACELESS_MS = 600_000;

export class HandMadeServer {
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  async create(): Promise<void> {
    await createStorageClass(this.#kube, STORAGE_CLASS, true);
    await this.#kube.create(NATS_CLUSTERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'NatsCluster',
      metadata: CLUSTER,
      spec: { replicas: 1, ...filesOf('1Gi') },
    });
  }

  /** The condition after its type: `True Whole: Every server ...`. */
  async condition(type: string): Promise<string> {
    const object = await this.#kube.get(NATS_CLUSTERS, CLUSTER);
    const { conditions = [] } = (object?.['status'] ?? {}) as NatsClusterStatus;
    const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
    return `${status} ${reason}: ${message}`;
  }

  async hasStatefulSet(): Promise<boolean> {
    return (await this.#kube.get(STATEFUL_SETS, CLUSTER)) !== null;
  }

  /** A claim on a node that is no more, and a spec that wants it larger. */
  async growClaim(): Promise<void> {
    const onNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE] };
    await this.#kube.create(VOLUMES, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: VOLUME },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: STORAGE_CLASS,
        local: { path: '/data' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      },
    });
    const annotations = { 'volume.kubernetes.io/selected-node': NODE };
    await this.#kube.create(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...CLAIM, ...OF_CLUSTER, annotations },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: STORAGE_CLASS,
        volumeName: VOLUME,
        ...requests('1Gi'),
      },
    });
    const status = { status: { phase: 'Bound' } };
    const target = { ...CLAIM, subresource: 'status' };
    await this.#kube.patch(CLAIMS, target, { type: 'merge', body: status });
    const body = { spec: filesOf('2Gi') };
    await this.#kube.patch(NATS_CLUSTERS, CLUSTER, { type: 'merge', body });
  }

  /** The claim, and the StatefulSet that was made anew for it. */
  async hasGrown(): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, CLAIM);
    const statefulSet = await this.#kube.get(STATEFUL_SETS, CLUSTER);
    if (statefulSet?.metadata.deletionTimestamp !== undefined) {
      // As the garbage collector does once it has made the pods orphans.
      const body = { metadata: { finalizers: null } };
      await this.#kube.patch(STATEFUL_SETS, CLUSTER, { type: 'merge', body });
      return false;
    }
    const [template] = Object(statefulSet?.['spec']).volumeClaimTemplates ?? [];
    return [claim, template].every(
      (one) => Object(one?.spec?.resources?.requests).storage === '2Gi',
    );
  }

  /** Its pod looks for the node of the claim, which waits for a volume meanwhile. */
  async losePlace(): Promise<void> {
    const pending = { status: { phase: 'Pending' } };
    const ofClaim = { ...CLAIM, subresource: 'status' };
    await this.#kube.patch(CLAIMS, ofClaim, { type: 'merge', body: pending });
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...POD, ...OF_CLUSTER },
      spec: { containers: [{ name: 'nats', image: 'nats:2.15.2' }] },
    });
    const lastTransitionTime = new Date(Date.now() - PLACELESS_MS).toISOString();
    const conditions = [{ type: 'PodScheduled', status: 'False', lastTransitionTime }];
    const target = { ...POD, subresource: 'status' };
    const body = { status: { conditions } };
    await this.#kube.patch(PODS, target, { type: 'merge', body });
  }

  async isGone(): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, CLAIM);
    const isClaimGone = claim === null || claim.metadata.deletionTimestamp !== undefined;
    return isClaimGone && (await this.#kube.get(PODS, POD)) === null;
  }
}
