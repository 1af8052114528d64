// What this function holds while it is awake: the API server, and a session for each MetadataFeed
// of its namespace.
import { METADATA_FEEDS } from '../../shared/api/metadata-feed.ts';
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { MeterRegistry } from '../../shared/kube/narrow-cache/meters.ts';
import type { Feed } from './feed.ts';
import { metadata } from './index.ts';
import type { NatsSecrets } from './nats-secrets.ts';
import type { Moment } from './observation.ts';
import type { FeedNats, Session } from './session.ts';

/** One feed, and what it is read and written with. */
export interface FeedTask {
  readonly deps: Deps;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** The same, in an epoch that was found out before. */
export interface EpochTask extends FeedTask, Moment {}

export interface DepsOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics?: MeterRegistry;
  /** Where the feeds are. */
  readonly namespace: string;
  /** For feeds that name no NATS of their own. */
  readonly nats: FeedNats;
  /** What an event says of an object is asked of the API server before it is published. */
  readonly confirmsEvents?: boolean;
}

/** A feed whose stream belongs to another one. */
export interface Clash {
  readonly feed: Feed;
  readonly owner: string;
}

/**
 * An edit of a feed is seen by its event, that of a Secret by its watch; this long at most when
 * that was lost.
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

  /** Feeds that cannot be served. */
  get clashes(): readonly Clash[] {
    return this.#clashes;
  }

  /** Why feeds have no session. */
  get failures(): readonly unknown[] {
    return this.#failures;
  }

  /** One for each feed, as of a short while ago. */
  async sessions(signal: AbortSignal): Promise<readonly Session[]> {
    if (this.clock.nowMs() - this.#readAtMs > FEEDS_FRESH_MS) await this.refresh(signal);
    return [...this.#sessions.values()];
  }

  /**
   * Reads the feeds anew. Those who ask before a read begins share it; who asks while one is under
   * way waits for the next: what he knows of may have happened after it was answered.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#nextReading ??= this.#readNext(signal);
    await this.#nextReading;
  }

  async #readNext(signal: AbortSignal): Promise<void> {
    // Whoever asked for it is told how it failed.
    await this.#reading.catch(() => undefined);
    this.#nextReading = undefined;
    this.#reading = this.#read(signal);
    await this.#reading;
  }

  /** As it is now; undefined when the feed is no more. */
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
        // The other feeds go on; whoever asks for all of them is told of this one.
        failures.push(error);
      }
    }
    this.#failures = failures;
    const named = served.flatMap(({ spec: { nats } }) => nats?.secretRef.name ?? []);
    (await this.#secrets)?.keepOnly(new Set(named));
    const gone = [...this.#sessions.values()].filter((one) => ![...next.values()].includes(one));
    this.#sessions = next;
    // What changed meanwhile may have been read before it did.
    if (secretChanges === this.#secretChanges) this.#readAtMs = this.clock.nowMs();
    await Promise.all(gone.map((session) => session.close()));
  }

  /** A changed spec or Secret may mean another stream or server; a new session is cheap. */
  async #sessionFor(feed: Feed, known: Session | undefined, signal: AbortSignal): Promise<Session> {
    const isEdited = known?.feed.object.metadata.generation !== feed.object.metadata.generation;
    const nats = await this.#natsOf(feed, signal).catch((error: unknown) => {
      // Where it is was known a moment ago, and need not be wrong by now.
      if (known === undefined || isEdited || hasMovedOn(known.feed, feed)) throw error;
      const what = 'the NATS of the feed cannot be read anew; the last one is used on';
      this.#options.log.warn({ err: error, feed: feed.name }, what);
      return known.nats;
    });
    if (known !== undefined && !isEdited && isSame(known.nats, nats)) {
      // Another instance began it.
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

/** Files that are mounted are read anew by the connection itself. */
const isSame = (one: FeedNats, other: FeedNats): boolean =>
  one.url === other.url &&
  (one.access === other.access ||
    JSON.stringify(one.access.read()) === JSON.stringify(other.access.read()));

const hasMovedOn = ({ status }: Feed, { status: now }: Feed): boolean =>
  status.epoch !== now.epoch || status.streamId !== now.streamId;

/** Two feeds in one stream would each bury what the other shows: the older one has it. */
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
