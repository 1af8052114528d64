// One JetStream stream that keeps the newest message of each subject: written by compare-and-set,
// many subjects at once or not at all. The first instance creates it, and all of them apply its
// settings.
import { randomBytes } from 'node:crypto';
import type { MsgHdrs, NatsConnection } from 'nats';
import { Connection, type NatsOptions } from './connection.ts';
import {
  type Batch,
  JetStreamFailure,
  ask,
  type StoredMessage,
  directGet,
  directGetLast,
  encodeJson,
} from './jetstream.ts';
import { GroupCommit, type Publication } from './group-commit.ts';
import { orAbort } from '../or-abort.ts';
import { Replies } from './replies.ts';
import { type StreamSettings, configOf } from './stream-config.ts';

export interface StreamState {
  readonly messages: number;
  readonly lastSequence: number;
}

interface OpenStream {
  readonly nats: NatsConnection;
  /** Makes them; kept, because asking for its module costs as much as what it makes. */
  readonly headers: () => MsgHdrs;
  readonly replies: Replies;
}

interface StreamInfo {
  readonly config: Readonly<Record<string, unknown>>;
  readonly state: { readonly messages: number; readonly last_seq: number };
}

/**
 * Messages asked for at once. The server counts what is left for every batch, which costs it
 * 80 ms with 100,000 messages: few large batches, bounded in bytes.
 */
const BATCH_MAX = 10_000;
const BATCH_BYTES_MAX = 4_000_000;
/** Subjects named in one request: with 300 characters each, it stays under 200 kB. */
const SUBJECTS_MAX = 500;
/** Up to so many subjects are asked for one by one: the server finds each without a search. */
const SINGLE_READS_MAX = 4;
const ENSURE_TIMEOUT_MS = 5_000;
/** The server's own default. */
const MAX_PAYLOAD_BYTES = 1_048_576;

export class Stream {
  readonly settings: StreamSettings;
  readonly #connection: Connection;
  readonly #group = new GroupCommit((messages, signal) => this.#send(messages, signal), isConflict);
  #opened: OpenStream | undefined;
  #ensured: Promise<void> | undefined;

