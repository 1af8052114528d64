// An EtcdCluster of the etcd operator as it is left where the operator is gone: its definition
// without a schema, as clusters have it that went through 1.22, the object, and bare pods, Services
// and claims that belong to it. A test says where the pods are.
import { LEGACY_ETCDS, type TakeoverStatus } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CLAIMS, PODS, SERVICES } from '../../shared/stateful/parts.ts';
import { createTakeover, defineLegacyKind, runsAt, takeoverStatus } from './legacy-kind.ts';

const LEGACY_TYPE = 'etcd.database.coreos.com/v1beta2';

export const defineLegacyEtcd = (kube: KubeClient): Promise<void> =>
  defineLegacyKind(kube, LEGACY_ETCDS, 'EtcdCluster', 'etcd');

const DATA_DIR = '/var/etcd';

interface LegacyPod {
  readonly name: string;
  /** Absent where a kubelet runs it. */
  readonly ip?: string;
  /** Absent for data in an emptyDir. */
  readonly claim?: string;
}

export class LegacyEtcd {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #name: string;

  constructor(kube: KubeClient, namespace: string, name: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#name = name;
  }

  get #labels() {
    return { app: 'etcd', etcd_cluster: this.#name };
  }

  async create(pods: readonly LegacyPod[], spec: object = {}): Promise<void> {
    const named = { namespace: this.#namespace, name: this.#name };
    const { object } = await this.#kube.create(LEGACY_ETCDS, {
      apiVersion: LEGACY_TYPE,
      kind: 'EtcdCluster',
      metadata: named,
      spec: { size: pods.length, repository: 'quay.io/coreos/etcd', version: '3.3.27', ...spec },
      status: { phase: 'Running', serviceName: `${this.#name}-client`, clientPort: 2379 },
    });
    const { uid } = object.metadata;
    const owner = { apiVersion: LEGACY_TYPE, kind: 'EtcdCluster', name: this.#name, uid };
    const ownerReferences = [{ ...owner, controller: true }];
    await this.#services(ownerReferences);
    for (const pod of pods) await this.#pod(pod, pods, ownerReferences);
  }

  async #services(ownerReferences: readonly object[]): Promise<void> {
    const client = { name: 'client', port: 2379, protocol: 'TCP' };
    const peer = { name: 'peer', port: 2380, protocol: 'TCP' };
    const bodies = {
      [this.#name]: { clusterIP: 'None', publishNotReadyAddresses: true, ports: [client, peer] },
      [`${this.#name}-client`]: { ports: [client] },
    };
    for (const [name, body] of Object.entries(bodies)) {
      await this.#kube.create(SERVICES, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: this.#namespace, name, labels: this.#labels, ownerReferences },
        spec: { ...body, selector: this.#labels },
      });
    }
  }

  async #pod(
    { name, ip, claim }: LegacyPod,
    pods: readonly LegacyPod[],
    ownerReferences: readonly object[],
  ): Promise<void> {
    const namespace = this.#namespace;
    const metadata = { namespace, name, labels: this.#labels, ownerReferences };
    if (claim !== undefined) {
      const resources = { requests: { storage: '1Gi' } };
      await this.#kube.create(CLAIMS, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { ...metadata, name: claim },
        spec: { accessModes: ['ReadWriteOnce'], resources },
      });
    }
    const data =
      claim === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claim } };
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, labels: { ...this.#labels, etcd_node: name } },
      spec: {
        // No kubelet of a test takes what runs elsewhere already. On nodes it is root, as in images
        // of these years, and may write into its claim.
        ...(ip === undefined ? { securityContext: { runAsUser: 0 } } : { nodeName: 'elsewhere' }),
        restartPolicy: 'Never',
        hostname: name,
        subdomain: this.#name,
        // It waits for the name of its pod, as etcd does by itself.
        initContainers: ip === undefined ? [] : [{ name: 'check-dns', image: 'busybox:1.28' }],
        containers: [
          {
            name: 'etcd',
            image: 'quay.io/coreos/etcd:v3.3.27',
            command: this.#command(name, pods),
            volumeMounts: [{ name: 'etcd-data', mountPath: DATA_DIR }],
          },
        ],
        volumes: [{ name: 'etcd-data', ...data }],
      },
    });
    if (ip !== undefined) await runsAt(this.#kube, { namespace, name }, ip);
  }

  #command(name: string, pods: readonly LegacyPod[]): readonly string[] {
    const at = (one: string, port: number): string =>
      `http://${one}.${this.#name}.${this.#namespace}.svc:${port}`;
    return [
      '/usr/local/bin/etcd',
      `--data-dir=${DATA_DIR}/data`,
      `--name=${name}`,
      `--initial-advertise-peer-urls=${at(name, 2380)}`,
      '--listen-peer-urls=http://0.0.0.0:2380',
      '--listen-client-urls=http://0.0.0.0:2379',
      `--advertise-client-urls=${at(name, 2379)}`,
      `--initial-cluster=${pods.map((one) => `${one.name}=${at(one.name, 2380)}`).join(',')}`,
      `--initial-cluster-token=${this.#name}`,
      '--initial-cluster-state=new',
    ];
  }

  async takeOver(name: string, more: object = {}): Promise<void> {
    const legacy = { kind: 'EtcdCluster', name: this.#name };
    const into = { name: `${this.#name}-2` };
    const metadata = { namespace: this.#namespace, name };
    await createTakeover(this.#kube, metadata, { legacy, into, ...more });
  }

  statusOf(takeover: string): Promise<TakeoverStatus> {
    return takeoverStatus(this.#kube, { namespace: this.#namespace, name: takeover });
  }
}
