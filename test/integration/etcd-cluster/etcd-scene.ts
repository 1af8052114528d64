// Where EtcdClusters run in these tests, as the scenarios see it: what any Kubernetes has. Whether
// members are processes on loopback or containers in real pods is for the places themselves to say.
import { etcdCluster } from '../../../functions/etcd-cluster/index.ts';
import { etcdPeer } from '../../../functions/etcd-peer/index.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { type EtcdClusterStatus, ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import type { EtcdTls } from '../../../shared/etcd/tls.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { Followed } from '../nats-cluster/followed.ts';
import { hasty } from '../nats-cluster/scene.ts';

export const SCENARIO_MS = 300_000;
const WOKEN_MS = 240_000;
/** As events of pods and peers would; each function works on until there is nothing to do. */
const WAKE_EVERY_MS = 500;

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const NAMESPACES = core('namespaces');
export const PODS = core('pods');
export const SECRETS = core('secrets');
export const CLAIMS = core('persistentvolumeclaims');

/** An event to etcd-cluster, which is 0, or to etcd-peer. */
export interface Waking {
  readonly index: 0 | 1;
  readonly type: string;
  readonly data: object;
}

/** How the functions run: in haste, where nothing else is said. */
export interface FunctionsOptions {
  readonly clock?: Clock;
  readonly workSeconds?: number;
}

export abstract class EtcdScene {
  abstract readonly kube: KubeClient;
  #functions: readonly RunningFunction[] = [];

  /** A client of an account, with its rights and no others. */
  abstract kubeconfigOf(account: Named): Promise<string>;
  /** Errors of the place itself, for the reader of a failed scenario. */
  protected abstract trouble(): string;

  protected async startFunctions(options: FunctionsOptions = {}): Promise<void> {
    const of = (name: string) => this.#optionsOf(name, options);
    const cluster = await startFunction(etcdCluster, await of(etcdCluster.name));
    this.#functions = [cluster];
    const peer = await startFunction(etcdPeer, await of(etcdPeer.name));
    this.#functions = [cluster, peer];
  }

  /** As the account of its manifests. */
  async #optionsOf(name: string, { clock = hasty, workSeconds = 5 }: FunctionsOptions) {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      WORK_SECONDS: String(workSeconds),
      KUBECONFIG: await this.kubeconfigOf({ namespace: 'ballast-system', name }),
    };
    return { environment, build: { version: '0.0.0', commit: '' }, clock };
  }

  /** Where events for this function go. */
  portOf(name: string): number {
    const [cluster, peer] = this.#functions;
    const port = name === etcdPeer.name ? peer?.port : cluster?.port;
    if (port === undefined) throw new Error(`${name} does not run`);
    return port;
  }

  protected async stopFunctions(): Promise<void> {
    await Promise.all(this.#functions.map((one) => one.stop()));
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

  /** Those of tests that are over cost every look, and one that cannot start tries for ever. */
  async endAll(kept?: Named): Promise<void> {
    for (const { metadata } of (await this.kube.list(ETCD_CLUSTERS)).items) {
      const { namespace = '', name, uid } = metadata;
      if (namespace === kept?.namespace && name === kept.name) continue;
      await this.kube.delete(ETCD_CLUSTERS, { namespace, name }, { uid });
    }
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

  /** The files in the Secret that is made for clients; undefined where they speak without TLS. */
  async clientTls({ namespace, name }: Named): Promise<EtcdTls | undefined> {
    const secret = await this.kube.get(SECRETS, { namespace, name: `${name}-client` });
    const data = Object.entries((secret?.['data'] ?? {}) as Record<string, string>);
    const files = Object.fromEntries(
      data.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
    );
    if (files['ca.crt'] === undefined) return undefined;
    return { ca: files['ca.crt'], cert: files['tls.crt'], key: files['tls.key'] };
  }

  /** Wakes both functions until it is so; otherwise says how everything is. */
  async wakeUntil(
    cluster: Named,
    what: string,
    isSo: (status: EtcdClusterStatus, object: KubeObject) => boolean | Promise<boolean>,
  ): Promise<void> {
    const answers = new Map<string, string>();
    const woken = new AbortController();
    const waking = this.#wakeAll(cluster, answers, woken.signal);
    const { namespace, name } = cluster;
    // To read it every time was a tenth of what the API server did.
    const followed = new Followed(() => undefined);
    const following = followed.follow(this.kube, ETCD_CLUSTERS, woken.signal);
    const isSoNow = async (): Promise<boolean> => {
      const object = followed.get(`${namespace}/${name}`);
      return object !== undefined && isSo(object['status'] ?? {}, object);
    };
    try {
      await Promise.race([until(what, isSoNow, WOKEN_MS), following]);
    } catch (cause) {
      const status = JSON.stringify(await this.status(cluster), undefined, 1);
      const last = [...answers].map((one) => one.join(' ')).join('; ');
      throw new Error(`last answers: ${last}; place: ${this.trouble()}; ${status}`, { cause });
    } finally {
      woken.abort();
      await Promise.allSettled([following]);
      await waking;
    }
  }

  /** Each again and again, beside each other: one that works on holds up no other. */
  async #wakeAll(cluster: Named, answers: Map<string, string>, signal: AbortSignal): Promise<void> {
    const busy = new Map<string, Promise<void>>();
    while (!signal.aborted) {
      for (const { index, type, data } of await this.events(cluster)) {
        const one = `${index} ${type} ${JSON.stringify(data)}`;
        const port = this.#functions[index]?.port;
        if (port === undefined || busy.has(one)) continue;
        const wake = async (): Promise<void> => {
          const answer = await sendEvent(port, type, data);
          answers.set(one, `${answer.status} ${await answer.text()}`);
          busy.delete(one);
        };
        busy.set(one, wake());
      }
      await systemClock.sleep(WAKE_EVERY_MS);
    }
    await Promise.all(busy.values());
  }

  /** The sweep of each wakes them. */
  protected events(_cluster: Named): Promise<readonly Waking[]> {
    const sweep = { type: 'dev.knative.sources.ping', data: {} };
    return Promise.resolve([
      { index: 0, ...sweep },
      { index: 1, ...sweep },
    ]);
  }

  async wakeUntilReady(cluster: Named): Promise<void> {
    await this.wakeUntil(cluster, 'Ready', ({ conditions = [], observedGeneration }, object) => {
      const ready = conditions.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && observedGeneration === object.metadata.generation;
    });
  }
}
