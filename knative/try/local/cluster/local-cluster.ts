// The whole of what `npm start` shows: the parts of a control plane, and on it what the manifests
// say, wired as they say: broker and pings, functions with their accounts, one adapter per source.
import { resolve } from 'node:path';
import { type KubeClient, openKube } from '../../../../shared/kube/client.ts';
import { type Addresses, type ServiceAddress, urlOf } from '../delivery/config.ts';
import { brokerPart } from '../delivery/part.ts';
import { leaveOut } from '../manifests/leave-out.ts';
import { loadWiring } from '../manifests/load.ts';
import {
  type ApiServerSourceWiring,
  type Destination,
  type FunctionWiring,
  type Wiring,
  keyOf,
} from '../manifests/wiring.ts';
import { resolvePart } from '../parts/resolve.ts';
import { adapterPart } from '../plane/adapter.ts';
import { type Plane, type PlaneOptions, startPlane } from '../plane/plane.ts';
import { Population, type PopulationOptions } from '../population/population.ts';
import { fillTryOut } from '../population/try-out.ts';
import { freePort } from '../process/ports.ts';
import { atStep, type WiringAtStep } from '../timeline/at-step.ts';
import { conversionPart } from '../timeline/conversion-part.ts';
import type { Step } from '../timeline/step-names.ts';
import { renderConversion } from '../timeline/steps.ts';
import { applyManifests, assertNobodyConverts, takeStep } from '../timeline/take-step.ts';
import { applyObjects } from './apply-objects.ts';
import { functionSpec } from './function-part.ts';
import { inParallel } from './in-parallel.ts';
import { ServiceAccounts } from './service-accounts.ts';

export interface ClusterOptions {
  readonly plane?: PlaneOptions;
  /** An empty cluster when absent. */
  readonly population?: PopulationOptions;
  /** The step of our own kinds, with their conversion; as installed, and without it, if absent. */
  readonly step?: Step | undefined;
  /** The command of a function, as arguments of node: its bundle or its sources. */
  readonly commandOf: (functionName: string) => readonly string[];
  /** Called with trouble that is no part's: a change or a renewal that the API server refused. */
  readonly onError: (error: unknown) => void;
  /** Ends a start that is still going on; what was started by then is ended too. */
  readonly signal?: AbortSignal;
}

export interface LocalCluster {
  readonly plane: Plane;
  /** As cluster admin. */
  readonly kube: KubeClient;
  readonly wiring: Wiring;
  stop(): Promise<void>;
}

/** Names of services that manifests use, and the part that answers for each here. */
const PART_OF_HOST: Readonly<Record<string, string>> = {
  'nats.ballast-system.svc': 'nats-server',
};

/**
 * No webhook is slow here, and what writes while a stored version changes is `fillTryOut`, which
 * waits for its own writes: whoever tries a migration out need not wait a minute.
 */
const NO_SLOW_WRITES = { LONGEST_WRITE_SECONDS: '0' } as const;
/** They look after servers in pods, and would only wait here: no pod runs anything. */
const NEED_PODS: readonly string[] = [
  'etcd-backup',
  'etcd-cluster',
  'etcd-peer',
  'etcd-restore',
  'nats-cluster',
  'takeover',
];
/** Two processes of one kind at a time: more only wait for the two cores of a small machine. */
const STARTS_AT_ONCE = 2;
const MANIFESTS = resolve(import.meta.dirname, '../../..');

