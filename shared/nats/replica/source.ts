// A feed as NATS shows it to a reader: its newest messages by subject, its live messages, and pages
// of what it stores. The only file of the replica that talks to NATS; it needs no more than
// `readerRights` gives.
import { randomUUID } from 'node:crypto';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from 'nats';
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import { livePrefix, storedPrefix, streamName } from '../../feed/subjects.ts';
import type { AccessSource } from '../access.ts';
import { Connection } from '../connection.ts';
import { type ApiRequest, encodeJson, request } from '../jetstream.ts';
import { orAbort } from '../../or-abort.ts';
import { READER_API } from '../rights.ts';
import { type PageReader, type StoredMessage, readPage } from './page.ts';

export interface NewestMessage extends StoredMessage {
  /** Time by the server's clock; NaN when it does not say. */
  readonly storedAtMs: number;
}

export interface LiveMessage extends StoredMessage {
  /** The sequence of the message before on this subject; 0 for none. */
  readonly lastSequence: number;
}

export interface SourceOptions {
  readonly url: string;
  readonly access?: AccessSource | undefined;
  readonly feed: string;
  readonly filters: readonly string[];
  readonly name: string;
  readonly clock: Clock;
  readonly inboxPrefix?: string | undefined;
  /** The prefix of JetStream's API in this account. */
  readonly apiPrefix?: string | undefined;
}

export interface SourceEvents {
  onMessage(message: LiveMessage): void;
  /** Called for a message on a live subject that does not come from the stream. */
  onForeign(): void;
  /** From here on live messages may be lost, until `open` has answered again. */
  onLost(why: string): void;
}

interface ConsumerAnswer {
  readonly name?: string;
  readonly num_pending?: number;
  readonly created?: string;
}

/** A consumer that nobody reads ends itself: ending it by name would need one more right. */
const CONSUMER_IDLE_NS = 10_000_000_000;
const REQUEST_TIMEOUT_MS = 5_000;

export class Source {
  readonly #options: SourceOptions;
  readonly #events: SourceEvents;
  readonly #connection: Connection;
  readonly #stream: string;
  readonly #storedPrefix: string;
  readonly #livePrefix: string;
  readonly #api: string;
  #nats: NatsConnection | undefined;
  #subscriptions: readonly Subscription[] = [];
  #readAtMs = NaN;
  /** Resolves when the client is connected again, or has given up this connection. */
  #away: PromiseWithResolvers<void> | undefined;

  constructor(options: SourceOptions, events: SourceEvents) {
    const { url, access, name, feed, inboxPrefix, apiPrefix = READER_API } = options;
    this.#options = options;
    this.#events = events;
    this.#connection = new Connection({ url, access, name, inboxPrefix });
    this.#stream = streamName(feed);
    this.#storedPrefix = `${storedPrefix(feed)}.`;
    this.#livePrefix = `${livePrefix(feed)}.`;
    this.#api = apiPrefix;
  }

