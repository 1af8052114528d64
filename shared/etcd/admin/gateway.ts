// One request to one member over its JSON gateway: a bounded answer, or an error that says whether
// anything was sent. A stranger may listen there.
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { Failure } from '../../errors.ts';
import { readText } from '../bounded.ts';
import { reasonOf } from '../errors.ts';
import { NoGrpc } from '../grpc/errors.ts';
import type { GrpcCall } from '../grpc/stream.ts';
import { type EtcdTls, readTls } from '../tls.ts';

export interface EtcdEndpoint {
  /** Client URL of a member, as `https://10.0.0.1:2379`. */
  readonly url: string;
  /** The name in its certificate, where that is not the host in the URL. */
  readonly serverName?: string | undefined;
}

export interface Request {
  readonly path: string;
  /** Without one it is a GET. */
  readonly body: object | undefined;
  readonly token: string | undefined;
  readonly bytesMax: number;
  /** Changes get a connection of their own: on one that idled, a lost change is no rare thing. */
  readonly isChange: boolean;
}

export interface Answer {
  readonly statusCode: number;
  readonly text: string;
}

/** A pod on the same network takes a connection in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_000;
/** A member is asked for several things at one look. */
const CONNECTIONS_MAX = 2;
const HEADERS_BYTES_MAX = 16 * 1024;

