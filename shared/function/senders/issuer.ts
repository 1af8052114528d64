// The issuer of tokens that are accepted: the API server, with the name and the keys that it
// publishes. Both are cached for minutes. An unknown key makes them be read again, but not more
// often than a stranger with made-up keys may cost.
import { type JSONWebKeySet, createLocalJWKSet } from 'jose';
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';

/** The JSON at a path of the API server. */
export type ReadApiServer = (path: string, signal: AbortSignal) => Promise<unknown>;

export interface IssuerKeys {
  /** The required `iss` of a token. */
  readonly issuer: string;
  readonly find: ReturnType<typeof createLocalJWKSet>;
  /** A token that was issued later may be signed with a key that is not among them. */
  readonly askedAtMs: number;
}

const DISCOVERY_PATH = '/.well-known/openid-configuration';
/** Discovery may name an address that pods cannot reach; the API server always has them here. */
const KEYS_PATH = '/openid/v1/jwks';

/** A key that was taken back, because it leaked, is believed for so long at most. */
const KEYS_MAX_AGE_MS = 10 * 60_000;
/** For keys that nobody knows: two requests each time are no load for an API server. */
const ASK_AGAIN_MS = 10_000;
/** Two small answers; a sender waits for them, and 5 s is what PingSource and others give. */
const READ_TIMEOUT_MS = 5_000;
export const KEYS_RETRY_AFTER_MS = 5_000;

export class Issuer {
  readonly #read: ReadApiServer;
  readonly #clock: Clock;
  #keys: IssuerKeys | undefined;
  #asking: Promise<IssuerKeys> | undefined;

  constructor(read: ReadApiServer, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  async keys(): Promise<IssuerKeys> {
    const keys = this.#keys;
    const isFresh = keys !== undefined && this.#ageMs(keys) < KEYS_MAX_AGE_MS;
    return isFresh ? keys : this.#ask();
  }

  /** Later ones than `stale`; undefined while it is too early to ask for them. */
  async newerThan(stale: IssuerKeys): Promise<IssuerKeys | undefined> {
    if (this.#keys !== undefined && this.#keys !== stale) return this.#keys;
    return this.#ageMs(stale) < ASK_AGAIN_MS ? undefined : this.#ask();
  }

  #ageMs(keys: IssuerKeys): number {
    return this.#clock.nowMs() - keys.askedAtMs;
  }

  /** One question at a time, for all who wait for its answer. */
  #ask(): Promise<IssuerKeys> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<IssuerKeys> {
    const askedAtMs = this.#clock.nowMs();
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    try {
      const [discovery, keySet] = await Promise.all([
        this.#read(DISCOVERY_PATH, signal),
        this.#read(KEYS_PATH, signal),
      ]);
      this.#keys = { issuer: issuerIn(discovery), find: keysIn(keySet), askedAtMs };
      return this.#keys;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message =
        'Senders cannot be told from strangers now, since the API server does not give the keys ' +
        `that it signs tokens with (${why}): send the event again.`;
      const detail = { retryAfterMs: KEYS_RETRY_AFTER_MS, cause };
      throw new Failure('SENDER_KEYS_UNAVAILABLE', message, detail);
    }
  }
}

function issuerIn(discovery: unknown): string {
  const issuer = isRecord(discovery) ? discovery['issuer'] : undefined;
  if (typeof issuer === 'string' && issuer !== '') return issuer;
  throw new Error(`${DISCOVERY_PATH} names no issuer`);
}

function keysIn(keySet: unknown): IssuerKeys['find'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is checked when taken
  return createLocalJWKSet(keySet as JSONWebKeySet);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
