// The HTTP server around a function: node's limits and timeouts, answers for what never became a
// request, and exactly one answer for each that did.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { systemClock } from '../clock.ts';
import type { Failure } from '../errors.ts';
import { Answer, isWhole, lastOf, noteAnswer } from './answer.ts';
import { assertHost } from './headers.ts';
import { failureOf, rawProblem, sendProblem } from './problem.ts';
import {
  HEADERS_TIMEOUT_MS,
  HEADER_BYTES_MAX,
  KEEP_ALIVE_MS,
  LINGER_MS,
  PARKED_MS,
  UNREAD_MS,
} from './runtime-config.ts';
import { unreadable } from './unreadable.ts';

// Importing node:http evaluates all that it exports, WebSocket among it, and with that undici,
// TLS and HTTP/2: 25 ms and 9 MB of a cold start. Asked for this way it stays what it is.
const http = process.getBuiltinModule('node:http');
const { Server: NetServer, Socket } = process.getBuiltinModule('node:net');
type Socket = InstanceType<typeof Socket>;

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface ServerTimes {
  readonly headersMs: number;
  readonly parkedMs: number;
  /** How often node looks for connections that are too slow: the precision of the timeouts. */
  readonly checkMs: number;
  /** How long a connection is read to nowhere after an answer that came before the whole body. */
  readonly lingerMs: number;
  /** How often it is asked whether a caller that sends no more still listens. */
  readonly askMs: number;
  /** How long a caller may take nothing of an answer that is on its way. */
  readonly unreadMs: number;
}

const TIMES: ServerTimes = {
  headersMs: HEADERS_TIMEOUT_MS,
  parkedMs: PARKED_MS,
  checkMs: 1_000,
  lingerMs: LINGER_MS,
  askMs: 2_000,
  unreadMs: UNREAD_MS,
};

/** Requests on one connection that were sent without waiting for an answer. */
const AHEAD_MAX = 32;
/** How often it is looked at connections while the server closes. */
const POLL_MS = 10;
/** The slowest of many senders has come by then, also on a busy machine. */
const HUSH_MS = 200;
const HUSH_MAX_MS = 1_000;

export class HttpServer {
  readonly #server;
  readonly #listener: Listener;
  readonly #onRefused: (failure: Failure) => void;
  readonly #times: ServerTimes;
  /** Connections that were opened in advance and have sent nothing yet. */
  readonly #parked = new Set<Duplex>();
  /** Connections that have not brought a request yet. */
  readonly #fresh = new Set<Duplex>();
  #acceptedMs = 0;
  /** While the port is about to close: what came meanwhile. */
  #held: (() => void)[] | undefined;
  /** How many requests of a connection came before the answers to those before them. */
  readonly #ahead = new WeakMap<Duplex, number>();
  /** Connections of which nothing more is taken. */
  readonly #leaving = new WeakSet<Duplex>();

