// A feed on a control plane that others made, for tests of the road from the API server to the
// stream: events are sent by hand, so that each test decides which ones are lost, late, doubled or
// forged.
import { connect } from 'nats';
import { ANSWER_WITHIN, loginOf } from '../../builders/nats-login.ts';
import { metadata } from '../../../functions/metadata/index.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { METADATA_FEEDS, type MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import { decodeMessage, type FeedMessage, isTombstone } from '../../../shared/feed/messages.ts';
import { BUILT_IN } from '../../../shared/feed/projections/built-in.ts';
import { show } from '../../../shared/feed/projections/show.ts';
import {
  livePrefix,
  parseSubject,
  storedPrefix,
  streamName,
} from '../../../shared/feed/subjects.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { Stream } from '../../../shared/nats/stream.ts';
import { sendEvent } from '../../builders/send-event.ts';

const NAMESPACES: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' };
export const FEED_NAMESPACE = 'feeds';

/**
 * As where senders show tokens. For tests that say what is not so, and for those of how the feed
 * itself holds late events apart: asked about, these would never come so far.
 */
export const AT_THEIR_WORD = { CONFIRM_EVENTS: 'false' } as const;

export const soon = (): AbortSignal => AbortSignal.timeout(30_000);

export interface Sender {
  readonly one: RunningFunction;
  /** Sends a change as the source would; answers the status. */
  readonly change: (object: KubeObject, verb: 'add' | 'update' | 'delete') => Promise<number>;
  readonly sweep: () => Promise<number>;
}

export class FeedWorld {
  readonly plane: PlaneAddress;
  readonly kube: KubeClient;
  readonly #streams: Stream[] = [];
  #functions: RunningFunction[] = [];

  private constructor(plane: PlaneAddress) {
    this.plane = plane;
    const { kubeconfigPath } = plane;
    this.kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  }

