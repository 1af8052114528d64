// Where NatsClusters run in real pods: the nodes of the rung with containerd and kubelets,
// nats-servers from images, volumes on the nodes' disks, and the function with the rights of its
// manifests. Clients connect as they do everywhere: to the Service.
import { readFile } from 'node:fs/promises';
import type { ReachedCluster } from '../../../knative/try/cluster/reached-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Named, PODS, Scene } from '../../integration/nats-cluster/scene.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { openPodPlaceParts, type PodPlaceParts } from '../support/pod-place-parts.ts';
import { processesOf } from '../support/pod-processes.ts';
import { loseVolume } from '../support/volumes.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;

const SERVER = 'nats-server';
const MONITOR_PORT = 8222;
const HEALTH_WITHIN_MS = 5_000;

export class PodPlace extends Scene {
  readonly kube: KubeClient;
  readonly kubectl: Kubectl;
  readonly nodes: ReachedCluster;
  readonly #parts: PodPlaceParts;

  private constructor(parts: PodPlaceParts) {
    super();
    ({ kube: this.kube, kubectl: this.kubectl, nodes: this.nodes } = parts);
    this.#parts = parts;
  }

  static async open(): Promise<PodPlace> {
    return new PodPlace(await openPodPlaceParts());
  }

  async close(): Promise<void> {
    await this.stopStarted();
    await this.#parts.close();
  }

  protected kubeconfigOf(account: Named): Promise<string> {
    return this.#parts.kubeconfigOf(account);
  }

  protected trouble(): string {
    return this.nodes.dir;
  }

  async scale({ namespace, name }: Named, replicas: number): Promise<void> {
    const object = `natscluster/${name}`;
    await this.kubectl.run('scale', `-n=${namespace}`, object, `--replicas=${replicas}`);
  }

  async addresses({ namespace, name }: Named): Promise<readonly string[]> {
    const service = await this.kube.get(SERVICES, { namespace, name });
    const { clusterIP = '' } = (service?.['spec'] ?? {}) as { readonly clusterIP?: string };
    return [`${clusterIP}:4222`];
  }

  /** Its process dies at once, with nothing written; it is started again. */
  async kill({ namespace }: Named, server: string): Promise<void> {
    const uid = await this.#podUid(namespace, server);
    const pids = await processesOf(SERVER, uid);
    if (pids.length === 0) throw new Error(`${server} has no process`);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  }

  /** Forgotten at once by everybody but the kubelet, which lets it end in its own time. */
  async deleteByForce({ namespace }: Named, server: string): Promise<void> {
    const force = ['--grace-period=0', '--force'];
    await this.kubectl.run('delete', 'pod', server, `-n=${namespace}`, ...force);
  }

  /**
   * Nobody can end its container, and its server goes on: containerd's shim of the pod does not
   * answer. Resolves with what lets it answer again.
   */
  async hangRuntime({ namespace }: Named, server: string): Promise<() => void> {
    const [pid] = await processesOf(SERVER, await this.#podUid(namespace, server));
    if (pid === undefined) throw new Error(`${server} has no process`);
    const shim = Number(/^PPid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
    process.kill(shim, 'SIGSTOP');
    return () => void process.kill(shim, 'SIGCONT');
  }

  /**
   * The state of the pod after `before` while that one's server still holds the volume: the
   * kubelet's refusal to mount it, or undefined when its server runs.
   */
  async refusalAfter({ namespace }: Named, server: string, before: string): Promise<unknown> {
    let refusal: unknown;
    await until('the next pod to start, or to be refused its volume', async () => {
      const pod = await this.kube.get(PODS, { namespace, name: server });
      if (pod === null || pod.metadata.uid === before) return false;
      const fieldSelector = `involvedObject.uid=${pod.metadata.uid},reason=FailedMount`;
      const { items } = await this.kube.list(EVENTS, { namespace, fieldSelector });
      refusal = items.map(({ message }) => message).find((one) => String(one).includes('in use'));
      return refusal !== undefined || (await processesOf(SERVER, pod.metadata.uid)).length > 0;
    });
    return refusal;
  }

  /** As provisioners do. */
  async sayOfClaim(cluster: Named, name: string, message: string): Promise<void> {
    const { namespace } = cluster;
    const uid = await this.claimUid(cluster, name);
    await this.kube.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${name}.refused` },
      involvedObject: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message,
    });
  }

  /** As `kubectl delete pod --grace-period=1` does. */
  async deletePod({ namespace }: Named, server: string): Promise<void> {
    const uid = await this.#podUid(namespace, server);
    const target = { namespace, name: server };
    await this.kube.delete(PODS, target, { uid }, { gracePeriodSeconds: 1 });
  }

  async loseVolume(cluster: Named, server: string): Promise<void> {
    const { namespace } = cluster;
    const podUid = await this.#podUid(namespace, server);
    const endPod = async (): Promise<void> => {
      await this.deletePod(cluster, server);
      const isGone = async () => (await processesOf(SERVER, podUid)).length === 0;
      await until('its process to end', isGone, 60_000);
    };
    const { kube, nodes } = this;
    await loseVolume({
      kube,
      clusterDir: nodes.dir,
      namespace,
      claim: `data-${server}`,
      endPod,
    });
  }

  async nodeOf({ namespace }: Named, server: string): Promise<string> {
    const pod = await this.kube.get(PODS, { namespace, name: server });
    return String(Object(pod?.['spec']).nodeName);
  }

  /** The status that it answers to whoever asks whether it is well. */
  async healthOf({ namespace }: Named, server: string): Promise<number> {
    const pod = await this.kube.get(PODS, { namespace, name: server });
    const url = `http://${String(Object(pod?.['status']).podIP)}:${MONITOR_PORT}/healthz`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTH_WITHIN_MS) });
    await answer.text();
    return answer.status;
  }

  async #podUid(namespace: string, name: string): Promise<string> {
    const pod = await this.kube.get(PODS, { namespace, name });
    if (pod === null) throw new Error(`there is no pod ${namespace}/${name}`);
    return pod.metadata.uid;
  }
}
