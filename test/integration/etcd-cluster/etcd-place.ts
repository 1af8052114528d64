// EtcdClusters without nodes: a plane whose StatefulSet controller is the real one, and pods whose
// containers are real etcds on loopback. Both functions run in this process, each with the rights
// of its own account, and are woken by hand.
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdCluster } from '../../../functions/etcd-cluster/index.ts';
import { etcdPeer } from '../../../functions/etcd-peer/index.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { addControllerManager } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { type EtcdClusterStatus, ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { type EtcdAdmin, openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { systemClock } from '../../../shared/clock.ts';
import { startShipped } from '../../builders/shipped.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { Kubelet } from '../nats-cluster/kubelet.ts';
import { hasty } from '../nats-cluster/scene.ts';

const IMAGE = 'quay.io/coreos/etcd:v3.6.16';
export const SCENARIO_MS = 300_000;
const WOKEN_MS = 240_000;
/** As events of pods and peers would; each function works on until there is nothing to do. */
const WAKE_EVERY_MS = 200;

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const NAMESPACES = core('namespaces');
const PODS = core('pods');
const SECRETS = core('secrets');
const CLAIMS = core('persistentvolumeclaims');

export class EtcdPlace {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly #kubelet: Kubelet;
  readonly #accounts: ServiceAccounts;
  #cluster!: RunningFunction;
  #peer!: RunningFunction;

  private constructor(plane: Plane, kube: KubeClient, kubelet: Kubelet) {
    this.plane = plane;
    this.kube = kube;
    this.#kubelet = kubelet;
    this.#accounts = new ServiceAccounts(kube, plane, (error) => kubelet.errors.push(error));
  }

  static async start(): Promise<EtcdPlace> {
    const { plane, kube } = await startShipped();
    const controllers = [
      'statefulset-controller',
      'garbage-collector-controller',
      'persistentvolumeclaim-protection-controller',
    ];
    await addControllerManager(plane, { controllers, featureGates: [] });
    const images = join(plane.dir, 'images');
    await mkdir(images, { recursive: true });
    const binary = join(images, 'etcd');
    await copyFile(await resolvePart('etcd'), binary);
    const kubelet = new Kubelet({ plane, kube, binaries: { [IMAGE]: binary } });
    kubelet.start();
    const place = new EtcdPlace(plane, kube, kubelet);
    await place.#startFunctions();
    return place;
  }

