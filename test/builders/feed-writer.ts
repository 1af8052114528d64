// A feed for tests of its readers: written as the protocol says, by hand, so that a test can also
// write what the real writer never would.
import { randomUUID } from 'node:crypto';
import {
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type RequestOptions,
  connect,
  headers,
} from 'nats';
import { systemClock } from '../../shared/clock.ts';
import { Digest, fingerprint } from '../../shared/feed/digest.ts';
import {
  type Marker,
  type ObjectMessage,
  decodeMessage,
  encodeMessage,
  isTombstone,
} from '../../shared/feed/messages.ts';
import {
  FLOOR_SUBJECT,
  MARKER_SUBJECT,
  type ObjectKey,
  type Place,
  checkpointSubject,
  ledgersOf,
  livePrefix,
  storedPrefix,
  streamName,
  subjectOf,
} from '../../shared/feed/subjects.ts';
import { configOf } from '../../shared/nats/stream-config.ts';
import { ANSWER_WITHIN, loginOf } from './nats-login.ts';

const TOMBSTONE_TTL = '600s';
const API_PAUSE_MS = 100;

export interface Held {
  readonly sequence: number;
  /** Undefined for a tombstone. */
  readonly data: Uint8Array | undefined;
}

export class FeedWriter {
  readonly feed: string;
  /** The messages in the stream, by subject relative to the feed. */
  readonly held = new Map<string, Held>();
  readonly #nats: NatsConnection;
  readonly #replicas: number;
  #marker: Marker | undefined;
  #resourceVersion = 0;
  /** The newest sequence. */
  #version = 0;

  static async open(url: string, feed: string): Promise<FeedWriter> {
    const nats = await connect({ ...loginOf(url), maxReconnectAttempts: -1 });
    return new FeedWriter(nats, feed);
  }

  constructor(nats: NatsConnection, feed: string, replicas = 1) {
    this.#nats = nats;
    this.#replicas = replicas;
    this.feed = feed;
  }

  async close(): Promise<void> {
    await this.#nats.close();
  }

