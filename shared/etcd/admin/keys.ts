// Keys, as far as an operator needs them: a probe that a quorum confirms, a value of its own, the
// number of keys under prefixes, and compaction.
import type { Call, CallOptions, Caller } from './caller.ts';
import { isEtcdFailure } from './failure.ts';
import { endOf, startOf } from '../ranges.ts';
import {
  bytesIn,
  countIn,
  type EtcdHeader,
  type Fields,
  flagIn,
  headerIn,
  listIn,
  Odd,
  revisionIn,
} from './fields.ts';

export interface EtcdValue {
  readonly value: Buffer;
  readonly createRevision: string;
  readonly modRevision: string;
}

export interface Got {
  readonly header: EtcdHeader;
  /** Undefined when there is no such key. */
  readonly found: EtcdValue | undefined;
}

export interface GetOptions extends CallOptions {
  /** As the asked member knows it, maybe late, quorum or not. Default: as a quorum confirms. */
  readonly isSerializable?: boolean;
}

/** The key as it has to be, for a change of it to be made. */
export type Expected =
  | { readonly value: string | Buffer }
  /** `0` when there must be none. */
  | { readonly modRevision: string };

export interface Changed {
  readonly header: EtcdHeader;
  /** False when the key was not as expected: nothing was changed. */
  readonly isDone: boolean;
}

/** The largest value that etcd takes by default, in base64, twice. */
const VALUE_BYTES_MAX = 4 * 1024 * 1024;
/** Keys are short, and one may be as large as a request. */
const HEADS_BYTES_MAX = 16 * 1024 * 1024;
const COMPACT_TIMEOUT_MS = 60_000;
/** Keys of one sample: fewer when they are too large together. */
const SAMPLES = [8, 1];

export class Keys {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The key need not be there: the answer alone says that a quorum stands. */
  get(key: string, { isSerializable = false, ...options }: GetOptions = {}): Promise<Got> {
    const body = { key: base64(key), serializable: isSerializable };
    return this.#caller.ask({ path: RANGE, body, bytesMax: VALUE_BYTES_MAX, read: got }, options);
  }

  put(key: string, value: string | Buffer, options?: CallOptions): Promise<EtcdHeader> {
    const body = { key: base64(key), value: base64(value) };
    return this.#caller.ask({ ...change('/v3/kv/put', body), read: headerIn }, options);
  }

  /** Whether there was one. */
  delete(key: string, options?: CallOptions): Promise<Changed> {
    const call = change('/v3/kv/deleterange', { key: base64(key) });
    const read = (answer: Fields): Changed => ({
      header: headerIn(answer),
      isDone: countIn(answer, 'deleted') > 0,
    });
    return this.#caller.ask({ ...call, read }, options);
  }

  /** Puts the value, or deletes the key without one, when the key is as expected. */
  swap(
    key: string,
    expected: Expected,
    value: string | Buffer | undefined,
    options?: CallOptions,
  ): Promise<Changed> {
    const name = base64(key);
    const compared =
      'value' in expected
        ? { target: 'VALUE', value: base64(expected.value) }
        : { target: 'MOD', mod_revision: expected.modRevision };
    const compare = [{ key: name, result: 'EQUAL', ...compared }];
    const success =
      value === undefined
        ? [{ request_delete_range: { key: name } }]
        : [{ request_put: { key: name, value: base64(value) } }];
    const read = (answer: Fields): Changed => ({
      header: headerIn(answer),
      isDone: flagIn(answer, 'succeeded'),
    });
    return this.#caller.ask({ ...change('/v3/kv/txn', { compare, success }), read }, options);
  }

  /** How many keys begin with the prefix. Nothing of them is sent, however many there are. */
  count(prefix: string, options?: CallOptions): Promise<number> {
    return this.#count(startOf(prefix), endOf(prefix), options);
  }

  /**
   * How many keys there are under each next part of a path: under `/registry/`, those of
   * `/registry/pods/`. One question each; `isWhole` is false when there are more parts than asked
   * for.
   */
  async countParts(
    prefix: string,
    { partsMax, ...options }: CallOptions & { readonly partsMax: number },
  ): Promise<Parts> {
    const parts: Part[] = [];
    const end = endOf(prefix);
    let from = startOf(prefix);
    for (;;) {
      const key = await this.#firstKey(from, end, options);
      if (key === undefined) return { parts, isWhole: true };
      if (parts.length === partsMax) return { parts, isWhole: false };
      const slash = key.indexOf('/', Buffer.byteLength(prefix));
      const part = slash === -1 ? key : key.subarray(0, slash + 1);
      const after = slash === -1 ? Buffer.concat([key, Buffer.of(0)]) : endOf(part);
      const keys = slash === -1 ? 1 : await this.#count(part, after, options);
      parts.push({ prefix: part.toString('utf8'), keys });
      from = after;
    }
  }

