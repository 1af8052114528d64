// One connection to NATS, opened by its first use and kept for good: the client reconnects for
// ever, because a function that gave up would answer 503 until somebody restarted it.
import type { NatsConnection } from 'nats';
import { Failure } from '../errors.ts';
import { type AccessSource, type NatsAccess, NO_ACCESS } from './access.ts';
import { type Client, loginOf } from './login.ts';
import { isRecord } from './record.ts';
import { orAbort } from '../or-abort.ts';
import { whyNot } from './why-not.ts';

export interface NatsOptions {
  readonly url: string;
  /** Shown by `nats server list connections`. */
  readonly name: string;
  /** Answers arrive below it; when absent, below the inbox that rights give to the user. */
  readonly inboxPrefix?: string | undefined;
  readonly access?: AccessSource | undefined;
}

/** A half-open connection is noticed after two missed pings. */
const PING_INTERVAL_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A server that is away would keep a drain waiting for as long as the client tries to reconnect.
 */
const DRAIN_MAX_MS = 1_000;

/** Names of the client's events; its enums would have to be loaded before they are needed. */
const AWAY: ReadonlySet<string> = new Set(['disconnect', 'reconnecting']);

export class Connection {
  readonly #options: NatsOptions;
  readonly #access: AccessSource;
  /** Host and port alone: what may be shown to people. */
  readonly #host: string;
  #inboxPrefix: string | undefined;
  #opening: Promise<NatsConnection> | undefined;
  #isClosed = false;

  constructor(options: NatsOptions) {
    this.#options = options;
    this.#access = options.access ?? NO_ACCESS;
    this.#host = new URL(options.url).host;
    this.#inboxPrefix = options.inboxPrefix;
  }

  /** Where answers arrive: others must not listen there. Known once it is open. */
  get inboxPrefix(): string {
    if (this.#inboxPrefix === undefined) throw new TypeError('the connection was never open');
    return this.#inboxPrefix;
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
    try {
      const client = await import('./client.ts');
      const { access, options, inboxPrefix } = this.#login(client);
      this.#inboxPrefix = this.#options.inboxPrefix ?? inboxPrefix;
      const connection = await client
        .connect({
          ...options,
          name: this.#options.name,
          inboxPrefix: this.#inboxPrefix,
          maxReconnectAttempts: -1,
          pingInterval: PING_INTERVAL_MS,
          timeout: CONNECT_TIMEOUT_MS,
        })
        .catch((cause: unknown) => {
          throw this.#failure(cause, access);
        });
      // When the connection closes for good (an expired credential), the next caller opens another.
      void connection.closed().then(() => {
        this.#opening = undefined;
      });
      void this.#watch(connection, access);
      return connection;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #login(client: Client) {
    try {
      const access = this.#access.read();
      return { access, ...loginOf(client, this.#options.url, access) };
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause);
      const why = isRecord(cause) && 'code' in cause ? `cannot be read (${text})` : text;
      const message =
        `The way to NATS at ${this.#host} cannot be used: ${this.#access.from} ${why}. Correct ` +
        'it there; it is tried again.';
      throw new Failure('NATS_ACCESS_UNUSABLE', message, { object: this.#host, cause });
    }
  }

  #failure(cause: unknown, access: NatsAccess): Failure {
    const why = whyNot(cause, access, this.#access.from);
    const message = `NATS at ${this.#host} ${why}. It is tried again.`;
    return new Failure('NATS_UNAVAILABLE', message, { object: this.#host, cause });
  }

  /** New credentials that arrive while the server is away are for a connection of their own. */
  async #watch(connection: NatsConnection, used: NatsAccess): Promise<void> {
    for await (const { type } of connection.status()) {
      if (AWAY.has(type) && this.#isOther(used)) await connection.close();
    }
  }

  #isOther(used: NatsAccess): boolean {
    try {
      return JSON.stringify(this.#access.read()) !== JSON.stringify(used);
    } catch {
      // A file that cannot be read now may come back; until then the former credentials are used.
      return false;
    }
  }
}
