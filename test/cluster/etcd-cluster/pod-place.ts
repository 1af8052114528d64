// Where EtcdClusters run in real pods: the nodes of the rung with containerd and kubelets, etcds
// from images, volumes on the nodes' disks, and both functions with the rights of their manifests.
// Clients connect as they do everywhere: to the Service.
import { join } from 'node:path';
import type { ReachedCluster } from '../../../knative/try/cluster/reached-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { claimName, CLIENT_PORT, podName } from '../../../shared/api/etcd-names.ts';
import { type EtcdAdmin, openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { logOf, spoilLog } from '../../builders/spoil-file.ts';
import { until } from '../../builders/versioned-kind.ts';
import {
  EtcdScene,
  type Named,
  PODS,
  type Waking,
} from '../../integration/etcd-cluster/etcd-scene.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { openPodPlaceParts, type PodPlaceParts } from '../support/pod-place-parts.ts';
import { processesOf } from '../support/pod-processes.ts';
import { loseVolume, volumeDir } from '../support/volumes.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const ENDS_WITHIN_MS = 60_000;

export class EtcdPodPlace extends EtcdScene {
  readonly kube: KubeClient;
  readonly kubectl: Kubectl;
  readonly nodes: ReachedCluster;
  readonly #parts: PodPlaceParts;

  private constructor(parts: PodPlaceParts) {
    super();
    ({ kube: this.kube, kubectl: this.kubectl, nodes: this.nodes } = parts);
    this.#parts = parts;
  }

  static async open(): Promise<EtcdPodPlace> {
    const parts = await openPodPlaceParts();
    const place = new EtcdPodPlace(parts);
    try {
      await place.startFunctions();
      return place;
    } catch (error) {
      await parts.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.stopFunctions();
    await this.#parts.close();
  }

  kubeconfigOf(account: Named): Promise<string> {
    return this.#parts.kubeconfigOf(account);
  }

  protected trouble(): string {
    return this.nodes.dir;
  }

  /** As changes of the EtcdCluster, and of each of its members, do. */
  protected override async events(cluster: Named): Promise<readonly Waking[]> {
    const { namespace, name } = cluster;
    const type = 'dev.knative.apiserver.resource.update';
    const { items } = await this.kube.list(ETCD_PEERS, { namespace });
    const peers = items.map(({ metadata }) => {
      const data = { kind: 'EtcdPeer', metadata: { namespace, name: metadata.name } };
      return { index: 1, type, data } as const;
    });
    return [
      { index: 0, type, data: { kind: 'EtcdCluster', metadata: { namespace, name } } },
      ...peers,
    ];
  }

  async scale({ namespace, name }: Named, replicas: number): Promise<void> {
    const object = `etcdcluster/${name}`;
    await this.kubectl.run('scale', `-n=${namespace}`, object, `--replicas=${replicas}`);
  }

  /** How a client connects that has mounted the Secret which is made for clients. */
  async access(cluster: Named): Promise<() => EtcdAdmin> {
    const { namespace, name } = cluster;
    const service = await this.kube.get(SERVICES, { namespace, name });
    const { clusterIP = '' } = Object(service?.['spec']);
    const url = `https://${String(clusterIP)}:${CLIENT_PORT}`;
    const tls = await this.clientTls(cluster);
    const endpoints = [{ url, serverName: `${name}.${namespace}.svc` }];
    return () => openEtcdAdmin({ endpoints, tls });
  }

  async pod({ namespace }: Named, member: string): Promise<KubeObject> {
    const pod = await this.kube.get(PODS, { namespace, name: podName(member) });
    if (pod === null) throw new Error(`${member} has no pod`);
    return pod;
  }

  async nodeOf(cluster: Named, member: string): Promise<string> {
    return String(Object((await this.pod(cluster, member))['spec']).nodeName);
  }

  /** As `kubectl delete pod` does. Resolves when its process is gone. */
  async deletePod(cluster: Named, member: string): Promise<void> {
    const { name, uid } = (await this.pod(cluster, member)).metadata;
    await this.kube.delete(PODS, { namespace: cluster.namespace, name }, { uid });
    const isGone = async () => (await processesOf('etcd', uid)).length === 0;
    await until('its process to end', isGone, ENDS_WITHIN_MS);
  }

  /** Its disk gives back other bytes of its log than it was given, and its process starts again. */
  async spoilLog(cluster: Named, member: string): Promise<void> {
    const { namespace } = cluster;
    const clusterDir = this.nodes.dir;
    const of = { kube: this.kube, clusterDir, namespace, claim: claimName(member) };
    await spoilLog(await logOf(join(await volumeDir(of), 'data/member')));
    const { uid } = (await this.pod(cluster, member)).metadata;
    for (const pid of await processesOf('etcd', uid)) process.kill(pid, 'SIGKILL');
  }

  /** The sizes that the volumes of its claims have. */
  async volumeSizes(cluster: Named): Promise<readonly string[]> {
    return (await this.claims(cluster)).map(({ status }) => Object(status).capacity?.storage);
  }

  async loseVolume(cluster: Named, member: string): Promise<void> {
    await loseVolume({
      kube: this.kube,
      clusterDir: this.nodes.dir,
      namespace: cluster.namespace,
      claim: claimName(member),
      endPod: () => this.deletePod(cluster, member),
    });
  }
}
