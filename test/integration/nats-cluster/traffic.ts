// Publishers and durable consumers on a stream, of three replicas unless told otherwise, running
// while something is done to the servers. At the end: what was acknowledged and is not there any
// more, what is there twice, what a consumer never saw, and the longest time without an
// acknowledgement.
import { type JetStreamClient, type NatsConnection, connect } from 'nats';
import { systemClock } from '../../../shared/clock.ts';
import { until } from '../../builders/versioned-kind.ts';

export interface TrafficOptions {
  readonly servers: readonly string[];
  readonly user: string;
  readonly pass: string;
  readonly stream: string;
  readonly tls?: { readonly ca: string; readonly servername: string };
  readonly publishers?: number;
  /** The stream's. */
  readonly replicas?: number;
}

export interface TrafficReport {
  readonly acknowledged: number;
  /** Acknowledged, and not in the stream. */
  readonly lost: number;
  /** In the stream more than once. */
  readonly duplicates: number;
  /** In the stream, and never delivered to the durable consumer. */
  readonly unseen: number;
  readonly redelivered: number;
  readonly longestPauseMs: number;
}

const ACK_TIMEOUT_MS = 2_000;
/** The next server may answer while the one that is asked has lost its power. */
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * Each publisher has one message on its way at any time, however often it begins one: every 5 ms
 * nats-servers took half of all time on two cores, and what was tested had to wait; every 50 ms
 * still a quarter of all that the tests of real pods took.
 */
const BETWEEN_MS = 100;
/** Messages after which it is certain that something did not stop the traffic. */
const SOME = 10;
const DURABLE = 'worker';
const DRAINED_WITHIN_MS = 60_000;
/** Messages of one pull; it returns after this time, also with nothing. */
const PULL_MS = 1_000;
const READ_AT_ONCE = 500;
/** In which a leader that was told to step down has heard of the next one. */
const STEP_DOWN_MS = 500;

export class Traffic {
  readonly #options: TrafficOptions;
  readonly #nats: NatsConnection;
  readonly #jetStream: JetStreamClient;
  readonly #acked: string[] = [];
  readonly #seen = new Map<string, number>();
  #longestMs = 0;
  #lastAckMs = systemClock.nowMs();
  #isPublishing = true;
  #isConsuming = true;
  #publishing: Promise<unknown> = Promise.resolve();
  #consuming: Promise<void> = Promise.resolve();

  private constructor(options: TrafficOptions, nats: NatsConnection) {
    this.#options = options;
    this.#nats = nats;
    this.#jetStream = nats.jetstream({ timeout: ACK_TIMEOUT_MS });
  }

  static async start(options: TrafficOptions): Promise<Traffic> {
    const traffic = new Traffic(options, await connectTo(options));
    await traffic.#prepare();
    const { publishers = 2 } = options;
    const all = Array.from({ length: publishers }, (_, index) => traffic.#publish(index));
    traffic.#publishing = Promise.all(all);
    traffic.#consuming = traffic.#consume();
    return traffic;
  }

  get acknowledged(): number {
    return this.#acked.length;
  }

  async #prepare(): Promise<void> {
    const { stream, replicas = 3 } = this.#options;
    const manager = await this.#nats.jetstreamManager();
    const subjects = [`${stream}.>`];
    await manager.streams.add({ name: stream, subjects, num_replicas: replicas });
    await manager.consumers.add(stream, {
      durable_name: DURABLE,
      ack_policy: 'explicit' as never,
      ack_wait: 10_000_000_000,
    });
  }

  /** The same message again and again until it is acknowledged: the server knows it by its id. */
  async #publish(publisher: number): Promise<void> {
    for (let count = 0; this.#isPublishing; count += 1) {
      const msgID = `${publisher}-${count}`;
      while (!(await this.#isAcknowledged(msgID))) if (!this.#isPublishing) return;
      const nowMs = systemClock.nowMs();
      this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastAckMs);
      this.#lastAckMs = nowMs;
      this.#acked.push(msgID);
      await systemClock.sleep(BETWEEN_MS);
    }
  }