  constructor(options: NatsOptions, settings: StreamSettings) {
    this.settings = settings;
    this.#connection = new Connection(options);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /**
   * All of them or none, each only if nobody wrote to its subject meanwhile. Answers the sequence
   * of the first; the others follow without a gap.
   */
  publish(messages: readonly Publication[], signal: AbortSignal): Promise<number> {
    return this.#group.publish(messages, signal);
  }

  async #send(messages: readonly Publication[], signal: AbortSignal): Promise<number> {
    return this.#use(signal, async ({ nats, replies, headers }) => {
      const prepared = messages.map((message) => ({
        message,
        header: conditionsOf(message, headers()),
      }));
      if (prepared.length > 1) asBatch(prepared);
      const last = prepared.pop();
      if (last === undefined) throw new TypeError('nothing to publish');
      for (const { message, header } of prepared) {
        nats.publish(message.subject, message.data, { headers: header });
      }
      // The last one decides for all of them; headers are stored, and travel to every reader.
      last.header.set('Nats-Expected-Stream', this.settings.name);
      const { subject, data } = last.message;
      const ack = await ask<{ seq: number }>(
        replies,
        this.settings.name,
        { subject, data, header: last.header },
        signal,
      );
      return ack.seq - prepared.length;
    });
  }

  /** The newest message of each of these subjects, as far as there is one. */
  async last(
    subjects: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, StoredMessage>> {
    const found = new Map<string, StoredMessage>();
    await this.#use(signal, async ({ replies }) => {
      if (subjects.length <= SINGLE_READS_MAX) {
        const reads = subjects.map((one) =>
          directGetLast(replies, this.settings.name, one, signal),
        );
        for (const one of await Promise.all(reads)) if (one) found.set(one.subject, one);
        return;
      }
      for (let at = 0; at < subjects.length; at += SUBJECTS_MAX) {
        const query = { multi_last: subjects.slice(at, at + SUBJECTS_MAX) };
        const { messages } = await directGet(replies, this.settings.name, query, signal);
        for (const message of messages) found.set(message.subject, message);
      }
    });
    return found;
  }

  /** The same; undefined when these are more bytes together. */
  async lastWithin(
    subjects: readonly string[],
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, StoredMessage> | undefined> {
    const found = new Map<string, StoredMessage>();
    let left = bytesMax;
    for (let at = 0; at < subjects.length; at += SUBJECTS_MAX) {
      // The server takes none for no bound at all.
      const max_bytes = Math.max(1, left);
      const query = { multi_last: subjects.slice(at, at + SUBJECTS_MAX), max_bytes };
      const { messages, pending } = await this.#use(signal, ({ replies }) =>
        directGet(replies, this.settings.name, query, signal),
      );
      left -= messages.reduce((sum, { data }) => sum + data.byteLength, 0);
      if (pending > 0 || left < 0) return undefined;
      for (const message of messages) found.set(message.subject, message);
    }
    return found;
  }

  /** The stored messages whose subjects match, oldest first; subjects may hold wildcards. */
  async *read(
    filter: string,
    signal: AbortSignal,
    fromSequence = 1,
  ): AsyncGenerator<StoredMessage> {
    let sequence = fromSequence;
    for (;;) {
      const { messages, pending } = await this.batch(filter, sequence, signal);
      yield* messages;
      if (pending === 0) return;
      sequence = (messages.at(-1)?.sequence ?? sequence) + 1;
    }
  }

  /** As many of them at once as one answer takes. */
  batch(filter: string, seq: number, signal: AbortSignal): Promise<Batch> {
    const query = { seq, next_by_subj: filter, batch: BATCH_MAX, max_bytes: BATCH_BYTES_MAX };
    return this.#use(signal, ({ replies }) =>
      directGet(replies, this.settings.name, query, signal),
    );
  }

  /** Maximum size of a message with its headers, as the server announces it. */
  async maxPayloadBytes(signal: AbortSignal): Promise<number> {
    return this.#use(signal, async ({ nats }) => nats.info?.max_payload ?? MAX_PAYLOAD_BYTES);
  }

  async state(signal: AbortSignal): Promise<StreamState> {
    const info = () => this.#use(signal, ({ replies }) => this.#info(replies, signal));
    // Deleted since it was made: asked for once more, it is made anew.
    const { state } = await info().catch((error: unknown) => {
      if (error instanceof JetStreamFailure && error.refusal === 'stream-missing') return info();
      throw error;
    });
    return { messages: state.messages, lastSequence: state.last_seq };
  }

  /** Connected, and the stream is there. */
  async #use<Result>(
    signal: AbortSignal,
    work: (open: OpenStream) => Promise<Result>,
  ): Promise<Result> {
    const open = await this.#open(signal);
    // Shared by all who wait, so it ends by its own timeout and not by the signal of one of them.
    const ensured = (this.#ensured ??= this.#ensure(
      open.replies,
      AbortSignal.timeout(ENSURE_TIMEOUT_MS),
    ));
    try {
      await orAbort(ensured, signal);
      return await work(open);
    } catch (error) {
      // No server answered for this stream: it may be gone, with the server's disk or by hand.
      if (!isConflict(error) && this.#ensured === ensured) this.#ensured = undefined;
      throw error;
    }
  }

  async #open(signal: AbortSignal): Promise<OpenStream> {
    const nats = await orAbort(this.#connection.get(), signal);
    // A connection that was closed for good was replaced by another.
    if (this.#opened?.nats !== nats) {
      const { createInbox, headers } = await import('./client.ts');
      if (this.#opened?.nats !== nats) {
        const inbox = createInbox(this.#connection.inboxPrefix);
        this.#opened = { nats, headers, replies: new Replies(nats, inbox) };
      }
    }
    return this.#opened;
  }

  async #ensure(replies: Replies, signal: AbortSignal): Promise<void> {
    const { name } = this.settings;
    const wanted = configOf(this.settings);
    try {
      // Creating a stream that exists with the same settings is answered with the existing one.
      const subject = `$JS.API.STREAM.CREATE.${name}`;
      await ask(replies, name, { subject, data: encodeJson(wanted) }, signal);
    } catch (error) {
      if (!(error instanceof JetStreamFailure) || error.refusal !== 'stream-differs') throw error;
      const { config } = await this.#info(replies, signal);
      const update = async (settings: object): Promise<void> => {
        const subject = `$JS.API.STREAM.UPDATE.${name}`;
        await ask(replies, name, { subject, data: encodeJson({ ...config, ...settings }) }, signal);
      };
      // nats-server 2.12 keeps how many there may be; and somebody may have made one that
      // stays longer, which must not stop the feed: the bound comes when it is gone.
      const { max_consumers: _max, ...sameRoom } = wanted;
      const { consumer_limits: _limits, ...unbound } = sameRoom;
      await update(wanted)
        .catch(orOfConsumers(() => update(sameRoom)))
        .catch(orOfConsumers(() => update(unbound)));
    }
  }

  async #info(replies: Replies, signal: AbortSignal): Promise<StreamInfo> {
    const { name } = this.settings;
    return ask<StreamInfo>(replies, name, { subject: `$JS.API.STREAM.INFO.${name}` }, signal);
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamFailure && error.refusal === 'conflict';

/** Calls `retry` when the server refuses just the limits of consumers. */
const orOfConsumers =
  (retry: () => Promise<void>) =>
  (error: unknown): Promise<void> => {
    if (error instanceof JetStreamFailure && error.refusal === 'consumer-bounds') return retry();
    throw error;
  };

function conditionsOf({ expectedSequence, ttlSeconds }: Publication, header: MsgHdrs): MsgHdrs {
  header.set('Nats-Expected-Last-Subject-Sequence', String(expectedSequence));
  if (ttlSeconds !== undefined) header.set('Nats-TTL', `${ttlSeconds}s`);
  return header;
}

/** Short, because the server reads all of a message's headers for each that it looks for. */
const BATCHES_OF = randomBytes(6).toString('base64url');
let batches = 0;

/** Stored together or not at all; the answer comes for the last one, which commits. */
function asBatch(prepared: readonly { readonly header: MsgHdrs }[]): void {
  batches += 1;
  const id = `${BATCHES_OF}${batches.toString(36)}`;
  for (const [index, { header }] of prepared.entries()) {
    header.set('Nats-Batch-Id', id);
    header.set('Nats-Batch-Sequence', String(index + 1));
    if (index === prepared.length - 1) header.set('Nats-Batch-Commit', '1');
  }
}