  /** Our definitions have to be there. */
  static async on(plane: PlaneAddress): Promise<FeedWorld> {
    const world = new FeedWorld(plane);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: FEED_NAMESPACE } };
    await world.kube.create(NAMESPACES, namespace);
    return world;
  }

  /** The plane stays. */
  async stop(): Promise<void> {
    await this.stopFunctions();
    await Promise.all(this.#streams.map((stream) => stream.close()));
    await this.kube.close();
  }

  async stopFunctions(): Promise<void> {
    await Promise.all(this.#functions.map((one) => one.stop()));
    this.#functions = [];
  }

  async startFunction(more: Readonly<Record<string, string>> = {}): Promise<Sender> {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      REQUEST_DEADLINE_SECONDS: '20',
      DRAIN_MINIMUM_SECONDS: '0',
      KUBECONFIG: this.plane.kubeconfigPath,
      NATS_URL: this.natsUrl,
      FEED_NAMESPACE,
      ...more,
    };
    const build = { version: '0.0.0', commit: '' };
    let skippedMs = 0;
    const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + skippedMs };
    const one = await startFunction(metadata, { environment, build, clock });
    this.#functions.push(one);
    const send = async (type: string, data: unknown): Promise<number> =>
      (await sendEvent(one.port, type, data)).status;
    return {
      one,
      change: (object, verb) => send(`dev.knative.apiserver.resource.${verb}`, object),
      // A minute later, as the tick comes.
      sweep: () => {
        skippedMs += 60_000;
        return send('dev.knative.sources.ping', {});
      },
    };
  }

  /** The function's. */
  get natsUrl(): string {
    return this.plane.part('nats-server').urls?.['metadata'] ?? '';
  }

  async createFeed(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.kube.create(METADATA_FEEDS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'MetadataFeed',
      metadata: { name, namespace: FEED_NAMESPACE },
      spec,
    });
  }

  async removeFeed(name: string): Promise<void> {
    const target = { namespace: FEED_NAMESPACE, name };
    const because = 'the test owns the cluster';
    await this.kube.delete(METADATA_FEEDS, target, { precondition: 'none', because });
  }

  async status(name: string): Promise<MetadataFeedStatus> {
    const object = await this.kube.get(METADATA_FEEDS, { namespace: FEED_NAMESPACE, name });
    return object?.['status'] ?? {};
  }

  stream(feed: string): Stream {
    const url = this.plane.part('nats-server').url;
    const prefix = storedPrefix(feed);
    const settings = {
      prefix,
      livePrefix: livePrefix(feed),
      replicas: 1,
      storage: 'file',
    } as const;
    const stream = new Stream({ url, name: 'test' }, { name: streamName(feed), ...settings });
    this.#streams.push(stream);
    return stream;
  }

  async deleteStream({ settings }: Stream): Promise<void> {
    await this.#jetStream(`STREAM.DELETE.${settings.name}`, '');
  }

  /** As somebody with the NATS CLI would. */
  async purge({ settings: { name, prefix } }: Stream, subject: string): Promise<void> {
    const body = JSON.stringify({ filter: `${prefix}.${subject}` });
    await this.#jetStream(`STREAM.PURGE.${name}`, body);
  }

  /** Listens from now on; `asked` resolves when somebody has asked how far the stream is. */
  async listen({ settings: { name } }: Stream): Promise<{ readonly requested: Promise<void> }> {
    const nats = await connect(loginOf(this.plane.part('nats-server').url));
    const found = Promise.withResolvers<void>();
    nats.subscribe('$JS.EVENT.ADVISORY.API', {
      callback: (_error, message) => {
        const { subject } = message.json<{ readonly subject: string }>();
        if (subject === `$JS.API.STREAM.INFO.${name}`) found.resolve();
      },
    });
    await nats.flush();
    return { requested: found.promise.then(() => nats.close()) };
  }

  async #jetStream(subject: string, body: string): Promise<void> {
    const nats = await connect(loginOf(this.plane.part('nats-server').url));
    await nats.request(`$JS.API.${subject}`, body, ANSWER_WITHIN);
    await nats.close();
  }

  /** The messages about objects in the stream, tombstones included, by subject. */
  async published(stream: Stream): Promise<ReadonlyMap<string, FeedMessage>> {
    const { prefix } = stream.settings;
    const found = new Map<string, FeedMessage>();
    for await (const { subject, data } of stream.read(`${prefix}.>`, soon())) {
      const place = subject.slice(prefix.length + 1);
      const message = decodeMessage(data);
      if (parseSubject(place) !== undefined && message !== undefined) found.set(place, message);
    }
    return found;
  }

  /** The picture that the stream shows, without fields that may differ between two readings. */
  async shown(stream: Stream): Promise<ReadonlyMap<string, unknown>> {
    const live = [...(await this.published(stream))].filter(([, message]) => !isTombstone(message));
    return new Map(live.map(([subject, message]) => [subject, comparable(message)]));
  }

  /** Objects about which something was published after this version. */
  async changedSince(stream: Stream, version: number): Promise<readonly string[]> {
    const { prefix } = stream.settings;
    const subjects: string[] = [];
    for await (const { subject } of stream.read(`${prefix}.>`, soon(), version + 1)) {
      const place = subject.slice(prefix.length + 1);
      if (parseSubject(place) !== undefined) subjects.push(place);
    }
    return subjects;
  }

  /** How the stream differs from the API server's lists: a line for each subject. */
  async difference(stream: Stream): Promise<readonly string[]> {
    const [shown, expected] = [await this.shown(stream), await this.expected()];
    const subjects = [...new Set([...shown.keys(), ...expected.keys()])];
    return subjects.flatMap((subject) => {
      const [is, ought] = [sorted(shown.get(subject)), sorted(expected.get(subject))];
      return is === ought ? [] : [`${subject} is ${is}, ought to be ${ought}`];
    });
  }

  /** The picture that it should show, from the API server's own lists. */
  async expected(): Promise<ReadonlyMap<string, unknown>> {
    const plan = { epoch: 0, podLabels: ['*'], podAnnotations: [], fields: [] };
    const lists = BUILT_IN.map(async ({ resource, ref }) => {
      const { items } = await this.kube.list(ref);
      return items.flatMap((object) => show(resource, object, plan));
    });
    const all = (await Promise.all(lists)).flat();
    return new Map(all.map(({ subject, message }) => [subject, comparable(message)]));
  }
}

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const comparable = (message: FeedMessage): unknown => ({
  ...message,
  epoch: 0,
  resourceVersion: '',
});
