// One connection to NATS, opened by its first use and kept for good: the client reconnects for
// ever, because a function that gave up would answer 503 until somebody restarted it.
import type { ConnectionOptions, NatsConnection } from 'nats';
import { Failure } from '../errors.ts';
import { orAbort } from './or-abort.ts';
import { inboxOf } from './rights.ts';

export interface NatsOptions {
  readonly url: string;
  /** Shown by `nats server list connections`. */
  readonly name: string;
  /** Answers arrive below it; when absent, below the inbox that rights give to the url's user. */
  readonly inboxPrefix?: string | undefined;
}

/** A half-open connection is noticed after two missed pings. */
const PING_INTERVAL_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A server that is away would keep a drain waiting for as long as the client tries to reconnect.
 */
const DRAIN_MAX_MS = 1_000;

/** Somebody is there: trying again helps only when the other side changes its mind. */
const REFUSES = 'does not take the credentials that it is shown; correct them here or there';

export class Connection {
  readonly #options: NatsOptions;
  /** Host and port alone: what may be shown to people. */
  readonly #host: string;
  /** Where answers arrive: others must not listen there. */
  readonly inboxPrefix: string;
  #opening: Promise<NatsConnection> | undefined;
  #isClosed = false;

  constructor(options: NatsOptions) {
    this.#options = options;
    const { host, username } = new URL(options.url);
    this.#host = host;
    this.inboxPrefix = options.inboxPrefix ?? ownInbox(username);
  }

  async get(): Promise<NatsConnection> {
    if (this.#isClosed) {
      const message = `The connection to NATS at ${this.#host} is closed. It is tried again.`;
      throw new Failure('NATS_UNAVAILABLE', message, { object: this.#host });
    }
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Flushes what was published and closes; does nothing when nobody ever connected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#opening?.catch(() => undefined);
    if (connection === undefined) return;
    const tooLong = AbortSignal.timeout(DRAIN_MAX_MS);
    // Draining a connection whose server is away fails, or waits for the server; closing it is all
    // that is left to do then.
    await orAbort(connection.drain(), tooLong).catch(() => undefined);
    await connection.close();
  }

  async #open(): Promise<NatsConnection> {
    const { NatsError, connect } = await import('./client.ts');
    try {
      const connection = await connect({
        ...addressOf(this.#options.url),
        name: this.#options.name,
        inboxPrefix: this.inboxPrefix,
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
      const what = cause.isAuthError() ? REFUSES : 'cannot be reached';
      const message = `NATS at ${this.#host} ${what} (${cause.message}). It is tried again.`;
      throw new Failure('NATS_UNAVAILABLE', message, { object: this.#host, cause });
    }
  }
}

const ownInbox = (username: string): string =>
  username === '' ? '_INBOX' : inboxOf(decodeURIComponent(username));

/**
 * The client takes credentials only as options of their own: `nats://user:password@host`, or
 * `nats://token@host`.
 */
function addressOf(text: string): ConnectionOptions {
  const { protocol, host, username, password } = new URL(text);
  const user = decodeURIComponent(username);
  const pass = decodeURIComponent(password);
  return {
    servers: host,
    ...(protocol === 'tls:' ? { tls: {} } : {}),
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
  };
}