  /** `onRefused` hears of requests that never reach the listener. */
  constructor(listener: Listener, onRefused: (failure: Failure) => void, times = TIMES) {
    this.#listener = listener;
    this.#onRefused = onRefused;
    this.#times = times;
    this.#server = http.createServer({
      ServerResponse: Answer,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: times.headersMs,
      // Bodies have their time in the intake, where one answer to each request is seen to.
      requestTimeout: 0,
      connectionsCheckingInterval: times.checkMs,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Node's own refusal has an empty body.
      requireHostHeader: false,
    });
    // A client may close its half after its last request, and still gets the answer.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    // Beyond a number node drops headers without a word; their size is limited already.
    this.#server.maxHeadersCount = 0;
    this.#server.timeout = times.unreadMs;
    this.#server.on('timeout', this.#endStill);
    this.#server.on('request', this.#listen);
    // Node's own refusal has an empty body, and what is expected beyond 100-continue may be
    // ignored.
    this.#server.on('checkExpectation', this.#listen);
    this.#server.on('checkContinue', (request, response) => {
      // Once somebody reads it: who asks first and is refused sends megabytes to nobody.
      request.once('resume', () => {
        if (!response.headersSent && !isWhole(request)) response.writeContinue();
      });
      this.#listen(request, response);
    });
    this.#server.on('clientError', this.#answerClientError);
    this.#server.on('connection', this.#welcome);
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
   * Resolves when no connection is left: idle ones end as soon as all that were accepted have
   * brought what they came with, the others after their last bytes or with the end of `limit`.
   * Where nobody came since `sinceMs` nobody else is expected.
   */
  async close(sinceMs: number, limit: () => Promise<void>): Promise<void> {
    const answerHeld = this.#hold();
    if (this.#acceptedMs > sinceMs) await this.#hush();
    // Not the server's own, which ends idle connections first, with requests on their way in.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    answerHeld();
    const isOver = new AbortController();
    const over = limit().then(() => isOver.abort());
    while (this.#fresh.size > this.#parked.size && !isOver.signal.aborted) {
      await systemClock.sleep(POLL_MS);
    }
    this.#server.close();
    await Promise.race([closed, over]);
    this.#server.closeAllConnections();
    await closed;
  }

  /** From now on requests wait for their answers, until somebody says so. */
  #hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      for (const listen of held) listen();
    };
  }

  /**
   * When the port closes, the kernel resets connections that wait to be accepted. Answers are held
   * back meanwhile: senders that wait for one open no further connections.
   */
  async #hush(): Promise<void> {
    const endsAtMs = systemClock.nowMs() + HUSH_MAX_MS;
    while (systemClock.nowMs() < Math.min(this.#acceptedMs + HUSH_MS, endsAtMs)) {
      await systemClock.sleep(POLL_MS);
    }
  }

  readonly #welcome = (socket: Socket): void => {
    this.#acceptedMs = systemClock.nowMs();
    this.#fresh.add(socket);
    socket.once('close', () => this.#fresh.delete(socket));
    socket.once('end', () => void this.#askWhetherGone(socket));
    // Node calls it after the last answer of a connection.
    socket.destroySoon = () => this.#leave(socket);
  };

  /**
   * A connection that is closed while its sender still writes is reset, and with it goes the answer
   * that he has not read.
   */
  #leave(socket: Socket): void {
    const last = lastOf(socket);
    if (last === undefined || isWhole(last.req)) {
      Socket.prototype.destroySoon.call(socket);
      return;
    }
    this.#leaving.add(socket);
    this.#linger(socket);
  }

  /** Says nothing more after these words, and reads to nowhere for as long as it may take. */
  #linger(socket: Duplex, words = ''): void {
    socket.end(words);
    const closed = new AbortController();
    socket.once('close', () => closed.abort());
    systemClock.sleep(this.#times.lingerMs, closed.signal).then(
      () => socket.destroy(),
      () => undefined,
    );
  }

  /**
   * A client that closed its half may be gone. A write to it then comes back as a reset, and work
   * for nobody ends. An interim answer is the one thing that may be written before the answer.
   */
  async #askWhetherGone(socket: Socket): Promise<void> {
    const last = lastOf(socket);
    if (last === undefined || last.req.httpVersionMinor === 0) return;
    const closed = new AbortController();
    last.once('close', () => closed.abort());
    while (!last.headersSent && !last.closed) {
      await systemClock.sleep(this.#times.askMs, closed.signal).catch(() => undefined);
      if (!last.headersSent && !last.closed) last.writeProcessing();
    }
  }

  /**
   * Nothing moved on a connection for its time. A client whose request is in work may wait in
   * silence; any other one does not read, and its answer would stay in memory for ever.
   */
  readonly #endStill = (socket: Socket): void => {
    if (lastOf(socket)?.writableEnded === false) socket.setTimeout(this.#times.unreadMs);
    else socket.destroy();
  };

  readonly #listen: Listener = (request, response) => {
    const { socket } = request;
    // Bytes after the last answer are no request.
    if (this.#leaving.has(socket)) return;
    this.#fresh.delete(socket);
    if (this.#parked.delete(socket)) socket.setTimeout(this.#times.unreadMs);
    this.#countAhead(socket, response);
    noteAnswer(socket, response);
    try {
      assertHost(request);
    } catch (thrown) {
      const failure = failureOf(thrown);
      this.#onRefused(failure);
      sendProblem(response, failure, { connection: 'close' });
      return;
    }
    if (this.#held === undefined) this.#listener(request, response);
    else this.#held.push(() => this.#listener(request, response));
  };

  /** Thousands may come in one packet: the last that is answered says that it was the last. */
  #countAhead(socket: Socket, response: ServerResponse): void {
    const ahead = lastOf(socket) === undefined ? 0 : (this.#ahead.get(socket) ?? 0) + 1;
    this.#ahead.set(socket, ahead);
    if (ahead < AHEAD_MAX) return;
    response.shouldKeepAlive = false;
    this.#leaving.add(socket);
  }

  readonly #answerClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // The connection has its last answer, or will have it, and ends by itself.
    if (this.#leaving.has(socket) && error.code !== 'ECONNRESET') return;
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else if (isUnused(socket)) this.#park(socket);
    else this.#answerUnreadable(error, socket);
  };

  #answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    const { reason, failure } = unreadable(error.code);
    const last = lastOf(socket);
    if (last !== undefined && !isWhole(last.req)) {
      // It is the rest of that request, whose one answer says so, unless it was given before.
      if (!last.headersSent) last.emit('broken', failure);
      return;
    }
    this.#leaving.add(socket);
    const answer = (): void => {
      if (!socket.writable) return;
      this.#onRefused(failure);
      this.#linger(socket, rawProblem(failure, reason));
    };
    // Else the sender would take it for the answer to an earlier request.
    if (last === undefined || last.closed) answer();
    else last.once('close', answer);
  }

  /**
   * Node counts the time for headers from the moment a connection opens, and from its first byte
   * once more. Closing it early, or with an answer that nobody asked for, would cost the request
   * that its owner is about to write.
   */
  #park(socket: Socket): void {
    this.#parked.add(socket);
    socket.once('close', () => this.#parked.delete(socket));
    // Closed without a word when this is over.
    socket.setTimeout(this.#times.parkedMs);
  }
}

const isUnused = (socket: Duplex): socket is Socket =>
  socket instanceof Socket && socket.bytesRead === 0;
