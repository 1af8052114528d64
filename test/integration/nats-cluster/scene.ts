// Where NatsClusters run in these tests, as the scenarios see it: what any Kubernetes has, and the
// faults that they ask for by name. Whether servers are processes on loopback or containers in real
// pods is for the places themselves to say.
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { natsClusterRights } from '../../../knative/tools/rights/manifests.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { NATS_CLUSTERS, type NatsClusterStatus } from '../../../shared/api/nats-cluster.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { Traffic, type TrafficOptions } from './traffic.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
export const PODS = core('pods');
export const CLAIMS = core('persistentvolumeclaims');
const NAMESPACES = core('namespaces');
const SECRETS = core('secrets');
const EVENTS = core('events');

/** The default when a spec names none. */
export const NEW_IMAGE = 'nats:2.15.2';
export const OLD_IMAGE = 'nats:2.14.9';
/** The time of a whole scenario on a machine that others use too. */
export const SCENARIO_MS = 300_000;
/** Shorter than the scenario, so that whoever waits in vain says how everything is. */
const WOKEN_MS = 240_000;
/** The account that the manifests make for the function. */
const ACCOUNT = { namespace: 'ballast-system', name: 'nats-cluster' };

/** The function pauses no longer between two reads; a longer timer is a deadline. */
const PAUSE_MAX_MS = 1_000;
const HASTE = 3;
/** Looks come sooner than in a cluster, and nothing else is otherwise. */
export const hasty: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > PAUSE_MAX_MS ? ms : ms / HASTE, signal),
};

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

export abstract class Scene {
  abstract readonly kube: KubeClient;
  readonly #functions: RunningFunction[] = [];
  readonly #traffics: Traffic[] = [];

  /** A client of an account, with its rights and no others. */
  protected abstract kubeconfigOf(account: Named): Promise<string>;
  /** Where clients may connect. */
  abstract addresses(cluster: Named): Promise<readonly string[]>;
  /** Errors of the place itself, for the reader of a failed scenario. */
  protected abstract trouble(): string;

  /** Everything that tests have started, whether or not they came to their end. */
  protected async stopStarted(): Promise<void> {
    await Promise.all(this.#traffics.map((one) => one.close()));
    await Promise.all(this.#functions.map((one) => one.stop()));
  }

  async startFunction({
    clock = hasty,
    definition = natsCluster,
  }: {
    readonly clock?: Clock;
    readonly definition?: typeof natsCluster;
  } = {}): Promise<RunningFunction> {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      WORK_SECONDS: '5',
      KUBECONFIG: await this.kubeconfigOf(ACCOUNT),
    };
    const one = await startFunction(definition, {
      environment,
      build: { version: '0.0.0', commit: '' },
      clock,
    });
    this.#functions.push(one);
    return one;
  }

  async namespace(name: string): Promise<void> {
    await this.kube.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const file = 'npm run rights';
    await applyObjects(
      this.kube,
      natsClusterRights(name).map((object) => ({ file, object })),
    );
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

  /** Its servers end in their time; what they stored stays. */
  async delete(cluster: Named): Promise<void> {
    const { uid } = (await this.read(cluster)).metadata;
    await this.kube.delete(NATS_CLUSTERS, cluster, { uid });
  }

  async remove(cluster: Named): Promise<void> {
    await this.delete(cluster);
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

  /** Each server by itself. */
  async serverAddresses(cluster: Named): Promise<readonly string[]> {
    const pods = await this.pods(cluster);
    return pods.map(({ status }) => `${String(Object(status).podIP)}:4222`);
  }

  async claims({ namespace, name }: Named): Promise<readonly string[]> {
    const labelSelector = `ballast.dev/nats-cluster=${name}`;
    const { items } = await this.kube.list(CLAIMS, { namespace, labelSelector });
    return items.map(({ metadata }) => metadata.name).toSorted();
  }

  async claimUid({ namespace }: Named, name: string): Promise<string | undefined> {
    return (await this.kube.get(CLAIMS, { namespace, name }))?.metadata.uid;
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

  /** How the user of a cluster that names none connects. */
  async client(cluster: Named): Promise<Pick<TrafficOptions, 'servers' | 'user' | 'pass'>> {
    const secret = await this.secret(cluster, `${cluster.name}-user`);
    const { username: user = '', password: pass = '' } = secret;
    return { servers: await this.addresses(cluster), user, pass };
  }

  async startTraffic(
    cluster: Named,
    options: Pick<TrafficOptions, 'stream' | 'tls' | 'publishers' | 'replicas'>,
  ): Promise<Traffic> {
    const traffic = await Traffic.start({ ...(await this.client(cluster)), ...options });
    this.#traffics.push(traffic);
    return traffic;
  }

  /** The sweep's event, of all clusters; answers what the function said. */
  async tick({ port }: RunningFunction): Promise<string> {
    const answer = await sendEvent(port, 'dev.knative.sources.ping', {});
    return `${answer.status} ${await answer.text()}`;
  }

  /** The event of a change of this one alone; answers what the function said. */
  async wake({ port }: RunningFunction, metadata: Named): Promise<string> {
    const type = 'dev.knative.apiserver.resource.update';
    const answer = await sendEvent(port, type, { kind: 'NatsCluster', metadata });
    return `${answer.status} ${await answer.text()}`;
  }

  /** Wakes the function until it is so; otherwise says how everything is. */
  async wakeUntil(
    one: RunningFunction,
    cluster: Named,
    awaited: string,
    isSo: (status: NatsClusterStatus, object: KubeObject) => boolean | Promise<boolean>,
    withinMs = WOKEN_MS,
  ): Promise<void> {
    let answer = '';
    try {
      await until(
        awaited,
        async () => {
          answer = await this.wake(one, cluster);
          const object = await this.read(cluster);
          return isSo(object['status'] ?? {}, object);
        },
        withinMs,
      );
    } catch (cause) {
      const status = JSON.stringify(await this.status(cluster), undefined, 1);
      throw new Error(`last answer: ${answer}; place: ${this.trouble()}; ${status}`, { cause });
    }
  }

  /** Until Ready for the spec as it is now. */
  async wakeUntilReady(one: RunningFunction, cluster: Named): Promise<void> {
    await this.wakeUntil(one, cluster, 'Ready', (status, { metadata }) =>
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