  /** A stream without messages; the marker comes by `mark`. */
  async create(): Promise<void> {
    this.held.clear();
    const config = streamConfig(this.feed, this.#replicas);
    await this.#api(`STREAM.CREATE.${config.name}`, config);
  }

  async delete(): Promise<void> {
    await this.#api(`STREAM.DELETE.${streamName(this.feed)}`, {});
  }

  async mark(more: Partial<Marker> = {}): Promise<number> {
    this.#marker = {
      format: 1,
      id: this.#marker?.id ?? randomUUID(),
      epoch: this.#marker?.epoch ?? 1,
      ready: true,
      resources: ['pods', 'namespaces'],
      historySeconds: 600,
      sweepSeconds: 60,
      ...more,
    };
    return this.raw(MARKER_SUBJECT, encodeMessage(this.#marker));
  }

  /** A new epoch, in a stream that holds nothing of it yet. */
  async begin({ ready = true }: { readonly ready?: boolean } = {}): Promise<void> {
    await this.create();
    await this.mark({ id: randomUUID(), epoch: (this.#marker?.epoch ?? 0) + 1, ready });
    await this.floor(0);
  }

  async floor(version: number, ttlSeconds = 600): Promise<number> {
    return this.raw(FLOOR_SUBJECT, encodeMessage({ version }), {
      'Nats-TTL': `${ttlSeconds}s`,
    });
  }

  async put(place: Place, key: ObjectKey, more: Partial<ObjectMessage> = {}): Promise<number> {
    const subject = subjectOf(place, key);
    const data = encodeMessage(this.object(place, key, more));
    const sequence = await this.raw(subject, data, this.#condition(subject));
    this.held.set(subject, { sequence, data });
    return sequence;
  }

  async remove(place: Place, key: ObjectKey): Promise<number> {
    const subject = subjectOf(place, key);
    const data = this.#tombstone(subject, false);
    const ttl = { 'Nats-TTL': TOMBSTONE_TTL };
    const sequence = await this.raw(subject, data, { ...this.#condition(subject), ...ttl });
    this.held.set(subject, { sequence, data: undefined });
    return sequence;
  }

  /** Gone without a tombstone, as when the tombstone is over. */
  async purge(place: Place, key: ObjectKey): Promise<void> {
    const subject = subjectOf(place, key);
    await this.#api(`STREAM.PURGE.${streamName(this.feed)}`, { filter: this.#stored(subject) });
    this.held.delete(subject);
  }

  /** Stores messages meanwhile without telling any reader. */
  async silently(work: () => Promise<void>): Promise<void> {
    const { republish, ...quiet } = streamConfig(this.feed, this.#replicas);
    await this.#api(`STREAM.UPDATE.${quiet.name}`, quiet);
    await work();
    await this.#api(`STREAM.UPDATE.${quiet.name}`, { ...quiet, republish });
  }

  /** In one step, as when a pod gets its node. Answers the sequence of the new place. */
  async move(from: Place, to: Place, key: ObjectKey): Promise<number> {
    const [old, fresh] = [subjectOf(from, key), subjectOf(to, key)];
    const data = encodeMessage(this.object(to, key));
    const batch = { 'Nats-Batch-Id': randomUUID() };
    const first = { ...batch, 'Nats-Batch-Sequence': '1', 'Nats-TTL': TOMBSTONE_TTL };
    const header = headersOf({ ...first, ...this.#condition(old) });
    this.#nats.publish(this.#stored(old), this.#tombstone(old, true), { headers: header });
    const last = { ...batch, 'Nats-Batch-Sequence': '2', 'Nats-Batch-Commit': '1' };
    const sequence = await this.raw(fresh, data, { ...last, ...this.#condition(fresh) });
    this.held.set(old, { sequence: sequence - 1, data: undefined });
    this.held.set(fresh, { sequence, data });
    return sequence;
  }

  /** True of what was written through here; `objects` makes it false. */
  async checkpoint(ledger: string, more: { readonly objects?: number } = {}): Promise<number> {
    const digest = new Digest();
    const version = this.#version;
    for (const [subject, { data }] of this.held) {
      if (!ledgersOf(subject).includes(ledger)) continue;
      if (data !== undefined) digest.add(fingerprint(subject, data));
    }
    const { objects } = digest;
    const checkpoint = { epoch: 1, version, objects, digest: digest.toString(), ...more };
    return this.raw(checkpointSubject(ledger), encodeMessage(checkpoint));
  }

  /** Anything at all. Answers its sequence. */
  async raw(
    subject: string,
    data: Uint8Array | string,
    header: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const reply = await this.#request(this.#stored(subject), data, { headers: headersOf(header) });
    const answer = reply.json<{ seq: number; error?: { description: string } }>();
    if (answer.error !== undefined) throw new Error(`${subject}: ${answer.error.description}`);
    this.#version = answer.seq;
    return answer.seq;
  }

  /** Told live without being stored, as by somebody who may publish there. */
  async forge(subject: string, data: Uint8Array): Promise<void> {
    this.#nats.publish(`${livePrefix(this.feed)}.${subject}`, data);
    await this.#nats.flush();
  }

  object(place: Place, key: ObjectKey, more: Partial<ObjectMessage> = {}): ObjectMessage {
    this.#resourceVersion += 1;
    return {
      epoch: this.#marker?.epoch ?? 1,
      kind: 'Pod',
      ...(key.namespace === '' ? {} : { namespace: key.namespace }),
      name: key.name,
      uid: `uid-${key.namespace}-${key.name}`,
      resourceVersion: String(this.#resourceVersion),
      ...(typeof place === 'string' ? {} : { node: place.node }),
      ...more,
    };
  }

  /** Relative subjects of what is alive, with their sequences: what a whole reader must hold. */
  alive(isShown: (subject: string) => boolean = () => true): Readonly<Record<string, number>> {
    const rows = [...this.held].filter(([subject, { data }]) => data && isShown(subject));
    return Object.fromEntries(rows.map(([subject, { sequence }]) => [subject, sequence]));
  }

  #tombstone(subject: string, isMove: boolean): Uint8Array {
    const data = this.held.get(subject)?.data;
    const last = data === undefined ? undefined : decodeMessage(data);
    this.#resourceVersion += 1;
    return encodeMessage({
      deleted: true,
      epoch: this.#marker?.epoch ?? 1,
      uid: last?.uid ?? 'unknown',
      resourceVersion: String(this.#resourceVersion),
      at: new Date().toISOString(),
      ...(isMove ? { moved: true } : {}),
      ...(last === undefined || isTombstone(last) ? {} : { last: { kind: last.kind } }),
    });
  }

  #condition(subject: string): Readonly<Record<string, string>> {
    const sequence = this.held.get(subject)?.sequence ?? 0;
    return { 'Nats-Expected-Last-Subject-Sequence': String(sequence) };
  }

  #stored(subject: string): string {
    return `${storedPrefix(this.feed)}.${subject}`;
  }

  /** Servers that are about to elect a leader refuse for the moment (503). */
  async #api(subject: string, body: object): Promise<void> {
    const endsAtMs = systemClock.nowMs() + ANSWER_WITHIN.timeout;
    for (;;) {
      const reply = await this.#request(`$JS.API.${subject}`, JSON.stringify(body));
      const { error } = reply.json<{ error?: { code: number; description: string } }>();
      if (error === undefined) return;
      if (error.code !== 503 || systemClock.nowMs() > endsAtMs) {
        throw new Error(`${subject}: ${error.description}`);
      }
      await systemClock.sleep(API_PAUSE_MS);
    }
  }

  /**
   * The client loses what is sent while it has no server, and waits for the answer nonetheless.
   * So a writer without a server refuses at once, as `rtt` does, and a test that polls tries again.
   */
  async #request(
    subject: string,
    data: Uint8Array | string,
    options: Partial<RequestOptions> = {},
  ): Promise<Msg> {
    await this.#nats.rtt();
    return this.#nats.request(subject, data, { ...ANSWER_WITHIN, ...options });
  }
}

function headersOf(values: Readonly<Record<string, string>>): MsgHdrs {
  const header = headers();
  for (const [name, value] of Object.entries(values)) header.set(name, value);
  return header;
}

/** As the function makes it. */
const streamConfig = (feed: string, replicas: number) =>
  configOf({
    name: streamName(feed),
    prefix: storedPrefix(feed),
    livePrefix: livePrefix(feed),
    replicas,
    storage: 'file',
  });
