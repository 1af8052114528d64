// Where NatsClusters run in these tests: a plane whose StatefulSet controller is the real one, and
// pods whose containers are real nats-servers. Scenarios see only what any Kubernetes has, and the
// faults that they ask for by name, so that they can run elsewhere too.
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { applyObjects } from '../../../knative/local/cluster/apply-objects.ts';
import { ServiceAccounts } from '../../../knative/local/cluster/service-accounts.ts';
import { loadWiring } from '../../../knative/local/manifests/load.ts';
import { resolvePart } from '../../../knative/local/parts/resolve.ts';
import { addControllerManager } from '../../../knative/local/plane/kube-controller-manager.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import { NATS_CLUSTERS, type NatsClusterStatus } from '../../../shared/api/nats-cluster.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import { CLAIMS, Kubelet, PODS } from './kubelet.ts';

const KNATIVE = new URL('../../../knative', import.meta.url).pathname;
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' } as const;
const SECRETS = { group: '', version: 'v1', resource: 'secrets' } as const;
const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;

export const NEW_IMAGE = 'nats:2.15.2';
export const OLD_IMAGE = 'nats:2.14.9';
/** What a whole scenario may take on a machine that others use too. */
export const SCENARIO_MS = 300_000;

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

export class Place {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly kubelet: Kubelet;
  readonly #functions: RunningFunction[] = [];
  #accounts: ServiceAccounts | undefined;

  private constructor(plane: Plane, kube: KubeClient, kubelet: Kubelet) {
    this.plane = plane;
    this.kube = kube;
    this.kubelet = kubelet;
  }

  static async start(): Promise<Place> {
    const plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
    try {
      const { kubeconfigPath } = plane;
      const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
      await applyObjects(kube, (await loadWiring(KNATIVE)).objects);
      const controllers = [
        'statefulset-controller',
        'garbage-collector-controller',
        'persistentvolumeclaim-protection-controller',
      ];
      await addControllerManager(plane, { controllers, featureGates: [] });
      const kubelet = new Kubelet({ plane, kube, binaries: await images(plane) });
      kubelet.start();
      return new Place(plane, kube, kubelet);
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#functions.map((one) => one.stop()));
    this.#accounts?.close();
    await this.kubelet.stop();
    await this.kube.close();
    await this.plane.stop();
  }

  async startFunction(more: Readonly<Record<string, string>> = {}): Promise<RunningFunction> {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      WORK_SECONDS: '5',
      KUBECONFIG: await this.#kubeconfig(),
      ...more,
    };
    const one = await startFunction(natsCluster, {
      environment,
      build: { version: '0.0.0', commit: '' },
    });
    this.#functions.push(one);
    return one;
  }