  async #isAcknowledged(msgID: string): Promise<boolean> {
    const subject = `${this.#options.stream}.orders`;
    try {
      await this.#jetStream.publish(subject, msgID, { msgID, timeout: ACK_TIMEOUT_MS });
      return true;
    } catch {
      await systemClock.sleep(BETWEEN_MS);
      return false;
    }
  }

  async #consume(): Promise<void> {
    const { stream } = this.#options;
    while (this.#isConsuming) {
      try {
        const consumer = await this.#jetStream.consumers.get(stream, DURABLE);
        const messages = await consumer.fetch({ max_messages: 100, expires: PULL_MS });
        for await (const message of messages) {
          const id = message.string();
          this.#seen.set(id, (this.#seen.get(id) ?? 0) + 1);
          message.ack();
        }
      } catch {
        await systemClock.sleep(BETWEEN_MS);
      }
    }
  }

  /** From here on `server` leads the stream: what is read at the end is what it has. */
  async leadBy(server: string): Promise<void> {
    const { stream } = this.#options;
    const manager = await this.#nats.jetstreamManager();
    const leader = async (): Promise<string | undefined> =>
      (await manager.streams.info(stream).catch(() => undefined))?.cluster?.leader;
    const subject = `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`;
    const wish = JSON.stringify({ placement: { preferred: server } });
    const isLed = async (): Promise<boolean> => ((await leader()) ?? '') !== '';
    while ((await leader()) !== server) {
      // Refused while the server is not current yet.
      await this.#nats.request(subject, wish, { timeout: ACK_TIMEOUT_MS }).catch(() => undefined);
      await systemClock.sleep(STEP_DOWN_MS);
      await until('the stream to be led', isLed, DRAINED_WITHIN_MS);
    }
  }

  /** Ends the publishers, lets the consumer see the rest, and counts. */
  async stop(): Promise<TrafficReport> {
    try {
      this.#isPublishing = false;
      await this.#publishing;
      return await this.#report();
    } finally {
      await this.close();
    }
  }

  /** Whatever it has come to: with its test it must not go on. */
  async close(): Promise<void> {
    this.#isPublishing = false;
    this.#isConsuming = false;
    await this.#nats.close();
    await Promise.all([this.#publishing, this.#consuming]);
  }

  async #report(): Promise<TrafficReport> {
    const stored = await this.#readAll();
    const isSeen = (id: string): boolean => this.#seen.has(id);
    await until('the consumer to see all', () => stored.every(isSeen), DRAINED_WITHIN_MS).catch(
      () => undefined,
    );
    const inStream = new Set(stored);
    return {
      acknowledged: this.#acked.length,
      lost: this.#acked.filter((id) => !inStream.has(id)).length,
      duplicates: stored.length - inStream.size,
      unseen: stored.filter((id) => !isSeen(id)).length,
      redelivered: [...this.#seen.values()].filter((times) => times > 1).length,
      longestPauseMs: this.#longestMs,
    };
  }

  /** A server that is about to lead answers 503, or nothing: it is asked again. */
  async #readAll(): Promise<readonly string[]> {
    const endsAtMs = systemClock.nowMs() + DRAINED_WITHIN_MS;
    for (;;) {
      try {
        return await this.#read();
      } catch (error) {
        if (systemClock.nowMs() > endsAtMs) throw error;
        await systemClock.sleep(BETWEEN_MS);
      }
    }
  }

  /**
   * Pull after pull, and not with an ordered consumer: the library makes that one anew behind our
   * back, and what then fails is nobody's to catch.
   */
  async #read(): Promise<readonly string[]> {
    const { stream } = this.#options;
    const manager = await this.#nats.jetstreamManager();
    const { state } = await manager.streams.info(stream);
    const { name } = await manager.consumers.add(stream, {
      ack_policy: 'none' as never,
      mem_storage: true,
      num_replicas: 1,
    });
    const consumer = await this.#jetStream.consumers.get(stream, name);
    const ids: string[] = [];
    while (ids.length < state.messages) {
      const before = ids.length;
      const most = Math.min(state.messages - before, READ_AT_ONCE);
      const messages = await consumer.fetch({ max_messages: most, expires: PULL_MS });
      for await (const message of messages) ids.push(message.string());
      if (ids.length === before) throw new Error(`${stream} has more, and a pull brings nothing`);
    }
    await consumer.delete();
    return ids;
  }
}

/** Messages go on being acknowledged. */
export async function untilTrafficFlows(traffic: Traffic): Promise<void> {
  const before = traffic.acknowledged;
  await until('messages to be acknowledged', () => traffic.acknowledged > before + SOME, 60_000);
}

export function connectTo({
  servers,
  user,
  pass,
  tls,
}: Pick<TrafficOptions, 'servers' | 'user' | 'pass' | 'tls'>): Promise<NatsConnection> {
  return connect({
    servers: [...servers],
    user,
    pass,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    timeout: CONNECT_TIMEOUT_MS,
    ignoreClusterUpdates: true,
    pingInterval: 2_000,
    ...(tls === undefined ? {} : { tls }),
  });
}
