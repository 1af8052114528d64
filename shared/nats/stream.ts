// One JetStream stream that keeps the newest message of each subject: written by compare-and-set,
// read as a snapshot. What the `nats` client has no names for (batched direct gets, message TTLs)
// are plain requests and headers.
import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import { Failure } from '../errors.ts';
import { Connection, type NatsOptions } from './connection.ts';
import { orAbort } from './or-abort.ts';

export interface StreamSettings {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
}

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
}

export interface Publication {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The sequence of the newest message on the subject as the writer saw it; 0 for none. */
  readonly expectedSequence: number;
  /** The server drops the message after this time. */
  readonly ttlSeconds?: number;
}

export interface StreamState {
  readonly messages: number;
  readonly lastSequence: number;
}

interface StreamInfo {
  readonly state: { readonly messages: number; readonly last_seq: number };
}

interface ApiRequest {
  readonly subject: string;
  readonly data?: Uint8Array;
  readonly header?: MsgHdrs;
}

interface Batch {
  readonly messages: readonly StoredMessage[];
  /** How many more messages match. */
  readonly pending: number;
}

interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

const REQUEST_TIMEOUT_MS = 5_000;
/**
 * Messages asked for at once: a batch of small projections stays well under a second and a few
 * megabytes.
 */
const BATCH_MAX = 1_000;
/** JetStream's own number for a compare-and-set that lost. */
const WRONG_LAST_SEQUENCE = 10071;
const STREAM_NOT_FOUND = 10059;

export class Stream {
  readonly settings: StreamSettings;
  readonly #connection: Connection;
  #ensured: Promise<void> | undefined;

  constructor(options: NatsOptions, settings: StreamSettings) {
    this.settings = settings;
    this.#connection = new Connection(options);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Publishes only if nobody wrote to the subject meanwhile; answers the new sequence. */
  async publish(message: Publication, signal: AbortSignal): Promise<number> {
    const nats = await this.#ready(signal);
    const { headers } = await import('./client.ts');
    const header = headers();
    header.set('Nats-Expected-Stream', this.settings.name);
    header.set('Nats-Expected-Last-Subject-Sequence', String(message.expectedSequence));
    if (message.ttlSeconds !== undefined) header.set('Nats-TTL', `${message.ttlSeconds}s`);
    const { subject, data } = message;
    const ack = await this.#request<{ seq: number }>(nats, { subject, data, header }, signal);
    return ack.seq;
  }

  /** The stored messages whose subjects match, oldest first; subjects may hold wildcards. */
  async *read(filter: string, signal: AbortSignal): AsyncGenerator<StoredMessage> {
    const nats = await this.#ready(signal);
    let sequence = 1;
    for (;;) {
      const batch = await this.#readBatch(nats, { seq: sequence, next_by_subj: filter }, signal);
      yield* batch.messages;
      if (batch.pending === 0) return;
      sequence = (batch.messages.at(-1)?.sequence ?? sequence) + 1;
    }
  }

  async state(signal: AbortSignal): Promise<StreamState> {
    const nats = await this.#ready(signal);
    const subject = `$JS.API.STREAM.INFO.${this.settings.name}`;
    const { state } = await this.#request<StreamInfo>(nats, { subject }, signal);
    return { messages: state.messages, lastSequence: state.last_seq };
  }

  /** Connected, and the stream is there: made by whoever comes first, with settings that stay. */
  async #ready(signal: AbortSignal): Promise<NatsConnection> {
    const nats = await orAbort(this.#connection.get(), signal);
    // Shared by all who wait, so it ends by its own timeout and not by the signal of one of them.
    this.#ensured ??= this.#ensure(nats, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
    try {
      await orAbort(this.#ensured, signal);
    } catch (error) {
      this.#ensured = undefined;
      throw error;
    }
    return nats;
  }

  async #ensure(nats: NatsConnection, signal: AbortSignal): Promise<void> {
    const { name, subjects, replicas, storage } = this.settings;
    const config = {
      name,
      subjects,
      storage,
      num_replicas: replicas,
      max_msgs_per_subject: 1,
      allow_direct: true,
      allow_msg_ttl: true,
    };
    // Creating a stream that exists with the same settings is answered with the existing one.
    const subject = `$JS.API.STREAM.CREATE.${name}`;
    await this.#request(nats, { subject, data: encode(config) }, signal);
  }

  async #readBatch(
    nats: NatsConnection,
    request: { readonly seq: number; readonly next_by_subj: string },
    signal: AbortSignal,
  ): Promise<Batch> {
    const { createInbox } = await import('./client.ts');
    signal.throwIfAborted();
    const inbox = createInbox();
    const replies = nats.subscribe(inbox);
    const bound = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    // A server that dies in the middle of a batch says nothing more; ending the subscription ends
    // the loop that waits for it.
    const end = (): void => replies.unsubscribe();
    bound.addEventListener('abort', end, { once: true });
    try {
      const subject = `$JS.API.DIRECT.GET.${this.settings.name}`;
      nats.publish(subject, encode({ ...request, batch: BATCH_MAX }), { reply: inbox });
      const batch = await collect(replies);
      if (typeof batch === 'object') return batch;
      signal.throwIfAborted();
      throw this.#unavailable(`a read ${batch}`);
    } finally {
      bound.removeEventListener('abort', end);
      replies.unsubscribe();
    }
  }