  /**
   * How many bytes a key with its value takes on average, of the first ones under the prefix: a
   * page of few, and of one where they are large. Undefined when none could be read.
   */
  async sampleBytes(prefix: string, options: CallOptions = {}): Promise<number | undefined> {
    for (const limit of SAMPLES) {
      try {
        return await this.#averageOf(prefix, limit, options);
      } catch (error) {
        // More than an answer may have.
        if (!isEtcdFailure(error, 'NOT_ETCD')) throw error;
      }
    }
    return undefined;
  }

  /** So many keys from the one on, each without its value; as of a revision where one is given. */
  heads(
    { from, limit, revision = '0' }: HeadsOf,
    options?: CallOptions,
  ): Promise<readonly KeyHead[]> {
    const key = base64(from.length === 0 ? startOf('') : from);
    const body = { key, range_end: base64(endOf('')), limit, revision, keys_only: true };
    const read = (answer: Fields): readonly KeyHead[] => listIn(answer, 'kvs', limit, head);
    return this.#caller.ask({ path: RANGE, body, bytesMax: HEADS_BYTES_MAX, read }, options);
  }

  /** Whether a compaction has forgotten what was at this revision. */
  async isForgotten(revision: string, options: CallOptions = {}): Promise<boolean> {
    const body = { key: base64(startOf('')), revision, count_only: true };
    try {
      await this.#caller.ask({ path: RANGE, body, read: headerIn }, options);
      return false;
    } catch (error) {
      if (isEtcdFailure(error, 'COMPACTED')) return true;
      if (isEtcdFailure(error, 'FUTURE_REVISION')) return false;
      throw error;
    }
  }

  async #averageOf(prefix: string, limit: number, options: CallOptions): Promise<number> {
    const range = { key: base64(startOf(prefix)), range_end: base64(endOf(prefix)), limit };
    const read = (answer: Fields): number => {
      const sizes = listIn(answer, 'kvs', limit, (item) =>
        ['key', 'value'].reduce((sum, field) => sum + bytesIn(item, field).length, 0),
      );
      return sizes.length === 0 ? 0 : sizes.reduce((sum, one) => sum + one, 0) / sizes.length;
    };
    const body = { ...range, serializable: true };
    return this.#caller.ask({ path: RANGE, body, bytesMax: VALUE_BYTES_MAX, read }, options);
  }

  /** Forgets what was before the revision; with `isPhysical` returns once that is off the disk. */
  async compact(
    revision: string,
    { isPhysical = false, ...options }: CallOptions & { readonly isPhysical?: boolean } = {},
  ): Promise<void> {
    const call = change('/v3/kv/compaction', { revision, physical: isPhysical });
    const timed = { timeoutMs: COMPACT_TIMEOUT_MS, ...options };
    await this.#caller.ask({ ...call, read: headerIn }, timed);
  }

  #count(key: Buffer, end: Buffer, options: CallOptions | undefined): Promise<number> {
    const body = { key: base64(key), range_end: base64(end), count_only: true };
    const read = (answer: Fields): number => countIn(answer, 'count');
    return this.#caller.ask({ path: RANGE, body, read }, options);
  }

  #firstKey(key: Buffer, end: Buffer, options: CallOptions): Promise<Buffer | undefined> {
    const body = { key: base64(key), range_end: base64(end), limit: 1, keys_only: true };
    const read = (answer: Fields): Buffer | undefined => {
      const [first] = listIn(answer, 'kvs', 1, (item) => bytesIn(item, 'key'));
      // One that is not in the range would be asked for without end.
      if (first !== undefined && first.compare(key) < 0) throw new Odd('key');
      return first;
    };
    return this.#caller.ask({ path: RANGE, body, read }, options);
  }
}

export interface HeadsOf {
  readonly from: Buffer;
  readonly limit: number;
  readonly revision?: string;
}

/** All of a key but its value, which its newest change tells from every other one. */
export interface KeyHead {
  readonly key: Buffer;
  readonly createRevision: string;
  readonly modRevision: string;
  readonly version: string;
  readonly lease: string;
}

const head = (item: Fields): KeyHead => ({
  key: bytesIn(item, 'key'),
  createRevision: revisionIn(item, 'create_revision'),
  modRevision: revisionIn(item, 'mod_revision'),
  version: revisionIn(item, 'version'),
  lease: revisionIn(item, 'lease'),
});

export interface Part {
  readonly prefix: string;
  readonly keys: number;
}

export interface Parts {
  readonly parts: readonly Part[];
  readonly isWhole: boolean;
}

const RANGE = '/v3/kv/range';

const change = (path: string, body: object): Omit<Call<never>, 'read'> => ({
  path,
  body,
  isChange: true,
});

const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64');

function got(answer: Fields): Got {
  const [found] = listIn(answer, 'kvs', 1, (item) => ({
    value: bytesIn(item, 'value'),
    createRevision: revisionIn(item, 'create_revision'),
    modRevision: revisionIn(item, 'mod_revision'),
  }));
  return { header: headerIn(answer), found };
}
