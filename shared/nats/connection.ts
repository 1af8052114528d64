// One connection to NATS, opened by its first use and kept for good: the client reconnects for
// ever, because a function that gave up would answer 503 until somebody restarted it.
import type { NatsConnection } from 'nats';
import { Failure } from '../errors.ts';

export interface NatsOptions {
  readonly url: string;
  /** Shown by `nats server list connections`. */
  readonly name: string;
}

/** A half-open connection is noticed after two missed pings. */
const PING_INTERVAL_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A server that is away would keep a drain waiting for as long as the client tries to reconnect.
 */
const DRAIN_MAX_MS = 1_000;

export class Connection {
  readonly #options: NatsOptions;
  #opening: Promise<NatsConnection> | undefined;

  constructor(options: NatsOptions) {
    this.#options = options;
  }

  async get(): Promise<NatsConnection> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Flushes what was published and closes; does nothing when nobody ever connected. */
  async close(): Promise<void> {
    const connection = await this.#opening?.catch(() => undefined);
    if (connection === undefined) return;
    const tooLong = AbortSignal.timeout(DRAIN_MAX_MS);
    await Promise.race([
      // Draining a connection whose server is away fails; closing it is all that is left to do.
      connection.drain().catch(() => undefined),
      new Promise((resolve) => tooLong.addEventListener('abort', resolve)),
    ]);
    await connection.close();
  }

  async #open(): Promise<NatsConnection> {
    const { NatsError, connect } = await import('./client.ts');
    const { url, name } = this.#options;
    try {
      const connection = await connect({
        servers: url,
        name,
        maxReconnectAttempts: -1,
        pingInterval: PING_INTERVAL_MS,
        timeout: CONNECT_TIMEOUT_MS,
      });
      // Whoever closes it for good (an expired credential) leaves the next caller to connect
      // afresh.
      void connection.closed().then(() => {
        this.#opening = undefined;
      });
      return connection;
    } catch (cause) {
      this.#opening = undefined;
      if (!(cause instanceof NatsError)) throw cause;
      const message = `NATS at ${url} cannot be reached (${cause.message}). It is tried again.`;
      throw new Failure('NATS_UNAVAILABLE', message, { object: url, cause });
    }
  }
}
