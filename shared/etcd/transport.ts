// Requests to the JSON gateway that every etcd member serves beside gRPC, over TLS with a client
// certificate where one is given; the next endpoint is asked when one cannot be reached.
import type { Dispatcher } from 'undici';
import { Failure } from '../errors.ts';
import { failureFromAnswer, unavailable } from './errors.ts';
import { type EtcdTls, readTls } from './tls.ts';

export interface EtcdAddress {
  /** Client URLs of members, as `https://10.0.0.1:2379`. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | undefined;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A page of a range takes milliseconds, from a disk that is slow a second. */
const ANSWER_TIMEOUT_MS = 30_000;
/** A member that sends a snapshot reads its whole file, and may have better things to do. */
const SILENCE_MAX_MS = 60_000;
/** One reader: a page is asked for while the one before is counted. */
const CONNECTIONS_MAX = 2;
/** More than the longest page, and far from what would hurt. */
const REFUSAL_BYTES_MAX = 64 * 1024;

export interface Reply {
  readonly endpoint: string;
  readonly body: Dispatcher.ResponseData['body'];
}

export class Transport {
  readonly #address: EtcdAddress;
  readonly #pools = new Map<string, Promise<Dispatcher>>();
  /** The endpoint that answered last. */
  #first = 0;

  constructor(address: EtcdAddress) {
    this.#address = address;
  }

  /** The reply of the first endpoint that can be reached; a refusal throws. */
  async post(path: string, body: object, signal: AbortSignal | undefined): Promise<Reply> {
    const { endpoints } = this.#address;
    const causes: unknown[] = [];
    for (let step = 0; step < endpoints.length; step += 1) {
      const index = (this.#first + step) % endpoints.length;
      const endpoint = endpoints[index] ?? '';
      try {
        const answer = await this.#send(endpoint, path, body, signal);
        this.#first = index;
        if (answer.statusCode === 200) return { endpoint, body: answer.body };
        const text = await readRefusal(answer.body);
        const refusal = { endpoint, path, statusCode: answer.statusCode, text };
        // Another member may have what this one lacks: a leader, or time.
        if (answer.statusCode < 500) throw failureFromAnswer(refusal);
        causes.push(new Error(`${endpoint} answered ${answer.statusCode}: ${text.slice(0, 300)}`));
      } catch (error) {
        if (error instanceof Failure) throw error;
        signal?.throwIfAborted();
        causes.push(error);
      }
    }
    throw unavailable(endpoints, causes.length === 1 ? causes[0] : new AggregateError(causes));
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#pools.values()].map(async (pool) => (await pool).destroy()));
  }

  async #send(
    endpoint: string,
    suffix: string,
    body: object,
    signal: AbortSignal | undefined,
  ): Promise<Dispatcher.ResponseData> {
    const pool = this.#pools.get(endpoint) ?? this.#open(endpoint);
    this.#pools.set(endpoint, pool);
    const path = `${new URL(endpoint).pathname.replace(/\/$/, '')}${suffix}`;
    try {
      return await (
        await pool
      ).request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      this.#forget(endpoint, pool);
      throw error;
    }
  }

  async #open(endpoint: string): Promise<Dispatcher> {
    const [{ Pool }, tls] = await Promise.all([import('./undici.ts'), readTls(this.#address.tls)]);
    return new Pool(new URL(endpoint).origin, {
      connections: CONNECTIONS_MAX,
      allowH2: false,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: SILENCE_MAX_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      connect: tls,
    });
  }

  /** The next request reads the PEM files anew: what they held may be what was wrong. */
  #forget(endpoint: string, pool: Promise<Dispatcher>): void {
    if (this.#pools.get(endpoint) === pool) this.#pools.delete(endpoint);
    // Others may still be reading through it.
    void pool.then((opened) => opened.close()).catch(() => undefined);
  }
}

async function readRefusal(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > REFUSAL_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
