// One connection to one NATS server that may be anybody: what it sends is bounded in every way
// before it is kept. The `nats` client has no such bounds: it keeps a message of any size, and all
// of them. Made for questions over the system account; every wait ends.
import { randomBytes } from 'node:crypto';
import { createConnection, type Socket } from 'node:net';
import { connect as secured } from 'node:tls';
import { isRecord } from './record.ts';
import type { Allowance, Holder } from './allowance.ts';
import { Frames, type Payload } from './frames.ts';

export interface Login {
  readonly user: string;
  readonly password: string;
  /** Shown by `nats server list connections`. */
  readonly name: string;
  readonly tls?: { readonly ca: string; readonly servername: string } | undefined;
}

/** The server answers, and does not accept the password. */
export class LoginRefused extends Error {}

/** The payload; undefined when it was too large, and `nobody` when nobody takes the subject. */
export type Reply = Buffer | 'nobody' | undefined;
/** Whether it was the last one that is waited for. */
type Take = (reply: Reply) => boolean;

interface OpenRequest {
  readonly take: Take;
  readonly done: PromiseWithResolvers<void>;
}

export interface Question {
  readonly subject: string;
  readonly body: object;
  readonly withinMs: number;
}

/** Bytes that one server may send while one connection lasts. */
const RECEIVED_BYTES_MAX = 64 * 2 ** 20;
/** A look takes some hundred; short ones without end, such as PING, would cost more than bytes. */
const LINES_MAX = 1_000;
const SUBJECT = /^[^\s\p{C}]+$/u;

export class BoundedConnection implements Holder {
  readonly #allowance: Allowance;
  readonly #requests = new Map<string, OpenRequest>();
  #socket: Socket;
  #frames = new Frames(this.#sink());
  #received = 0;
  #lines = 0;
  #count = 0;
  #failure: Error | undefined;
  #info = Promise.withResolvers<Record<string, unknown>>();
  #pong = Promise.withResolvers<void>();