  /** Connected, and every live message from here on arrives, in order. */
  async open(signal: AbortSignal): Promise<void> {
    while (this.#away !== undefined) await orAbort(this.#away.promise, signal);
    const nats = await orAbort(this.#connection.get(), signal);
    if (nats !== this.#nats) {
      this.#nats = nats;
      this.#subscriptions = [];
      void this.#watch(nats);
    }
    if (this.#subscriptions.length > 0) return;
    this.#subscriptions = this.#options.filters.map((filter) => this.#subscribe(nats, filter));
    // A server that refuses one has said so, and so ended this attempt, before it answers.
    await orAbort(nats.flush(), signal);
  }

  /** The newest message on a subject; undefined when there is none, or no stream. */
  async last(subject: string, signal: AbortSignal): Promise<NewestMessage | undefined> {
    const nats = this.#current();
    const api = `${this.#api}.DIRECT.GET.${this.#stream}.${this.#storedPrefix}${subject}`;
    const { NatsError } = await import('../client.ts');
    const answer = nats.request(api, undefined, { timeout: REQUEST_TIMEOUT_MS });
    const reply = await orAbort(answer, signal).catch((error: unknown) => {
      if (error instanceof NatsError && error.code === NO_RESPONDERS) return undefined;
      throw error;
    });
    if (reply === undefined || (reply.headers?.code ?? 0) !== 0) return undefined;
    const sequence = Number(reply.headers?.get('Nats-Sequence'));
    const storedAtMs = Date.parse(reply.headers?.get('Nats-Time-Stamp') ?? '');
    return { subject, sequence, storedAtMs, data: reply.data };
  }

  /** When the last `read` began, by the clock of the server; NaN when it does not say. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /**
   * Begins to read what is stored under a filter: all since a sequence, or the newest message of
   * each subject.
   */
  async read(
    filter: string,
    fromSequence: number | undefined,
    signal: AbortSignal,
  ): Promise<PageReader> {
    const nats = this.#current();
    const name = randomUUID().replaceAll('-', '');
    const subject = `${this.#storedPrefix}${filter}`;
    const create: ApiRequest = {
      subject: `${this.#api}.CONSUMER.CREATE.${this.#stream}.${name}.${subject}`,
      data: encodeJson({
        stream_name: this.#stream,
        config: consumerConfig(name, subject, fromSequence),
      }),
    };
    const answer = await request<ConsumerAnswer>(nats, this.#stream, create, signal);
    const { num_pending: pending = -1 } = answer;
    if (answer.name !== name || !Number.isSafeInteger(pending) || pending < 0) {
      const why = `the answer to a create for ${subject} is of no consumer of this reader`;
      throw new Failure('NATS_UNAVAILABLE', `${why}. It is tried again.`);
    }
    this.#readAtMs = Date.parse(answer.created ?? '');
    const api = `${this.#api}.CONSUMER.MSG.NEXT.${this.#stream}.${name}`;
    const { inboxPrefix } = this.#connection;
    const prefixLength = this.#storedPrefix.length;
    const { clock } = this.#options;
    const from = { nats, clock, api, inboxPrefix, prefixLength };
    return { pending, next: (take) => readPage(from, take, signal) };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #current(): NatsConnection {
    if (this.#nats === undefined) throw new TypeError('the source is not open');
    return this.#nats;
  }

  #subscribe(nats: NatsConnection, filter: string): Subscription {
    return nats.subscribe(`${this.#livePrefix}${filter}`, {
      callback: (error, message) => {
        if (error === null) return this.#take(message);
        for (const subscription of this.#subscriptions) subscription.unsubscribe();
        this.#subscriptions = [];
        this.#events.onLost(error.message);
      },
    });
  }

  /**
   * A user who may request messages may have the answers sent to a live subject. They carry the
   * stream and a sequence, too, but not the sequence before, nor the subject on which they arrive.
   */
  #take({ subject, headers, data }: Msg): void {
    const relative = subject.slice(this.#livePrefix.length);
    const sequence = numberIn(headers, 'Nats-Sequence');
    const lastSequence = numberIn(headers, 'Nats-Last-Sequence');
    const isOfStream =
      headers?.get('Nats-Stream') === this.#stream &&
      headers.get('Nats-Subject') === this.#storedPrefix + relative;
    if (!isOfStream || sequence === undefined || lastSequence === undefined) {
      return this.#events.onForeign();
    }
    this.#events.onMessage({ subject: relative, sequence, lastSequence, data });
  }

  /** The client reconnects and subscribes again by itself; what was said meanwhile is lost. */
  async #watch(nats: NatsConnection): Promise<void> {
    void nats.closed().then(() => {
      if (this.#nats === nats) this.#nats = undefined;
      this.#lost('the connection to NATS was closed');
      this.#back();
    });
    for await (const { type } of nats.status()) {
      const happened: string = type;
      if (happened === DISCONNECTED) this.#lost('NATS is away');
      if (happened === RECONNECTED) this.#back();
    }
  }

  #lost(why: string): void {
    this.#away ??= Promise.withResolvers();
    this.#events.onLost(why);
  }

  #back(): void {
    this.#away?.resolve();
    this.#away = undefined;
  }
}

/** The client's words, whose enums would have to be loaded before they are needed. */
const DISCONNECTED = 'disconnect';
const RECONNECTED = 'reconnect';
const NO_RESPONDERS = '503';

/** The server writes whole numbers; anything else is of somebody else. */
function numberIn(headers: MsgHdrs | undefined, name: string): number | undefined {
  const text = headers?.get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function consumerConfig(name: string, filter: string, fromSequence: number | undefined) {
  const start =
    fromSequence === undefined
      ? { deliver_policy: 'last_per_subject' }
      : { deliver_policy: 'by_start_sequence', opt_start_seq: fromSequence };
  return {
    ...start,
    name,
    filter_subject: filter,
    ack_policy: 'none',
    replay_policy: 'instant',
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: CONSUMER_IDLE_NS,
  };
}