  async #request<Answer>(
    nats: NatsConnection,
    { subject, data, header }: ApiRequest,
    signal: AbortSignal,
  ): Promise<Answer> {
    const options = {
      timeout: REQUEST_TIMEOUT_MS,
      ...(header === undefined ? {} : { headers: header }),
    };
    const asked = nats.request(subject, data, options).catch((cause: unknown) => {
      throw this.#unavailable(`${subject} got no answer`, cause);
    });
    const reply = await orAbort(asked, signal);
    const answer = reply.json<Answer & { readonly error?: ApiError }>();
    if (answer.error !== undefined) throw this.#refused(subject, answer.error);
    return answer;
  }

  #unavailable(what: string, cause?: unknown): Failure {
    // Nobody answered: the stream may be gone, with the server's disk or by hand. The next call
    // makes it anew.
    this.#ensured = undefined;
    const message = `NATS stream ${this.settings.name}: ${what}. It is tried again.`;
    return new Failure('NATS_UNAVAILABLE', message, { object: this.settings.name, cause });
  }

  #refused(subject: string, error: ApiError): Failure {
    const where = `NATS stream ${this.settings.name}, ${subject}`;
    const object = this.settings.name;
    if (error.err_code === WRONG_LAST_SEQUENCE) {
      const message = `${where}: somebody else wrote meanwhile; look again.`;
      return new Failure('NATS_CONFLICT', message, { object });
    }
    if (error.err_code === STREAM_NOT_FOUND) this.#ensured = undefined;
    return new Failure('NATS_REFUSED', `${where}: ${error.description}.`, { object });
  }
}

/** The whole batch, or how it ended instead. */
async function collect(replies: AsyncIterable<Msg>): Promise<Batch | string> {
  const messages: StoredMessage[] = [];
  for await (const reply of replies) {
    const status = reply.headers?.code ?? 0;
    if (status === 404) return { messages, pending: 0 };
    if (status === 204) return { messages, pending: pendingOf(reply) };
    if (status !== 0) return `was answered with ${status}`;
    messages.push(storedMessage(reply));
  }
  return `ended after ${messages.length} messages, without its closing one`;
}

function storedMessage(reply: Msg): StoredMessage {
  const subject = reply.headers?.get('Nats-Subject') ?? '';
  const sequence = Number(reply.headers?.get('Nats-Sequence'));
  return { subject, sequence, data: reply.data };
}

function pendingOf(endOfBatch: Msg): number {
  return Number(endOfBatch.headers?.get('Nats-Num-Pending') ?? 0);
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