  async #startFunctions(): Promise<void> {
    this.#cluster = await startFunction(etcdCluster, await this.#optionsOf(etcdCluster.name));
    this.#peer = await startFunction(etcdPeer, await this.#optionsOf(etcdPeer.name));
  }

  /** As the account of its manifests. */
  async #optionsOf(name: string) {
    const account = { namespace: 'ballast-system', name };
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      WORK_SECONDS: '5',
      KUBECONFIG: await this.#accounts.kubeconfigFor(`function/${name}`, account),
    };
    return { environment, build: { version: '0.0.0', commit: '' }, clock: hasty };
  }

  async stop(): Promise<void> {
    await Promise.all([this.#cluster.stop(), this.#peer.stop()]);
    this.#accounts.close();
    await this.#kubelet.stop();
    await this.kube.close();
    await this.plane.stop();
  }

  async namespace(name: string): Promise<void> {
    await this.kube.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const rights = [...etcdClusterRights(name), ...etcdPeerRights(name)];
    await applyObjects(
      this.kube,
      rights.map((object) => ({ file: 'npm run rights', object })),
    );
  }

  async create({ namespace, name }: Named, spec: object): Promise<void> {
    const metadata = { namespace, name };
    const { group, version } = ETCD_CLUSTERS;
    const apiVersion = `${group}/${version}`;
    await this.kube.create(ETCD_CLUSTERS, { apiVersion, kind: 'EtcdCluster', metadata, spec });
  }

  async edit(cluster: Named, spec: object): Promise<void> {
    await this.kube.patch(ETCD_CLUSTERS, cluster, { type: 'merge', body: { spec } });
  }

  async delete(cluster: Named): Promise<void> {
    const { uid } = (await this.read(cluster)).metadata;
    await this.kube.delete(ETCD_CLUSTERS, cluster, { uid });
  }

  async read({ namespace, name }: Named): Promise<KubeObject> {
    const object = await this.kube.get(ETCD_CLUSTERS, { namespace, name });
    if (object === null) throw new Error(`there is no EtcdCluster ${namespace}/${name}`);
    return object;
  }

  async status(cluster: Named): Promise<EtcdClusterStatus> {
    return (await this.read(cluster))['status'] ?? {};
  }

  async condition(cluster: Named, type: string): Promise<string> {
    const { conditions = [] } = await this.status(cluster);
    const found = conditions.find((one) => one.type === type);
    return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
  }

  async claims({ namespace, name }: Named): Promise<readonly KubeObject[]> {
    const labelSelector = `ballast.dev/etcd-cluster=${name}`;
    return (await this.kube.list(CLAIMS, { namespace, labelSelector })).items;
  }

  async pods({ namespace, name }: Named): Promise<readonly KubeObject[]> {
    const labelSelector = `ballast.dev/etcd-cluster=${name}`;
    return (await this.kube.list(PODS, { namespace, labelSelector })).items;
  }

  async podUids(cluster: Named): Promise<readonly string[]> {
    return (await this.pods(cluster)).map(({ metadata }) => metadata.uid);
  }

  /** Somebody deletes it, and the pod that holds it. */
  async loseClaim({ namespace }: Named, name: string): Promise<void> {
    const claim = await this.kube.get(CLAIMS, { namespace, name });
    const pod = `${name.replace('data-', '')}-0`;
    const found = await this.kube.get(PODS, { namespace, name: pod });
    if (claim === null || found === null) throw new Error(`there is no ${name}, or no ${pod}`);
    await this.kube.delete(CLAIMS, { namespace, name }, { uid: claim.metadata.uid });
    await this.kube.delete(PODS, { namespace, name: pod }, { uid: found.metadata.uid });
  }

  /** As a client that has mounted the Secret which is made for clients. */
  async client(cluster: Named): Promise<EtcdAdmin> {
    const { namespace, name } = cluster;
    const secret = await this.kube.get(SECRETS, { namespace, name: `${name}-client` });
    const data = Object.entries((secret?.['data'] ?? {}) as Record<string, string>);
    const files = Object.fromEntries(
      data.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
    );
    const scheme = files['ca.crt'] === undefined ? 'http' : 'https';
    const endpoints = (await this.pods(cluster)).map(({ metadata, status }) => ({
      url: `${scheme}://${String(Object(status).podIP)}:2379`,
      serverName: `${metadata.name}.${name}-headless.${namespace}.svc`,
    }));
    const tls = { ca: files['ca.crt'], cert: files['tls.crt'], key: files['tls.key'] };
    return openEtcdAdmin({ endpoints, ...(scheme === 'https' ? { tls } : {}) });
  }

  /** Wakes both functions until it is so; otherwise says how everything is. */
  async wakeUntil(
    cluster: Named,
    what: string,
    isSo: (status: EtcdClusterStatus, object: KubeObject) => boolean | Promise<boolean>,
  ): Promise<void> {
    const answers = ['', ''];
    const woken = new AbortController();
    const waking = [this.#cluster, this.#peer].map(async ({ port }, index) => {
      while (!woken.signal.aborted) {
        const answer = await sendEvent(port, 'dev.knative.sources.ping', {});
        answers[index] = `${answer.status} ${await answer.text()}`;
        await systemClock.sleep(WAKE_EVERY_MS);
      }
    });
    try {
      await until(
        what,
        async () => {
          const object = await this.read(cluster);
          return isSo(object['status'] ?? {}, object);
        },
        WOKEN_MS,
      );
    } catch (cause) {
      const status = JSON.stringify(await this.status(cluster), undefined, 1);
      const trouble = this.#kubelet.errors.map(String).slice(-3).join('; ');
      const last = answers.join('; ');
      throw new Error(`last answers: ${last}; place: ${trouble}; ${status}`, { cause });
    } finally {
      woken.abort();
      await Promise.all(waking);
    }
  }

  async wakeUntilReady(cluster: Named): Promise<void> {
    await this.wakeUntil(cluster, 'Ready', ({ conditions = [], observedGeneration }, object) => {
      const ready = conditions.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && observedGeneration === object.metadata.generation;
    });
  }
}