  private constructor(socket: Socket, allowance: Allowance) {
    this.#socket = socket;
    this.#allowance = allowance;
    for (const { promise } of [this.#info, this.#pong]) void promise.catch(() => undefined);
    this.#listen();
  }

  /** `10.0.0.1:4222`. */
  static async open(
    address: string,
    login: Login,
    allowance: Allowance,
    signal: AbortSignal,
  ): Promise<BoundedConnection> {
    const { hostname, port } = new URL(`nats://${address}`);
    const host = hostname.replaceAll(/^\[|\]$/g, '');
    const socket = createConnection({ host, port: Number(port), noDelay: true });
    const connection = new BoundedConnection(socket, allowance);
    const onAbort = (): void => connection.#fail(new Error('it does not answer in time'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await connection.#login(login);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #login({ user, password: pass, name, tls }: Login): Promise<void> {
    const info = await this.#info.promise;
    if (tls !== undefined) await this.#secure(info, tls);
    else if (info['tls_required'] === true) throw new Error('it speaks TLS alone');
    const options = { user, pass, name, lang: 'node', version: '1', protocol: 1, verbose: false };
    const more = { pedantic: false, headers: true, no_responders: true };
    this.#socket.write(`CONNECT ${JSON.stringify({ ...options, ...more })}\r\nPING\r\n`);
    await this.#pong.promise;
  }

  /** The password goes nowhere before. */
  async #secure(
    info: Record<string, unknown>,
    { ca, servername }: NonNullable<Login['tls']>,
  ): Promise<void> {
    if (info['tls_required'] !== true && info['tls_available'] !== true) {
      throw new Error('it does not speak TLS');
    }
    const plain = this.#socket.removeAllListeners();
    const socket = secured({ socket: plain, ca, servername });
    this.#socket = socket;
    this.#frames = new Frames(this.#sink());
    const ready = Promise.withResolvers<void>();
    socket.once('secureConnect', () => ready.resolve());
    plain.on('error', (error) => this.#fail(error));
    socket.on('close', () => ready.reject(this.#failure ?? new Error('it closed the connection')));
    this.#listen();
    await ready.promise;
  }

  #listen(): void {
    this.#socket.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('it closed the connection')));
  }

  #take(bytes: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#received += bytes.length;
    try {
      if (this.#received > RECEIVED_BYTES_MAX) throw new Error('it sends without end');
      this.#frames.feed(bytes);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #sink() {
    return {
      line: (text: string) => this.#line(text),
      payload: (of: Payload, bytes: Buffer | undefined) => this.#payload(of, bytes),
      kept: (bytes: number) => this.keep(bytes),
    };
  }

  #line(text: string): Payload | undefined {
    this.#lines += 1;
    if (this.#lines > LINES_MAX) throw new Error('it sends without end');
    const [verb = '', ...args] = text.split(/[ \t]+/, 6);
    switch (verb.toUpperCase()) {
      case 'INFO':
        this.#info.resolve(infoIn(text));
        return undefined;
      case 'PING':
        this.#socket.write('PONG\r\n');
        return undefined;
      case 'PONG':
        this.#pong.resolve();
        return undefined;
      case '+OK':
        return undefined;
      case '-ERR':
        throw errorIn(text);
      case 'MSG':
        return announced(args[1], 0, args.at(-1));
      case 'HMSG':
        return announced(args[1], Number(args.at(-2)), args.at(-1));
      default:
        throw new Error('it does not speak as a NATS server does');
    }
  }

  #payload({ subscription, headerBytes, bytes: size }: Payload, bytes: Buffer | undefined): void {
    // The connection may have been evicted while the message arrived.
    if (this.#failure !== undefined) return;
    const open = this.#requests.get(subscription);
    const header = bytes?.subarray(0, headerBytes).toString() ?? '';
    const isNobody = header.startsWith('NATS/1.0 503');
    const isLast = open?.take(isNobody ? 'nobody' : bytes?.subarray(headerBytes));
    if (bytes !== undefined) this.#allowance.release(this, size + 2);
    if (isLast !== true) return;
    this.#requests.delete(subscription);
    open?.done.resolve();
  }

  /** Until the last answer that is waited for, or the time is over. */
  async ask({ subject, body, withinMs }: Question, signal: AbortSignal, take: Take): Promise<void> {
    signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    if (!SUBJECT.test(subject)) throw new Error('no NATS subject has blanks');
    this.#count += 1;
    const id = String(this.#count);
    const inbox = `_INBOX.${randomBytes(12).toString('hex')}`;
    const done = Promise.withResolvers<void>();
    this.#requests.set(id, { take, done });
    const onAbort = (): void => done.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const late = AbortSignal.timeout(withinMs);
    late.addEventListener('abort', () => done.resolve(), { once: true });
    const payload = JSON.stringify(body);
    const bytes = Buffer.byteLength(payload);
    this.#socket.write(`SUB ${inbox} ${id}\r\nPUB ${subject} ${inbox} ${bytes}\r\n${payload}\r\n`);
    try {
      await done.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#requests.delete(id);
      if (this.#failure === undefined) this.#socket.write(`UNSUB ${id}\r\n`);
    }
  }

  /**
   * Counts the memory of a parsed answer. A failed connection has released everything, and must
   * count nothing more.
   */
  keep(bytes: number): void {
    if (this.#failure === undefined) this.#allowance.hold(this, bytes);
    if (this.#failure !== undefined) throw this.#failure;
  }

  evict(): void {
    this.#fail(new Error('it sends more than anybody else, and more than there is room for'));
  }

  close(): void {
    this.#fail(new Error('the connection is closed'));
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#socket.destroy();
    this.#allowance.release(this);
    this.#info.reject(error);
    this.#pong.reject(error);
    for (const { done } of this.#requests.values()) done.reject(error);
  }
}

function infoIn(text: string): Record<string, unknown> {
  try {
    const info: unknown = JSON.parse(text.slice('INFO'.length));
    if (isRecord(info)) return info;
  } catch {
    // It is none.
  }
  throw new Error('it does not speak as a NATS server does');
}

/** As `-ERR 'Authorization Violation'`. */
function errorIn(text: string): Error {
  const why = text
    .slice('-ERR'.length, WHY_MAX)
    .replaceAll(/^[\s']+|[\s'\p{C}]+/gu, ' ')
    .trim();
  return /authorization|authentication/i.test(why) ? new LoginRefused(why) : new Error(why);
}

const WHY_MAX = 200;

function announced(subscription = '', headerBytes: number, size = ''): Payload {
  const bytes = /^\d{1,12}$/.test(size) ? Number(size) : Number.NaN;
  const isPossible = bytes >= headerBytes && headerBytes >= 0;
  if (!isPossible) throw new Error('it announces a message of no size');
  return { subscription, headerBytes, bytes };
}
