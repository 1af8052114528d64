// The HTTP server around a function: node's limits and timeouts, and answers for what never
// became a request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Failure } from '../errors.ts';
import { rawProblem, sendProblem } from './problem.ts';
import {
  BODY_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  HEADER_BYTES_MAX,
  KEEP_ALIVE_MS,
  PARKED_MS,
  REQUEST_TIMEOUT_MS,
} from './runtime-config.ts';

// Importing node:http evaluates all that it exports, WebSocket among it, and with that undici,
// TLS and HTTP/2: 25 ms and 9 MB of a cold start. Asked for this way it stays what it is.
const { createServer } = process.getBuiltinModule('node:http');
const { Socket } = process.getBuiltinModule('node:net');

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface ServerTimes {
  readonly headersMs: number;
  readonly parkedMs: number;
  /** How often node looks for connections that are too slow: the precision of the timeouts. */
  readonly checkMs: number;
}

const TIMES: ServerTimes = { headersMs: HEADERS_TIMEOUT_MS, parkedMs: PARKED_MS, checkMs: 1_000 };

export class HttpServer {
  readonly #server;
  readonly #listener: Listener;
  readonly #onRefused: (failure: Failure) => void;
  readonly #parkedMs: number;
  /** Connections that were opened in advance and have sent nothing yet. */
  readonly #parked = new Set<Duplex>();

  /** `onRefused` hears of requests that never reach the listener. */
  constructor(listener: Listener, onRefused: (failure: Failure) => void, times = TIMES) {
    this.#listener = listener;
    this.#onRefused = onRefused;
    this.#parkedMs = times.parkedMs;
    this.#server = createServer({
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: times.headersMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: times.checkMs,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Node's own refusal has an empty body.
      requireHostHeader: false,
    });
    // Beyond a number node drops headers without a word; their size is limited already.
    this.#server.maxHeadersCount = 0;
    this.#server.on('request', this.#listen);
    // Node's own refusal has an empty body, and what is expected beyond 100-continue may be
    // ignored.
    this.#server.on('checkExpectation', this.#listen);
    this.#server.on('checkContinue', (request, response) => {
      // Who asks first and is refused need not send two megabytes in vain.
      if (Number(request.headers['content-length'] ?? 0) <= BODY_BYTES_MAX)
        response.writeContinue();
      this.#listen(request, response);
    });
    this.#server.on('clientError', this.#answerClientError);
  }

  /** Resolves with the port, a free one for 0. On all interfaces when no host is given. */
  listen(port: number, host?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        // Text is the address of a pipe, and null of a closed server; neither is what was asked
        // for.
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error(`The server does not listen on a port but on ${address}.`));
      });
    });
  }

  /**
   * Resolves when no connection is left: idle ones end now, the others after their last bytes or
   * with `limit`.
   */
  async close(limit: Promise<void>): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.race([closed, limit]);
    this.#server.closeAllConnections();
    await closed;
  }

  readonly #listen: Listener = (request, response) => {
    if (this.#parked.delete(request.socket)) request.socket.setTimeout(0);
    if (request.headers.host === undefined && request.httpVersionMinor > 0) {
      const message = 'The request has no Host header, which HTTP/1.1 requires; send one.';
      const failure = new Failure('REQUEST_MALFORMED', message, { field: 'host' });
      this.#onRefused(failure);
      sendProblem(response, failure, { connection: 'close' });
    } else this.#listener(request, response);
  };

  readonly #answerClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // A connection that was reset, or one that already got an answer, takes no second one.
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else if (isUnused(socket)) this.#park(socket);
    else {
      const [reason, make] = clientFailures[error.code ?? ''] ?? ['Bad Request', malformed];
      const failure = make();
      this.#onRefused(failure);
      socket.end(rawProblem(failure, reason));
    }
  };

  /**
   * Node counts the time for headers from the moment a connection opens, and from its first byte
   * once more. Closing it early, or with an answer that nobody asked for, would cost the request
   * that its owner is about to write.
   */
  #park(socket: InstanceType<typeof Socket>): void {
    this.#parked.add(socket);
    socket.once('close', () => this.#parked.delete(socket));
    // Node closes the connection without a word when this is over.
    socket.setTimeout(this.#parkedMs);
  }
}

const isUnused = (socket: Duplex): socket is InstanceType<typeof Socket> =>
  socket instanceof Socket && socket.bytesRead === 0;

/**
 * What node could not read as a request. 408 is never said: senders drop the event on it, and try
 * again on 503.
 */
const clientFailures: Readonly<Record<string, readonly [reason: string, make: () => Failure]>> = {
  HPE_HEADER_OVERFLOW: [
    'Request Header Fields Too Large',
    () => {
      const message = `The headers are larger than ${HEADER_BYTES_MAX} bytes together; send less.`;
      return new Failure('HEADERS_TOO_LARGE', message, { field: 'headers' });
    },
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'Service Unavailable',
    () => {
      const seconds = REQUEST_TIMEOUT_MS / 1_000;
      const message = `The request did not arrive within ${seconds} s; repeat it.`;
      return new Failure('REQUEST_TOO_SLOW', message);
    },
  ],
};

function malformed(): Failure {
  return new Failure('REQUEST_MALFORMED', 'The request is not HTTP/1.1 as its grammar has it.', {
    field: 'request',
  });
}
