// The HTTP server around a function: node's limits and timeouts, and answers for what never
// became a request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Failure } from '../errors.ts';
import { rawProblem } from './problem.ts';
import {
  BODY_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  HEADER_BYTES_MAX,
  KEEP_ALIVE_MS,
  REQUEST_TIMEOUT_MS,
} from './runtime-config.ts';

// Importing node:http evaluates all that it exports, WebSocket among it, and with that undici,
// TLS and HTTP/2: 25 ms and 9 MB of a cold start. Asked for this way it stays what it is.
const { createServer } = process.getBuiltinModule('node:http');

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** How often node looks for connections that are too slow: the precision of the two timeouts. */
const SLOW_CHECK_MS = 1_000;

export class HttpServer {
  readonly #server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: SLOW_CHECK_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
  });

  constructor(listener: Listener) {
    // Beyond a number node drops headers without a word; their size is limited already.
    this.#server.maxHeadersCount = 0;
    this.#server.on('request', listener);
    this.#server.on('checkContinue', (request, response) => {
      // Who asks first and is refused need not send two megabytes in vain.
      if (Number(request.headers['content-length'] ?? 0) <= BODY_BYTES_MAX)
        response.writeContinue();
      listener(request, response);
    });
    this.#server.on('clientError', answerClientError);
  }

  /** Resolves with the port, which is a free one when 0 was asked for. */
  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, () => {
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
}

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

function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // A connection that was reset, or one that already got an answer, takes no second one.
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [reason, make] = clientFailures[error.code ?? ''] ?? ['Bad Request', malformed];
  socket.end(rawProblem(make(), reason));
}

function malformed(): Failure {
  return new Failure('REQUEST_MALFORMED', 'The request is not HTTP/1.1 as its grammar has it.', {
    field: 'request',
  });
}
