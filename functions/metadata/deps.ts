// The dependencies of this function: the client for the API server, and a session for each
// MetadataFeed of its namespace.
import { METADATA_FEEDS } from '../../shared/api/metadata-feed.ts';
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { MeterRegistry } from '../../shared/kube/narrow-cache/meters.ts';
import type { Feed } from './feed.ts';
import type { FeedGauges } from './gauges.ts';
import type { NatsSecrets } from './nats-secrets.ts';
import type { Moment } from './observation.ts';
import type { FeedNats, Session } from './session.ts';

/** One feed, with the clients to read and write it. */
export interface FeedTask {
  readonly deps: Deps;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** The same, in an epoch that was resolved before. */
export interface EpochTask extends FeedTask, Moment {}

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics?: MeterRegistry;
  readonly gauges?: FeedGauges;
  /** The namespace of the feeds. */
  readonly namespace: string;
  /** The NATS of feeds that name none. */
  readonly nats: FeedNats;
  /** Whether the claim of an event is checked with the API server before anything is published. */
  readonly confirmsEvents?: boolean;
}

/** A feed whose stream belongs to another feed. */
export interface Clash {
  readonly feed: Feed;
  readonly owner: string;
}

/**
 * An event tells of an edit of a feed, a watch of an edit of a Secret. If either is lost, feeds are
 * read again after this time.
 */
const FEEDS_FRESH_MS = 30_000;

export class Deps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly confirmsEvents: boolean;
  readonly #options: DepsOptions;
  #sessions = new Map<string, Session>();
  #reading: Promise<void> = Promise.resolve();
  #nextReading: Promise<void> | undefined;
  #readAtMs = -Infinity;
  #clashes: readonly Clash[] = [];
  #failures: readonly unknown[] = [];
  #secrets: Promise<NatsSecrets> | undefined;
  #secretChanges = 0;

  constructor(options: DepsOptions) {
    this.#options = options;
    this.kube = options.kube;
    this.clock = options.clock;
    this.confirmsEvents = options.confirmsEvents ?? false;
  }

  /** Feeds that are not served, since another feed has their stream. */
  get clashes(): readonly Clash[] {
    return this.#clashes;
  }

  /** The errors of feeds that have no session. */
  get failures(): readonly unknown[] {
    return this.#failures;
  }

  /** A session for each feed, as of a short while ago. */
  async sessions(signal: AbortSignal): Promise<readonly Session[]> {
    if (this.clock.nowMs() - this.#readAtMs > FEEDS_FRESH_MS) await this.refresh(signal);
    return [...this.#sessions.values()];
  }

  /**
   * Reads the feeds anew. Callers who ask before a read begins share it. A caller who asks during a
   * read waits for the next one: his change may be newer than the running read.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#nextReading ??= this.#readNext(signal);
    await this.#nextReading;
  }

  async #readNext(signal: AbortSignal): Promise<void> {
    // The caller who asked for it received the error.
    await this.#reading.catch(() => undefined);
    this.#nextReading = undefined;
    this.#reading = this.#read(signal);
    await this.#reading;
  }

  /** Shows in metrics what is known of each feed at this moment. */
  showFeeds(): void {
    this.#options.gauges?.showAll([...this.#sessions.values()].map(({ feed }) => feed));
  }

  /** The session as of now; undefined when the feed is gone. */
  async session(uid: string, signal: AbortSignal): Promise<Session | undefined> {
    await this.refresh(signal);
    return this.#sessions.get(uid);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    (await this.#secrets)?.close();
    await this.kube.close();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { namespace } = this.#options;
    const secretChanges = this.#secretChanges;
    const { feedOf } = await import('./feed.ts');
    const { items } = await this.kube.list(METADATA_FEEDS, { namespace, signal });
    const next = new Map<string, Session>();
    const { served, clashes } = apart(items.map(feedOf));
    this.#clashes = clashes;
    const failures: unknown[] = [];
    for (const feed of served) {
      const { uid } = feed.object.metadata;
      try {
        next.set(uid, await this.#sessionFor(feed, this.#sessions.get(uid), signal));
      } catch (error) {
        // The other feeds go on. A caller who needs all feeds throws this later.
        failures.push(error);
      }
    }
    this.#failures = failures;
    const named = served.flatMap(({ spec: { nats } }) => nats?.secretRef.name ?? []);
    (await this.#secrets)?.keepOnly(new Set(named));
    const gone = [...this.#sessions.values()].filter((one) => ![...next.values()].includes(one));
    this.#sessions = next;
    // A Secret that changed during the read may have been read before its change.
    if (secretChanges === this.#secretChanges) this.#readAtMs = this.clock.nowMs();
    await Promise.all(gone.map((session) => session.close()));
  }

  /** A changed spec or Secret may mean another stream or server. A new session is cheap. */
  async #sessionFor(feed: Feed, known: Session | undefined, signal: AbortSignal): Promise<Session> {
    const isEdited = known?.feed.object.metadata.generation !== feed.object.metadata.generation;
    const nats = await this.#natsOf(feed, signal).catch((error: unknown) => {
      // The address was known a moment ago and is probably still right.
      if (known === undefined || isEdited || hasMovedOn(known.feed, feed)) throw error;
      const message = 'the NATS of the feed cannot be read anew; the last one is used on';
      this.#options.log.warn({ err: error, feed: feed.name }, message);
      return known.nats;
    });
    if (known !== undefined && !isEdited && isSame(known.nats, nats)) {
      // Another instance began a new epoch.
      if (hasMovedOn(known.feed, feed)) known.forgetMarker();
      known.feed = feed;
      return known;
    }
    const { Session } = await import('./session.ts');
    return new Session(feed, nats);
  }

  async #natsOf({ object, spec }: Feed, signal: AbortSignal): Promise<FeedNats> {
    if (spec.nats === undefined) return this.#options.nats;
    const asker = `MetadataFeed ${this.#options.namespace}/${object.metadata.name}`;
    this.#secrets ??= this.#openSecrets();
    return (await this.#secrets).nats(spec.nats.secretRef.name, asker, signal);
  }

  async #openSecrets(): Promise<NatsSecrets> {
    const { NatsSecrets } = await import('./nats-secrets.ts');
    return new NatsSecrets({
      ...this.#options,
      onChange: () => {
        this.#secretChanges += 1;
        this.#readAtMs = -Infinity;
      },
    });
  }
}

/** Compares addresses and credentials. Mounted files are read again by the connection itself. */
const isSame = (one: FeedNats, other: FeedNats): boolean =>
  one.url === other.url &&
  (one.access === other.access ||
    JSON.stringify(one.access.read()) === JSON.stringify(other.access.read()));

const hasMovedOn = ({ status }: Feed, { status: now }: Feed): boolean =>
  status.epoch !== now.epoch || status.streamId !== now.streamId;

/** Two feeds in one stream would each end what the other shows. The older feed keeps the stream. */
function apart(feeds: readonly Feed[]): {
  readonly served: readonly Feed[];
  readonly clashes: readonly Clash[];
} {
  const age = ({ object: { metadata } }: Feed): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
  const byName = new Map<string, Feed>();
  const clashes: Clash[] = [];
  for (const feed of feeds.toSorted((a, b) => (age(a) < age(b) ? -1 : 1))) {
    const owner = byName.get(feed.name);
    if (owner === undefined) byName.set(feed.name, feed);
    else clashes.push({ feed, owner: owner.object.metadata.name });
  }
  return { served: [...byName.values()], clashes };
}
