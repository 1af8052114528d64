// The connections to the API server: a small pool for calls, one connection per watch beside it,
// and few that the watches of single objects share. undici is loaded, and a connection opened, by
// the first call.
import type * as Undici from './undici.ts';
import type { Dispatcher } from 'undici';
import type { Access, AccessCache } from './access-cache.ts';
import { Failure } from '../errors.ts';

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly pool: Pool;
}

/**
 * A `watch` holds a connection of its own for as long as it lasts; a `shared-watch` is one of up to
 * a hundred on an HTTP/2 connection, and ends with it.
 */
export type Pool = 'call' | 'watch' | 'shared-watch';

/** More calls wait in line: a sweep must not open a TLS connection per object. */
const CONNECTIONS_MAX = 8;
const CONNECT_TIMEOUT_MS = 5_000;
/** Below the 90 s after which Go servers and most load balancers hang up on an idle connection. */
const IDLE_CONNECTION_MAX_MS = 60_000;
/** The first probe of a silent connection; the kernel declares it dead some ten seconds later. */
const KEEP_ALIVE_DELAY_MS = 30_000;
/**
 * The API server answers a page of a list within seconds; what takes longer is a connection that
 * nobody serves.
 */
const ANSWER_TIMEOUT_MS = 20_000;
/** Bookmarks come about once a minute, so a longer silence means that nobody sends any more. */
const WATCH_SILENCE_MAX_MS = 90_000;

interface Pools {
  readonly key: string;
  readonly origin: string;
  /** Some API servers live behind a path, as `https://host/k8s/clusters/a`. */
  readonly basePath: string;
  readonly dispatchers: Readonly<Record<Pool, Dispatcher>>;
}

export class Connection {
  readonly #access: AccessCache;
  readonly #connectionsMax: number;
  readonly #open = new Set<Pools>();
  #current: Pools | undefined;
  #isClosed = false;
  connectionsOpened = 0;

  constructor(access: AccessCache, connectionsMax = CONNECTIONS_MAX) {
    this.#access = access;
    this.#connectionsMax = connectionsMax;
  }

  /**
   * One exchange. A 401 is tried once more with credentials that were read again: the server did
   * nothing yet.
   */
  async send(exchange: Exchange, onSend: () => void): Promise<Dispatcher.ResponseData> {
    this.#refuseWhenClosed();
    const access = await this.#access.current(exchange.signal);
    const answer = await this.#sendAs(access, exchange, onSend);
    if (answer.statusCode !== 401) return answer;
    await answer.body.dump();
    const renewed = await this.#access.after(access, exchange.signal);
    return this.#sendAs(renewed, exchange, onSend);
  }

  /** Ends every watch, and every call that is still in flight. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#open].flatMap(({ dispatchers }) =>
        Object.values(dispatchers).map((one) => one.destroy()),
      ),
    );
  }

  async #sendAs(
    access: Access,
    exchange: Exchange,
    onSend: () => void,
  ): Promise<Dispatcher.ResponseData> {
    const { dispatchers, origin, basePath } = await this.#poolsFor(access);
    const { method, path, headers, body, signal, pool } = exchange;
    onSend();
    return dispatchers[pool].request({
      origin,
      method,
      path: `${basePath}${path}`,
      headers: { ...headers, ...access.headers },
      ...(body === undefined ? {} : { body }),
      signal,
    });
  }

  async #poolsFor(access: Access): Promise<Pools> {
    const { server, proxyUrl, tls } = access;
    const key = JSON.stringify([server, proxyUrl, tls]);
    if (this.#current?.key === key) return this.#current;
    const undici = await import('./undici.ts');
    this.#refuseWhenClosed();
    // Another call may have created them while undici was loading.
    if (this.#current?.key === key) return this.#current;
    const retired = this.#current;
    this.#current = this.#make(undici, key, access);
    this.#open.add(this.#current);
    if (retired !== undefined) this.#retire(retired);
    return this.#current;
  }

  #refuseWhenClosed(): void {
    if (!this.#isClosed) return;
    const message =
      'The client of the API server is closed: this instance ends, another one will do it.';
    throw new Failure('KUBE_CLOSED', message);
  }

  #make(undici: typeof Undici, key: string, access: Access): Pools {
    const { origin, pathname } = new URL(access.server);
    const make = (
      connections: number | null,
      bodyTimeout: number,
      allowH2: boolean,
    ): Dispatcher => {
      const options = {
        connections,
        pipelining: 1,
        allowH2,
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout,
        keepAliveTimeout: IDLE_CONNECTION_MAX_MS,
        connectTimeout: CONNECT_TIMEOUT_MS,
      };
      const connect = {
        ...access.tls,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
      };
      const pool =
        access.proxyUrl === undefined
          ? new undici.Pool(origin, { ...options, connect })
          : new undici.ProxyAgent({ ...options, uri: access.proxyUrl, requestTls: connect });
      return pool.on('connect', () => {
        this.connectionsOpened += 1;
      });
    };
    return {
      key,
      origin,
      basePath: pathname.replace(/\/$/, ''),
      dispatchers: {
        // Over HTTP/2 all calls would share one connection and its fate; eight are few enough.
        call: make(this.#connectionsMax, ANSWER_TIMEOUT_MS, false),
        watch: make(null, WATCH_SILENCE_MAX_MS, false),
        // A tunnel is one connection for each anyway.
        'shared-watch': make(null, WATCH_SILENCE_MAX_MS, access.proxyUrl === undefined),
      },
    };
  }

  /**
   * After a rotation of certificates, what is in flight ends on the connections it began on, and
   * nothing else begins there: should the old certificates come back, they get new pools.
   */
  #retire(pools: Pools): void {
    const ended = Promise.all(Object.values(pools.dispatchers).map((one) => one.close()));
    void ended.then(
      () => this.#open.delete(pools),
      // Only `close` destroys them before they have ended.
      () => undefined,
    );
  }
}