  /** With the rights that its manifests give the function, and no others. */
  #kubeconfig(): Promise<string> {
    this.#accounts ??= new ServiceAccounts(this.kube, this.plane, (error) =>
      this.kubelet.errors.push(error),
    );
    const account = { namespace: 'ballast-system', name: 'nats-cluster' };
    return this.#accounts.kubeconfigFor('function/nats-cluster', account);
  }

  async namespace(name: string): Promise<void> {
    await this.kube.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  async create({ namespace, name }: Named, spec: object): Promise<void> {
    const metadata = { namespace, name };
    const { group, version } = NATS_CLUSTERS;
    const kind = 'NatsCluster';
    await this.kube.create(NATS_CLUSTERS, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata,
      spec,
    });
  }

  async edit(cluster: Named, spec: object): Promise<void> {
    await this.kube.patch(NATS_CLUSTERS, cluster, { type: 'merge', body: { spec } });
  }

  /** With its servers; what they stored stays. */
  async remove(cluster: Named): Promise<void> {
    const { uid } = (await this.read(cluster)).metadata;
    await this.kube.delete(NATS_CLUSTERS, cluster, { uid });
    await until('its pods to go', async () => (await this.pods(cluster)).length === 0, SCENARIO_MS);
  }

  async read({ namespace, name }: Named): Promise<KubeObject> {
    const object = await this.kube.get(NATS_CLUSTERS, { namespace, name });
    if (object === null) throw new Error(`there is no NatsCluster ${namespace}/${name}`);
    return object;
  }

  async status(cluster: Named): Promise<NatsClusterStatus> {
    return (await this.read(cluster))['status'] ?? {};
  }

  /** The sentence of a condition, after what it says: `True Whole: Every server ...`. */
  async condition(cluster: Named, type: string): Promise<string> {
    const { conditions = [] } = await this.status(cluster);
    const found = conditions.find((one) => one.type === type);
    return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
  }

  async events({ namespace, name }: Named): Promise<readonly string[]> {
    const fieldSelector = `involvedObject.name=${name}`;
    const { items } = await this.kube.list(EVENTS, { namespace, fieldSelector });
    const isOurs = ({ source }: KubeObject): boolean =>
      (source as { readonly component?: string }).component === 'ballast-nats-cluster';
    const ours = items.filter(isOurs);
    return ours.map((event) => `${String(event['reason'])}: ${String(event['message'])}`);
  }

  async pods({ namespace, name }: Named): Promise<readonly KubeObject[]> {
    const labelSelector = `ballast.dev/nats-cluster=${name}`;
    return (await this.kube.list(PODS, { namespace, labelSelector })).items;
  }

  async claims({ namespace, name }: Named): Promise<readonly string[]> {
    const labelSelector = `ballast.dev/nats-cluster=${name}`;
    const { items } = await this.kube.list(CLAIMS, { namespace, labelSelector });
    return items.map(({ metadata }) => metadata.name).toSorted();
  }

  async claimUid({ namespace }: Named, name: string): Promise<string | undefined> {
    return (await this.kube.get(CLAIMS, { namespace, name }))?.metadata.uid;
  }

  /** Its disk is gone, and the process with it; the volume is known to be lost. */
  async loseVolume({ namespace }: Named, server: string): Promise<void> {
    await this.kubelet.kill(`${namespace}/${server}`, { isHeld: true });
    const target = { namespace, name: `data-${server}`, subresource: 'status' };
    const body = { status: { phase: 'Lost' } };
    await this.kube.patch(CLAIMS, target, { type: 'merge', body });
  }

  /**
   * What a server has of this Raft group cannot be read any more: it comes back with everything but
   * one stream, or consumer.
   */
  async breakGroup({ namespace }: Named, server: string, group: string): Promise<void> {
    const key = `${namespace}/${server}`;
    await this.kubelet.kill(key, { isHeld: true });
    const dir = join(this.kubelet.dataDir(key), 'jetstream', 'SYS', '_js_', group);
    await chmod(dir, 0);
    this.kubelet.release(key);
  }

  async secret({ namespace }: Named, name: string): Promise<Readonly<Record<string, string>>> {
    const secret = await this.kube.get(SECRETS, { namespace, name });
    const data = (secret?.['data'] ?? {}) as Record<string, string>;
    const decoded = Object.entries(data).map(([key, text]) => [
      key,
      Buffer.from(text, 'base64').toString(),
    ]);
    return Object.fromEntries(decoded);
  }

  async putSecret({ namespace }: Named, name: string, stringData: object): Promise<void> {
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      stringData,
    };
    await this.kube.apply(SECRETS, manifest, { force: true });
  }

  /** Where clients may connect: the address of each server that the cluster may have. */
  addresses({ namespace, name }: Named, count: number): readonly string[] {
    return Array.from({ length: count }, (_, ordinal) =>
      this.kubelet.ipOf(`${namespace}/${name}-${ordinal}`),
    ).flatMap((ip) => (ip === undefined ? [] : [`${ip}:4222`]));
  }

  /** The sweep's event; answers what the function said. */
  async tick({ port }: RunningFunction): Promise<string> {
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': crypto.randomUUID(),
      'ce-source': 'test',
      'ce-type': 'dev.knative.sources.ping',
    };
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    return `${answer.status} ${await answer.text()}`;
  }

  /** Ticks until it is so; otherwise says how everything is. */
  async tickUntil(
    one: RunningFunction,
    cluster: Named,
    what: string,
    isSo: (status: NatsClusterStatus, object: KubeObject) => boolean | Promise<boolean>,
    withinMs = SCENARIO_MS,
  ): Promise<void> {
    let answer = '';
    try {
      await until(
        what,
        async () => {
          answer = await this.tick(one);
          const object = await this.read(cluster);
          return isSo(object['status'] ?? {}, object);
        },
        withinMs,
      );
    } catch (cause) {
      const status = JSON.stringify(await this.status(cluster), undefined, 1);
      const errors = this.kubelet.errors.map(String).slice(-3).join('; ');
      throw new Error(`last answer: ${answer}; rig: ${errors}; ${status}`, { cause });
    }
  }

  /** Ticks until Ready for the spec as it is now. */
  async tickUntilReady(one: RunningFunction, cluster: Named): Promise<void> {
    await this.tickUntil(one, cluster, 'Ready', (status, { metadata }) =>
      isReady(status, metadata),
    );
  }
}

export function isReady(
  { conditions = [], observedGeneration }: NatsClusterStatus,
  { generation }: { readonly generation?: number },
): boolean {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && observedGeneration === generation;
}

/** One copy of each binary beside the pods, to be linked into their roots. */
async function images(plane: Plane): Promise<Readonly<Record<string, string>>> {
  const dir = join(plane.dir, 'images');
  await mkdir(dir, { recursive: true });
  const copy = async (part: Parameters<typeof resolvePart>[0], name: string): Promise<string> => {
    const path = join(dir, name);
    await copyFile(await resolvePart(part), path);
    return path;
  };
  return {
    [NEW_IMAGE]: await copy('nats-server', 'new'),
    [OLD_IMAGE]: await copy('nats-server-previous', 'old'),
  };
}