/** The request was not sent, and so not carried out. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
  }
}

export class TooLarge extends Error {
  constructor(bytesMax: number) {
    super(`more than ${bytesMax} bytes`);
  }
}

interface Connection {
  readonly origin: string;
  readonly options: {
    readonly connect: buildConnector.connector;
    readonly maxHeaderSize: number;
    readonly allowH2: false;
    // The signal of each request bounds them.
    readonly headersTimeout: 0;
    readonly bodyTimeout: 0;
  };
}

export class Gateway {
  readonly #tls: EtcdTls | undefined;
  readonly #pools = new Map<string, Promise<Dispatcher>>();
  /** By URL, of members whose generation has another one. */
  readonly roots = new Map<string, string>();

  constructor(tls: EtcdTls | undefined) {
    this.#tls = tls;
  }

  async post(endpoint: EtcdEndpoint, request: Request, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    if (request.isChange) return this.#postAlone(endpoint, request, signal);
    return this.#pooled(endpoint, (pool) => send(pool, endpoint, request, signal));
  }

  /** An answer of any length: it ends with the signal, or when nothing comes for so long. */
  stream(
    endpoint: EtcdEndpoint,
    request: Pick<Request, 'path' | 'body' | 'token'>,
    { signal, silenceMs }: { readonly signal: AbortSignal; readonly silenceMs: number },
  ): Promise<Dispatcher.ResponseData> {
    const timeouts = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
    return this.#pooled(endpoint, (pool) =>
      pool.request({ ...dispatched(endpoint, request), ...timeouts, signal }),
    );
  }

  /** Over gRPC, on a connection of its own. Fails with NoGrpc where nobody speaks it. */
  async messages(endpoint: EtcdEndpoint, call: GrpcCall): Promise<AsyncIterable<Buffer>> {
    const { openGrpcStream } = await import('../grpc/stream.ts');
    const connect = await this.#connector(endpoint, { preferH2: true });
    const { origin, protocol, hostname, port } = new URL(endpoint.url);
    const socket = await new Promise<Socket>((resolve, reject) => {
      connect({ protocol, hostname, host: hostname, port }, (...[error, made]) => {
        if (error === null) resolve(made);
        else reject(error);
      });
    });
    if ('alpnProtocol' in socket && socket.alpnProtocol !== 'h2') {
      socket.destroy();
      throw new NoGrpc('it does not offer HTTP/2');
    }
    return openGrpcStream(origin, socket, call);
  }

  async #pooled<Told>(
    endpoint: EtcdEndpoint,
    ask: (pool: Dispatcher) => Promise<Told>,
  ): Promise<Told> {
    const name = `${endpoint.url} ${endpoint.serverName ?? ''}`;
    const pool = this.#pools.get(name) ?? this.#openPool(endpoint);
    this.#pools.set(name, pool);
    try {
      return await ask(await pool);
    } catch (error) {
      // The next request reads PEM files anew: what they held may be what was wrong.
      if (this.#pools.get(name) === pool) this.#pools.delete(name);
      void pool.then((opened) => opened.close()).catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#pools.values()].map(async (pool) => (await pool).destroy()));
  }

  async #postAlone(endpoint: EtcdEndpoint, request: Request, signal: AbortSignal): Promise<Answer> {
    const { Client } = await import('../undici.ts');
    let isConnected = false;
    const { origin, options } = await this.#connection(endpoint, () => (isConnected = true));
    const client = new Client(origin, options);
    try {
      return await send(client, endpoint, request, signal);
    } catch (error) {
      // The time may have been over before there was anybody to send it to.
      throw isConnected || error instanceof NotConnected ? error : new NotConnected(error);
    } finally {
      await client.destroy();
    }
  }

  async #openPool(endpoint: EtcdEndpoint): Promise<Dispatcher> {
    const { Pool } = await import('../undici.ts');
    const { origin, options } = await this.#connection(endpoint);
    return new Pool(origin, { ...options, connections: CONNECTIONS_MAX });
  }

  async #connection(endpoint: EtcdEndpoint, onConnected?: () => void): Promise<Connection> {
    const connect = await this.#connector(endpoint, { allowH2: false }, onConnected);
    const rest = { maxHeaderSize: HEADERS_BYTES_MAX, headersTimeout: 0, bodyTimeout: 0 } as const;
    return { origin: new URL(endpoint.url).origin, options: { connect, allowH2: false, ...rest } };
  }

  async #connector(
    { serverName }: EtcdEndpoint,
    spoken: Pick<buildConnector.BuildOptions, 'allowH2' | 'preferH2'>,
    onConnected: () => void = () => undefined,
  ): Promise<buildConnector.connector> {
    const { buildConnector } = await import('../undici.ts');
    const secureContext = await this.#readContext();
    const connector = buildConnector({
      secureContext,
      timeout: CONNECT_TIMEOUT_MS,
      // A session that is taken up again shows no certificate.
      maxCachedSessions: 0,
      ...spoken,
    });
    return (target, done) => {
      const named = serverName === undefined ? target : { ...target, servername: serverName };
      connector(named, (...[error, socket]) => {
        if (error !== null) return done(new NotConnected(error), null);
        onConnected();
        return done(null, socket);
      });
    };
  }

  async #readContext(): Promise<SecureContext> {
    const pem = await readTls(this.#tls);
    try {
      return createSecureContext(pem);
    } catch (cause) {
      const why = `The PEM for etcd is none (${reasonOf(cause)})`;
      const message = `${why}. See that certificate, key and CA are whole and belong together.`;
      throw new Failure('ETCD_ACCESS_UNREADABLE', message, { cause });
    }
  }
}

async function send(
  dispatcher: Dispatcher,
  endpoint: EtcdEndpoint,
  request: Request,
  signal: AbortSignal,
): Promise<Answer> {
  const { bytesMax } = request;
  const reply = await dispatcher.request({ ...dispatched(endpoint, request), signal });
  const text = await readText(reply.body, bytesMax);
  if (text === undefined) throw new TooLarge(bytesMax);
  return { statusCode: reply.statusCode, text };
}

function dispatched(
  endpoint: EtcdEndpoint,
  { path, body, token }: Pick<Request, 'path' | 'body' | 'token'>,
): Dispatcher.RequestOptions {
  const { origin, pathname } = new URL(endpoint.url);
  return {
    method: body === undefined ? 'GET' : 'POST',
    origin,
    path: `${pathname.replace(/\/$/, '')}${path}`,
    headers: {
      'content-type': 'application/json',
      // Without this one etcd takes the common name of its own certificate for our user.
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: token }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}
