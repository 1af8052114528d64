// A client of a running etcd, read-only: the keys under prefixes as of one revision, page by page,
// and its whole database as a snapshot file. Opening it calls nobody.
import type { EtcdEntries, EtcdEntry } from './entry.ts';
import { readText } from './bounded.ts';
import { Failure } from '../errors.ts';
import { brokenAnswer, unavailable } from './errors.ts';
import { saveSnapshot, type Saved, type SaveOptions } from './save.ts';
import { endOf, startOf } from './ranges.ts';
import type { TlsFiles } from './tls.ts';
import { type EtcdAddress, Transport } from './transport.ts';

export interface ReadOptions {
  /** From `revision()`: all pages are of this moment. */
  readonly revision: string;
  readonly signal?: AbortSignal | undefined;
}

/** A page is about this large, whatever its values are: a few milliseconds to send and to parse. */
const PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_KEYS_FIRST = 100;
const PAGE_KEYS_MAX = 2_000;
/**
 * The size of a page is a guess from the values before it, and the next ones may be a thousand
 * times as large.
 */
const PAGE_BYTES_MAX = 32 * 1024 * 1024;
/** A page that is larger is asked for again with so many times fewer keys. */
const FEWER = 8;
/** A single key in base64: far more than etcd can be configured to take. */
const VALUE_BYTES_MAX = 256 * 1024 * 1024;

export function openEtcd(address: EtcdAddress): EtcdClient {
  return new EtcdClient(address);
}

type Config = TlsFiles & Pick<EtcdAddress, 'endpoints'>;

/** The etcd that a configuration names, or none where it names none. */
export const etcdIn = ({ endpoints, ...tls }: Config): EtcdClient | undefined =>
  endpoints.length === 0 ? undefined : openEtcd({ endpoints, tls });

export class EtcdClient {
  /** Client URLs of members, as they were given. */
  readonly endpoints: readonly string[];
  readonly #transport: Transport;

  constructor(address: EtcdAddress) {
    this.endpoints = address.endpoints;
    this.#transport = new Transport(address);
  }

  /** The newest revision, told by a majority of the members. */
  async revision(signal?: AbortSignal): Promise<string> {
    const range = { key: startOf('').toString('base64'), limit: 1, keys_only: true };
    const { endpoint, page } = await this.#range(range, signal);
    if (page === undefined) throw brokenAnswer(endpoint, 'a key without end');
    return page.revision;
  }

  /** Throws ETCD_COMPACTED when etcd forgets the revision before the last page. */
  async *entries(prefixes: readonly string[], options: ReadOptions): EtcdEntries {
    for (const prefix of prefixes) yield* this.#under(prefix, options);
  }

  /** Streams the database of one member into a file and holds it against etcd's own hash. */
  async save(path: string, options: SaveOptions = {}): Promise<Saved> {
    const reply = await this.#transport.post('/v3/maintenance/snapshot', {}, options.signal);
    return saveSnapshot(reply, path, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async *#under(prefix: string, { revision, signal }: ReadOptions): EtcdEntries {
    let key = startOf(prefix);
    let limit = PAGE_KEYS_FIRST;
    const range_end = endOf(prefix).toString('base64');
    for (;;) {
      const range = { key: key.toString('base64'), range_end, revision, limit };
      const { endpoint, page } = await this.#range(range, signal);
      if (page === undefined) {
        if (limit === 1) throw brokenAnswer(endpoint, 'a value without end');
        limit = Math.ceil(limit / FEWER);
        continue;
      }
      yield page.entries;
      const last = page.lastKey;
      if (!page.hasMore || last === undefined) return;
      // The next key there can be.
      key = Buffer.concat([last, Buffer.of(0)]);
      limit = nextLimit(page.entries);
    }
  }

  /** Without a page when that is larger than one may be. */
  async #range(
    range: { readonly limit: number },
    signal: AbortSignal | undefined,
  ): Promise<{ readonly endpoint: string; readonly page: Page | undefined }> {
    const { endpoint, body } = await this.#transport.post('/v3/kv/range', range, signal);
    try {
      const text = await readText(body, range.limit === 1 ? VALUE_BYTES_MAX : PAGE_BYTES_MAX);
      return { endpoint, page: text === undefined ? undefined : readPage(endpoint, text) };
    } catch (error) {
      signal?.throwIfAborted();
      // The member went away in the middle of its answer.
      throw error instanceof Failure ? error : unavailable([endpoint], error);
    }
  }
}

interface Page {
  readonly revision: string;
  readonly hasMore: boolean;
  readonly entries: readonly EtcdEntry[];
  readonly lastKey: Buffer | undefined;
}

/** protobuf's JSON: numbers of 64 bits are texts, and what is zero or empty is left out. */
interface RangeResponse {
  readonly header?: { readonly revision?: string };
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
  readonly more?: boolean;
}

function readPage(endpoint: string, text: string): Page {
  let response: RangeResponse;
  try {
    response = JSON.parse(text);
  } catch (cause) {
    throw brokenAnswer(endpoint, 'no JSON', cause);
  }
  const { header, kvs = [], more = false } = response;
  if (header?.revision === undefined) throw brokenAnswer(endpoint, 'no revision in it');
  const last = kvs.at(-1);
  if (more && last === undefined) throw brokenAnswer(endpoint, 'more keys, and none of them');
  return {
    revision: header.revision,
    hasMore: more,
    lastKey: last === undefined ? undefined : Buffer.from(last.key, 'base64'),
    entries: kvs.map(({ key, value = '' }) => {
      const head = Buffer.from(value, 'base64');
      const name = Buffer.from(key, 'base64').toString('utf8');
      return { key: name, head, sizeBytes: head.length, whole: () => head };
    }),
  };
}

function nextLimit(entries: readonly EtcdEntry[]): number {
  const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 1);
  const fits = Math.floor((PAGE_BYTES * entries.length) / sizeBytes);
  return Math.min(Math.max(fits, 1), PAGE_KEYS_MAX);
}
