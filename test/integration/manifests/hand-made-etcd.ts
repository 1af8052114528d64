// An EtcdCluster where nobody runs pods or makes volumes: its pods are put there by hand, and its
// first member is a real etcd beside them. Its functions send the API server the same requests.
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import { ETCD_CLUSTERS, type EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { startOwnPart } from '../../lanes/own-part.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const CLAIMS = core('persistentvolumeclaims');
const NAMESPACES = core('namespaces');
const PODS = core('pods');
const VOLUMES = core('persistentvolumes');
const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;

/** A namespace where no other test has clusters. */
export const namespace = 'etcds';
const CLUSTER = { namespace, name: 'etcd' };
const FIRST = 'etcd-0';
const LOST = 'etcd-1';
const TEMPLATE = 'ballast.dev/template';
const VOLUME = 'of-etcd-on-gone';
/** A node that is no more. */
const NODE = 'gone';
/** A pod that looks for a node for so long, while its volume is on one, may have lost that node. */
const PLACELESS_MS = 600_000;

const podOf = (member: string) => ({ namespace, name: `${member}-0` });
const claimOf = (member: string) => ({ namespace, name: `data-${member}` });

export class HandMadeEtcd {
  readonly #kube: KubeClient;
  readonly #plane: PlaneAddress;
  /** Its ports are those of every member, so it has an address of its own. */
  readonly #ip = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.9`;

  constructor(kube: KubeClient, plane: PlaneAddress) {
    this.#kube = kube;
    this.#plane = plane;
  }

  async create(): Promise<void> {
    const metadata = { name: namespace };
    await this.#kube.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    const none = { mode: 'None' };
    await this.#kube.create(ETCD_CLUSTERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: CLUSTER,
      spec: { replicas: 1, tls: { clients: none, peers: none } },
    });
  }

  async status(): Promise<EtcdClusterStatus> {
    return (await this.#kube.get(ETCD_CLUSTERS, CLUSTER))?.['status'] ?? {};
  }

  /** The condition after its type: `True Whole: Every member ...`. */
  async condition(type: string): Promise<string> {
    const { conditions = [] } = await this.status();
    const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
    return `${status} ${reason}: ${message}`;
  }

  /** A pod of the StatefulSet, at the address where the first member answers. */
  async runFirst(): Promise<boolean> {
    const set = await this.#kube.get(STATEFUL_SETS, { namespace, name: FIRST });
    if (set === null || (await this.#kube.get(PODS, podOf(FIRST))) !== null) return false;
    const ready = { type: 'Ready', status: 'True' };
    await this.#makePod(FIRST, set, { podIP: this.#ip, conditions: [ready] });
    return true;
  }

  async startEtcd(): Promise<void> {
    const url = `http://${this.#ip}:2379`;
    const peerUrl = `http://${FIRST}-0.etcd-headless.${namespace}.svc:2380`;
    const member = openEtcdAdmin({ endpoint: url });
    await startOwnPart(this.#plane, {
      name: FIRST,
      command: await resolvePart('etcd'),
      args: [
        `--name=${FIRST}`,
        `--data-dir=${join(this.#plane.dir, `${FIRST}-data`)}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=http://${this.#ip}:2380`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=${FIRST}=${peerUrl}`,
        '--unsafe-no-fsync',
        '--log-level=warn',
      ],
      env: {},
      url,
      ready: async (signal) => (await member.status({ signal })).leaderId !== undefined,
    });
    await member.close();
  }

  /** Its claim says whose data it has. */
  async isMarked(): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, claimOf(FIRST));
    return claim?.metadata.annotations?.[CLUSTER_ID_ANNOTATION] !== undefined;
  }

  /** As etcd-backup says of a schedule that has taken one. */
  async promiseBackups(): Promise<void> {
    const at = { namespace, name: 'daily' };
    await this.#kube.create(ETCD_BACKUP_SCHEDULES, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdBackupSchedule',
      metadata: at,
      spec: {
        schedule: '0 4 * * *',
        template: {
          source: { etcdCluster: { name: CLUSTER.name } },
          target: { claim: { name: 'disk' } },
        },
      },
    });
    const { clusterId } = await this.status();
    const newest = {
      name: 'daily-202601020400',
      location: 'claim://disk/daily.db',
      revision: '6',
      takenAt: '2026-01-02T04:00:00Z',
      isHashConfirmed: true,
      clusterId,
    };
    const body = { status: { newest, goodUntil: '2099-01-01T00:00:00Z' } };
    const target = { ...at, subresource: 'status' };
    await this.#kube.patch(ETCD_BACKUP_SCHEDULES, target, { type: 'merge', body });
  }

  /** Before its time comes, by whatever clock: then etcd-backup would take one. */
  async takePromiseBack(): Promise<void> {
    const at = { namespace, name: 'daily' };
    const { uid = '' } = (await this.#kube.get(ETCD_BACKUP_SCHEDULES, at))?.metadata ?? {};
    await this.#kube.delete(ETCD_BACKUP_SCHEDULES, at, { uid });
  }

  /** In the status, and in the metrics of the function. */
  async isBackedUp({ port }: { readonly port: number }): Promise<boolean> {
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const line = new RegExp(
      `^ballast_etcd_cluster_backup_newest_\\S+{.*"${namespace}".*} 1767\\d{6}$`,
      'm',
    );
    const isReady = (await this.condition('BackupReady')).startsWith('True NewEnough');
    return isReady && line.test(page);
  }

  async edit(spec: object): Promise<void> {
    await this.#kube.patch(ETCD_CLUSTERS, CLUSTER, { type: 'merge', body: { spec } });
  }

  /** The second one is about to join: it looks for a node that is gone, and its volume with it. */
  async loseSecond(): Promise<boolean> {
    const set = await this.#kube.get(STATEFUL_SETS, { namespace, name: LOST });
    if (set === null) return false;
    const onNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE] };
    await this.#kube.create(VOLUMES, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: VOLUME },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        local: { path: '/data' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      },
    });
    const annotations = { 'volume.kubernetes.io/selected-node': NODE };
    const body = { metadata: { annotations }, spec: { volumeName: VOLUME } };
    await this.#kube.patch(CLAIMS, claimOf(LOST), { type: 'merge', body });
    const pending = { status: { phase: 'Pending' } };
    const ofClaim = { ...claimOf(LOST), subresource: 'status' };
    await this.#kube.patch(CLAIMS, ofClaim, { type: 'merge', body: pending });
    const lastTransitionTime = new Date(Date.now() - PLACELESS_MS).toISOString();
    const placeless = { type: 'PodScheduled', status: 'False', lastTransitionTime };
    await this.#makePod(LOST, set, { conditions: [placeless] });
    return true;
  }

  /** As the garbage collector and the kubelet do, once the StatefulSet is gone. */
  async endSecond(): Promise<boolean> {
    if ((await this.#kube.get(STATEFUL_SETS, { namespace, name: LOST })) !== null) return false;
    const gone = { precondition: 'none', because: 'its StatefulSet is gone' } as const;
    await this.#kube.delete(PODS, podOf(LOST), gone, { gracePeriodSeconds: 0 });
    return true;
  }

  async isSecondGone(): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, claimOf(LOST));
    return claim === null || claim.metadata.deletionTimestamp !== undefined;
  }

  async #makePod(member: string, set: KubeObject, status: object): Promise<void> {
    const { annotations = {} } = Object(set['spec']).template.metadata;
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: member };
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...podOf(member),
        labels: { 'ballast.dev/etcd-cluster': CLUSTER.name, 'ballast.dev/etcd-peer': member },
        annotations: { [TEMPLATE]: annotations[TEMPLATE] },
        ownerReferences: [{ ...owner, uid: set.metadata.uid, controller: true }],
      },
      spec: { containers: [{ name: 'etcd', image: 'quay.io/coreos/etcd:v3.6.16' }] },
    });
    const target = { ...podOf(member), subresource: 'status' };
    await this.#kube.patch(PODS, target, { type: 'merge', body: { status } });
  }
}
