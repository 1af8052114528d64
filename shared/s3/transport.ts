// Requests to one bucket: signed by our key and by the hash of what is sent, sent again when a
// failure may pass, and answered within bounds of time and bytes. Two clocks that differ are
// brought together once, by the storage's own.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../clock.ts';
import type { Content } from './content.ts';
import { Failure } from '../errors.ts';
import {
  type About,
  failureFromRefused,
  failureFromTransport,
  isPassing,
  type Refused,
  refusedIn,
} from './errors.ts';
import { Keys } from './keys.ts';
import { openPool, urlOf } from './pool.ts';
import type { S3Settings } from './settings.ts';
import { textWithin } from './text-within.ts';

export interface Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Undefined for the bucket itself. */
  readonly key?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Content;
  /** The request, for whoever reads that it failed. */
  readonly what: string;
  /** Default: whatever failure may pass. `refused`: only when it was certainly not carried out. */
  readonly repeat?: 'refused';
  /** How long an answer may take to begin, or to go on. */
  readonly silenceMs?: number;
}

export interface Answer {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

export interface Streamed {
  readonly headers: Answer['headers'];
  readonly body: Dispatcher.ResponseData['body'];
}

export interface TransportOptions {
  readonly clock?: Clock;
  readonly silenceMs?: number;
}

const SILENCE_MS = 60_000;
/** A page of a list of a thousand keys, each of which is as long as may be and all escapes. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** With the pauses below some twenty seconds: a restart of a gateway, or a moment of SlowDown. */
const TRIES = 8;
const FIRST_PAUSE_MS = 200;
/** S3 takes a quarter of an hour. */
const SKEW_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 10_000;

export class Transport {
  readonly bucket: string;
  readonly endpoint: string;
  readonly #settings: S3Settings;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #keys: Keys;
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  #pool: Promise<Dispatcher> | undefined;
  /** How far the storage's clock is ahead of ours, where it refuses us for it. */
  #aheadMs = 0;
  /** The same, or a moment less, from the last answer. */
  #toldAheadMs: number | undefined;

  constructor(bucket: string, settings: S3Settings, options: TransportOptions = {}) {
    this.bucket = bucket;
    this.#settings = settings;
    this.#clock = options.clock ?? systemClock;
    this.#keys = new Keys(settings.credentials, this.#clock);
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.endpoint = urlOf(settings, bucket).origin;
  }

  /** The time by the storage's clock, or a moment before it; by ours until it has answered. */
  nowMs(): number {
    return this.#clock.nowMs() + (this.#toldAheadMs ?? this.#aheadMs);
  }

