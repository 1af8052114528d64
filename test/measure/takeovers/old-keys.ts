// Many keys in an etcd, some of them with leases, and what is known of each: whoever is led over
// has to find them as they were, with both revisions.
import { base64, type LegacyClient } from '../../integration/takeover/legacy-client.ts';

const IN_ONE_CHANGE = 100;
const IN_ONE_ANSWER = 2_000;
/** One in so many has a lease. */
const LEASED = 10;
const LEASE_SECONDS = 86_400;
const VALUE_BYTES = 100;

interface Stored {
  readonly key: string;
  readonly create_revision?: string;
  readonly mod_revision?: string;
  readonly version?: string;
  readonly lease?: string;
  readonly value?: string;
}

export class OldKeys {
  readonly #client: LegacyClient;
  readonly #url: string;
  readonly #prefix: string;

  /** Those that begin with `prefix`, which ends with a slash. */
  constructor(client: LegacyClient, url: string, prefix: string) {
    this.#client = client;
    this.#url = url;
    this.#prefix = prefix;
  }

  async fill(count: number): Promise<void> {
    const lease = await this.#ask('lease/grant', { TTL: LEASE_SECONDS });
    for (let from = 0; from < count; from += IN_ONE_CHANGE) {
      const size = Math.min(IN_ONE_CHANGE, count - from);
      const success = Array.from({ length: size }, (_, at) => {
        const number = from + at;
        const held = number % LEASED === 0 ? { lease: Object(lease).ID } : {};
        const value = base64(String(number).padEnd(VALUE_BYTES, '.'));
        const key = base64(`${this.#prefix}${String(number).padStart(9, '0')}`);
        return { request_put: { key, value, ...held } };
      });
      await this.#ask('kv/txn', { success });
    }
  }

  /** By key: all that is known of it. */
  async read(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let from = base64(this.#prefix);
    for (let isMore = true; isMore;) {
      const body = { key: from, range_end: base64(behind(this.#prefix)), limit: IN_ONE_ANSWER };
      const page = Object(await this.#ask('kv/range', body)) as {
        readonly kvs?: readonly Stored[];
        readonly more?: boolean;
      };
      for (const { key, ...rest } of page.kvs ?? []) found.set(key, told(rest));
      const last = Buffer.from(page.kvs?.at(-1)?.key ?? '', 'base64');
      from = Buffer.concat([last, Buffer.from([0])]).toString('base64');
      isMore = page.more === true;
    }
    return found;
  }

  #ask(path: string, body: object): Promise<unknown> {
    return this.#client.ask(this.#url, path, body);
  }
}

/** The first key behind all of them. */
const behind = (prefix: string): string => prefix.replace(/\/$/, '0');

const told = ({ create_revision, mod_revision, version, lease, value }: Omit<Stored, 'key'>) =>
  [create_revision, mod_revision, version, lease, value].join(' ');