export async function startCluster(options: ClusterOptions): Promise<LocalCluster> {
  const { step } = options;
  const loaded = NEED_PODS.reduce(leaveOut, await loadWiring(MANIFESTS));
  const wiring = step === undefined ? { ...loaded, own: [] } : atStep(loaded, step);
  const plane = await startPlane({ ...options.plane, signal: options.signal });
  const cluster = new Cluster(plane, wiring, options);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

class Cluster implements LocalCluster {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly wiring: WiringAtStep;
  readonly #options: ClusterOptions;
  readonly #accounts: ServiceAccounts;
  readonly #population: Population | undefined;
  #tryOut: Promise<void> = Promise.resolve();

  constructor(plane: Plane, wiring: WiringAtStep, options: ClusterOptions) {
    this.plane = plane;
    this.wiring = wiring;
    this.#options = options;
    this.kube = openKube({
      kubeconfigPath: plane.kubeconfigPath,
      userAgent: 'ballast-local',
      fieldManager: 'ballast-local',
    });
    this.#accounts = new ServiceAccounts(this.kube, plane, options.onError);
    const { population, signal } = options;
    this.#population = population && new Population(this.kube, { ...population, signal });
  }

  /** Sinks before senders, so that no event of the start is refused. */
  async start(): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const { step, plane: { dataDir } = {} } = this.#options;
    if (step === undefined && dataDir !== undefined) {
      await assertNobodyConverts(this.kube, this.#options.signal);
    }
    await applyObjects(this.kube, this.wiring.objects, { signal: this.#options.signal });
    const { functions, sources } = this.wiring;
    const ports = await Promise.all(functions.map(freePort));
    await Promise.all([
      inParallel(functions, STARTS_AT_ONCE, (one, index) =>
        this.#startFunction(one, ports[index] ?? 0),
      ),
      // It waits for its certificate most of the time.
      step === undefined ? undefined : this.#startAtStep(step),
    ]);
    this.#options.signal?.throwIfAborted();
    const addresses = await this.#startBroker();
    await inParallel(sources, STARTS_AT_ONCE, (source) => this.#startAdapter(source, addresses));
    await this.#population?.fill();
    this.#population?.live(this.#options.onError);
    // Nobody has to wait for what nothing else here depends on.
    const { signal, onError } = this.#options;
    this.#tryOut = fillTryOut(this.kube, signal).catch(onError);
  }

  async stop(): Promise<void> {
    this.#accounts.close();
    await this.#population?.stop();
    await this.kube.close();
    await this.#tryOut;
    await this.plane.stop();
  }

  async #startFunction(wiring: FunctionWiring, port: number): Promise<void> {
    const { name, namespace, serviceAccountName } = wiring;
    const client = `function/${name}`;
    const account = { namespace, name: serviceAccountName };
    const kubeconfigPath = await this.#accounts.kubeconfigFor(client, account);
    const env = {
      ...(await this.#localEnvironment(name, wiring.env)),
      ...NO_SLOW_WRITES,
      // As installed nobody is told of an etcd: each cluster has its own elsewhere, or hides it.
      ETCD_ENDPOINTS: await this.plane.urlFor(client, 'etcd'),
    };
    const command = this.#options.commandOf(name);
    await this.plane.add(functionSpec({ name, command, port, kubeconfigPath, env }));
  }

  /** The definitions, who converts what they define, and then what is of these kinds. */
  async #startAtStep(step: Step): Promise<void> {
    const { signal, commandOf } = this.#options;
    const [manifests, tlsPort, port] = await Promise.all([
      renderConversion(),
      freePort(),
      freePort(),
    ]);
    await applyManifests(this.kube, manifests, tlsPort, signal);
    await takeStep(this.kube, step, tlsPort, signal);
    const deployment = manifests.find(({ kind }) => kind === 'Deployment');
    if (deployment === undefined) throw new Error('conversion has no Deployment');
    const { name, namespace = '' } = deployment.metadata;
    const kubeconfigPath = await this.#accounts.kubeconfigFor(`function/${name}`, {
      namespace,
      name,
    });
    const command = commandOf(name);
    await this.plane.add(conversionPart({ deployment, command, port, tlsPort, kubeconfigPath }));
    await applyObjects(this.kube, this.wiring.own, { signal });
  }

  /**
   * A variable that holds the address of a service in the cluster gets the address of the part,
   * with the login that the function has there.
   */
  async #localEnvironment(
    name: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const entries = Object.entries(env).map(async ([variable, value]) => {
      const server = PART_OF_HOST[URL.parse(value)?.hostname ?? ''];
      if (server === undefined) return [variable, value];
      return [variable, await this.plane.urlFor(`function/${name}`, server, name)];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  async #startBroker(): Promise<Addresses> {
    const services: Record<string, ServiceAddress> = {};
    for (const wiring of this.wiring.functions) {
      const url = await this.plane.urlFor('broker', `function/${wiring.name}`);
      const { containerConcurrency, timeoutSeconds } = wiring;
      services[keyOf(wiring)] = { url, containerConcurrency, timeoutSeconds };
    }
    const { brokers, triggers, pings } = this.wiring;
    const config = { port: await freePort(), brokers, triggers, pings, services };
    const { url: brokerUrl } = await this.plane.add(await brokerPart(this.plane.dir, config));
    return { brokerUrl, services };
  }

  async #startAdapter(source: ApiServerSourceWiring, addresses: Addresses): Promise<void> {
    const { namespace, name, serviceAccountName } = source;
    const client = `adapter/${name}`;
    const account = { namespace, name: serviceAccountName };
    const spec = adapterPart(source, {
      binary: await resolvePart('apiserver_receive_adapter'),
      kubeconfigPath: await this.#accounts.kubeconfigFor(client, account),
      sinkUrl: await this.#sinkUrl(client, source.sink, addresses),
      profilingPort: await freePort(),
    });
    await this.plane.add(spec);
  }

  /**
   * The sink's address as this client reaches it: through its own proxy when the plane has links.
   */
  async #sinkUrl(client: string, sink: Destination, addresses: Addresses): Promise<string> {
    if (sink.kind === 'uri') return sink.uri;
    const part = sink.kind === 'Broker' ? 'broker' : `function/${sink.name}`;
    const base = await this.plane.urlFor(client, part);
    return urlOf(sink, {
      brokerUrl: sink.kind === 'Broker' ? base : addresses.brokerUrl,
      services: { ...addresses.services, [keyOf(sink)]: { url: base } },
    });
  }
}