  async send(request: Request, signal?: AbortSignal): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const isLast = tries === TRIES;
      const result = await this.#try(request, signal);
      if ('text' in result) return result;
      const { failure, mayPass, isInDoubt } = result;
      if (isLast || !mayPass || (request.repeat === 'refused' && isInDoubt)) throw failure;
      const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
      await this.#clock.sleep(longest * (0.5 + Math.random() / 2), signal);
    }
  }

  /** An answer of any length; who asks for it goes on after what was read when it breaks off. */
  async stream(request: Request, signal?: AbortSignal): Promise<Streamed> {
    const about = this.#about(request);
    const reply = await this.#attempt(request, signal);
    const headers = headersOf(reply);
    if (reply.statusCode < 300) return { headers, body: reply.body };
    const text = await textWithin(reply.body, ANSWER_BYTES_MAX, about);
    throw failureFromRefused(about, refusedIn(reply.statusCode, headers, text));
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#pool?.then((pool) => pool.destroy())]);
  }

  async #try(request: Request, signal: AbortSignal | undefined): Promise<Answer | Missed> {
    const about = this.#about(request);
    let reply;
    let text;
    try {
      reply = await this.#attempt(request, signal);
      text = await textWithin(reply.body, ANSWER_BYTES_MAX, about);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Failure && error.code !== 'S3_UNAVAILABLE') throw error;
      const failure = error instanceof Failure ? error : failureFromTransport(about, error);
      return { failure, mayPass: true, isInDoubt: !isUnsent(error) };
    }
    const headers = headersOf(reply);
    const toldMs = Date.parse(headers['date'] ?? '');
    if (!Number.isNaN(toldMs)) this.#toldAheadMs = toldMs - this.#clock.nowMs();
    // A long request may be answered 200 before it is known how it ends.
    const isError = reply.statusCode >= 300 || /<Error[\s>]/.test(text);
    if (!isError) return { headers, text };
    const statusCode = reply.statusCode < 300 ? 500 : reply.statusCode;
    const refused = refusedIn(statusCode, headers, text);
    const mayPass = isPassing(refused) || this.#setClock(refused, headers);
    const isInDoubt = IN_DOUBT.has(statusCode);
    return { failure: failureFromRefused(about, refused), mayPass, isInDoubt };
  }

  async #attempt(
    request: Request,
    signal: AbortSignal | undefined,
  ): Promise<Dispatcher.ResponseData> {
    signal?.throwIfAborted();
    const { method, key, query = {}, body } = request;
    const url = urlOf(this.#settings, this.bucket, key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = await this.#sign(request, url, signal);
    this.#pool ??= openPool(this.#settings, this.bucket);
    // The next request reads the authority anew: what its file held may be what was wrong.
    this.#pool.catch(() => (this.#pool = undefined));
    const silenceMs = request.silenceMs ?? this.#silenceMs;
    const pool = await this.#pool;
    return pool.request({
      method,
      path: `${url.pathname}${url.search}`,
      headers,
      body: sentOf(body),
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async #sign(
    { method, body, headers = {} }: Request,
    url: URL,
    signal: AbortSignal | undefined,
  ): Promise<Record<string, string>> {
    const credentials = await this.#keys.read(signal);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sha256Of(body).toString('hex') },
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
      service: 's3',
      region: this.#settings.region,
      cache: this.#signingKeys,
      datetime: new Date(this.#clock.nowMs() + this.#aheadMs)
        .toISOString()
        .replaceAll(/[:-]|\.\d{3}/g, ''),
    });
    const signed = Object.fromEntries((await signer.sign()).headers);
    // Pieces have no length of their own.
    if (body === undefined || Buffer.isBuffer(body)) return signed;
    return { ...signed, 'content-length': `${body.sizeBytes}` };
  }

  /** Whether the clocks differed, and no longer do. The answer to a HEAD has no words to say so. */
  #setClock({ statusCode, code }: Refused, headers: Answer['headers']): boolean {
    const isWordless = statusCode === 403 && code === '';
    if ((code !== 'RequestTimeTooSkewed' && !isWordless) || this.#aheadMs !== 0) return false;
    const aheadMs = Date.parse(headers['date'] ?? '') - this.#clock.nowMs();
    if (Number.isNaN(aheadMs) || Math.abs(aheadMs) < SKEW_MS) return false;
    this.#aheadMs = aheadMs;
    return true;
  }

  #about({ what, key }: Request): About {
    const object = key === undefined ? `s3://${this.bucket}` : `s3://${this.bucket}/${key}`;
    return { what, object, endpoint: this.endpoint };
  }
}

/** Not as a stream, which would ask for a piece while the one before is under way. */
function sentOf(body: Request['body']): Buffer | Readable | null {
  if (body === undefined || Buffer.isBuffer(body)) return body ?? null;
  // undici takes what can be iterated, too, and its types do not say so.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return body.pieces() as unknown as Readable;
}

const sha256Of = (body: Request['body'] = Buffer.alloc(0)): Buffer =>
  Buffer.isBuffer(body) ? createHash('sha256').update(body).digest() : body.sha256;

interface Missed {
  readonly failure: Failure;
  readonly mayPass: boolean;
  /** It may have been carried out. */
  readonly isInDoubt: boolean;
}

/** From the storage after it had begun, or from something before it that waited in vain. */
const IN_DOUBT = new Set([500, 502, 504]);

function headersOf({ headers }: Dispatcher.ResponseData): Answer['headers'] {
  const first = ([name, value]: [string, string | string[] | undefined]) =>
    [name, Array.isArray(value) ? value[0] : value] as const;
  return Object.fromEntries(Object.entries(headers).map((each) => first(each)));
}

/** The connection was never made. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function isUnsent(error: unknown): boolean {
  const failed = error instanceof AggregateError ? error.errors[0] : error;
  return failed instanceof Error && 'code' in failed && UNSENT.has(String(failed.code));
}
