// The whole road from the API server to the stream, each part as it ships and in a process of its
// own: etcd, kube-apiserver, nats-server, Knative's ApiServerSource adapter with the wiring of the
// manifests, and the bundle of the metadata function as its sink. There is no broker between the
// two: Knative allows a Service as sink, and without one there are fewer parts to measure.
import { systemClock } from '../../../shared/clock.ts';
import { resolve } from 'node:path';
import { connect } from 'nats';
import { loginOf } from '../../builders/nats-login.ts';
import { buildFunction } from '../../../knative/tools/build/build.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { bundleCommand, functionSpec } from '../../../knative/try/local/cluster/function-part.ts';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { Wiring } from '../../../knative/try/local/manifests/wiring.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { adapterPart } from '../../../knative/try/local/plane/adapter.ts';
import {
  GO_GC_AS_SHIPPED,
  type Plane,
  startPlane,
} from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { METADATA_FEEDS, type MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import { streamName } from '../../../shared/feed/subjects.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { outDir } from '../handlers/servers.ts';
import { untilQuiet } from './accounts.ts';
import { FEED } from './names.ts';
import { createPods } from './pods.ts';

const MANIFESTS = resolve(import.meta.dirname, '../../../knative');
const NAME = 'metadata';
const FEED_OBJECT = { namespace: 'ballast-system', name: FEED };
/** The first one lists everything that there is. */
const SWEEP_TIMEOUT_MS = 60_000;
const SWEPT = 204;
const LINES_IN_MESSAGE = 12;
const POLL_MS = 200;
const LONG_AGO = '1970-01-01T00:00:00Z';

interface StreamState {
  readonly messages: number;
  readonly bytes: number;
  readonly consumer_count: number;
}

interface StreamAnswer {
  readonly state?: StreamState;
  readonly error?: { readonly description: string };
}

export class Interrupted extends Error {}

export class FeedSystem {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly #accounts: ServiceAccounts;

  private constructor(plane: Plane) {
    this.plane = plane;
    const { kubeconfigPath } = plane;
    this.kube = openKube({ kubeconfigPath, userAgent: 'bench', fieldManager: 'bench' });
    this.#accounts = new ServiceAccounts(this.kube, plane, (error) => {
      process.stderr.write(`A token was not renewed: ${String(error)}\n`);
    });
  }

  /** Starts it and makes of it what is wanted; what was started ends with a failure. */
  static async prepare<Result>(work: (system: FeedSystem) => Promise<Result>): Promise<Result> {
    const system = await FeedSystem.#start();
    // A signal while it starts must leave nothing running.
    const told = Promise.withResolvers<never>();
    const giveUp = (): void => told.reject(new Interrupted('Told to end.'));
    process.once('SIGINT', giveUp).once('SIGTERM', giveUp);
    try {
      return await Promise.race([work(system), told.promise]);
    } catch (error) {
      await system.stop();
      throw error;
    } finally {
      process.off('SIGINT', giveUp).off('SIGTERM', giveUp);
    }
  }

  static async #start(): Promise<FeedSystem> {
    const wiring = await loadWiring(MANIFESTS);
    const { dir } = await buildFunction(NAME, `${outDir}/${NAME}`);
    const system = new FeedSystem(await startPlane(GO_GC_AS_SHIPPED));
    try {
      await applyObjects(system.kube, wiring.objects);
      await system.#startFunction(wiring, dir);
      await system.sweep();
      await system.#startAdapter(wiring);
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  get apiServer(): Part {
    return this.plane.part('kube-apiserver');
  }
  get nats(): Part {
    return this.plane.part('nats-server');
  }
  get readerUrl(): string {
    return this.nats.urls?.['reader'] ?? '';
  }
  get adapter(): Part {
    return this.plane.part(`adapter/${NAME}`);
  }
  get function(): Part {
    return this.plane.part(`function/${NAME}`);
  }

  /** As the minute's ping, whenever the last sweep was. Answers when it is over. */
  async sweep(): Promise<void> {
    const before = await this.#status();
    if (before.sweptAt !== undefined) {
      const body = { status: { sweptAt: LONG_AGO } };
      const target = { ...FEED_OBJECT, subresource: 'status' };
      await this.kube.patch(METADATA_FEEDS, target, { type: 'merge', body });
    }
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': crypto.randomUUID(),
      'ce-source': 'bench',
      'ce-type': 'dev.knative.sources.ping',
    };
    const signal = AbortSignal.timeout(SWEEP_TIMEOUT_MS);
    const init = { method: 'POST', headers, body: '{}', signal };
    const answer = await fetch(this.function.url, init).then(({ status }) => status, String);
    const { sweptAt = LONG_AGO } = await this.#status();
    if (answer !== SWEPT || sweptAt === LONG_AGO) {
      const said = this.function.lastLines(LINES_IN_MESSAGE).join('\n');
      throw new Error(`The sweep was answered with ${answer}. The function says:\n${said}`);
    }
  }

  /** So many pods that are in the feed, too, and nobody has work left. */
  async fill(pods: number, nodes: number, from = 0): Promise<void> {
    await createPods(this.kube, { from, to: pods, nodes });
    await this.settle();
  }

  /** Everything that happened is in the feed. */
  async settle(): Promise<void> {
    const parts = this.plane.parts().filter(({ name }) => name !== 'etcd');
    await untilQuiet(Object.fromEntries(parts.map(({ name, pid }) => [name, pid])));
    await this.sweep();
  }

  /**
   * The consumers that readers left when they caught up have expired: from here on it costs
   * nothing.
   */
  async untilNoConsumers(): Promise<void> {
    while ((await this.streamState()).consumer_count !== 0) await systemClock.sleep(POLL_MS);
  }

  async streamState(): Promise<StreamState> {
    const { state } = await this.#stream('INFO');
    if (state === undefined) throw new Error('The stream has no state.');
    return state;
  }

  async deleteStream(): Promise<void> {
    await this.#stream('DELETE');
  }

  async stop(): Promise<void> {
    this.#accounts.close();
    await this.kube.close();
    await this.plane.stop();
  }

  async #stream(verb: 'INFO' | 'DELETE'): Promise<StreamAnswer> {
    const nats = await connect(loginOf(this.nats.url));
    try {
      const reply = await nats.request(`$JS.API.STREAM.${verb}.${streamName(FEED)}`);
      const answer = reply.json<StreamAnswer>();
      if (answer.error !== undefined) throw new Error(answer.error.description);
      return answer;
    } finally {
      await nats.close();
    }
  }

  async #status(): Promise<MetadataFeedStatus> {
    const object = await this.kube.get(METADATA_FEEDS, FEED_OBJECT);
    return object?.['status'] ?? {};
  }

  async #startFunction({ functions }: Wiring, dir: string): Promise<void> {
    const wiring = functions.find(({ name }) => name === NAME);
    if (wiring === undefined) throw new Error(`The manifests have no function ${NAME}.`);
    const { namespace, serviceAccountName } = wiring;
    const account = { namespace, name: serviceAccountName };
    const kubeconfigPath = await this.#accounts.kubeconfigFor(`function/${NAME}`, account);
    const env = { ...wiring.env, NATS_URL: this.nats.urls?.['metadata'] ?? '' };
    const port = await freePort();
    const command = bundleCommand(dir);
    await this.plane.add(functionSpec({ name: NAME, command, port, kubeconfigPath, env }));
  }

  async #startAdapter({ sources }: Wiring): Promise<void> {
    const source = sources.find(({ name }) => name === NAME);
    if (source === undefined) throw new Error(`The manifests have no source ${NAME}.`);
    const account = { namespace: source.namespace, name: source.serviceAccountName };
    const spec = adapterPart(source, {
      binary: await resolvePart('apiserver_receive_adapter'),
      kubeconfigPath: await this.#accounts.kubeconfigFor(`adapter/${NAME}`, account),
      sinkUrl: this.function.url,
      profilingPort: await freePort(),
    });
    await this.plane.add(spec);
  }
}
