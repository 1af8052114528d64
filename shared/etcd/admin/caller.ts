// Calls to a cluster: members are asked in turn until one answers, every call ends in time, and a
// login is renewed when etcd no longer knows its token.
import {
  type EtcdFailure,
  failureFromOdd,
  failureFromRefusal,
  failureFromTransport,
  failureOfAll,
  isEtcdFailure,
} from './failure.ts';
import { systemClock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import { readText } from '../bounded.ts';
import type { Reply } from '../transport.ts';
import { type Fields, isFields, Odd, textIn } from './fields.ts';
import { type EtcdEndpoint, type Gateway, NotConnected, TooLarge } from './gateway.ts';
import { openMessages } from './messages.ts';
import { postAtRoot } from './root.ts';

export interface CallOptions {
  /** How long until the call fails; each has a default of its own. */
  readonly timeoutMs?: number | undefined;
  /** A change that is aborted may have been made all the same. */
  readonly signal?: AbortSignal | undefined;
}

export interface EtcdLogin {
  readonly user: string;
  readonly password: string;
}

export interface Call<Told> {
  readonly path: string;
  /** Null for a GET, which the gateway has none of. */
  readonly body?: object | null;
  /** A change goes to the first member that takes a connection, once. */
  readonly isChange?: boolean;
  readonly bytesMax?: number;
  readonly read: (answer: Fields) => Told;
}

/** etcd ends a request of its own after 5 s and two elections. */
const TIMEOUT_MS = 10_000;
/** A follower that is well applies what the leader has within milliseconds. */
const HEARS_TRIES = 10;
const HEARS_PAUSE_MS = 50;
const IN_TIME = [() => true, () => false] as const;
/** Ten times what the hash of a password takes; one that is silent leaves time for another. */
const LOGIN_MS = 2_000;
/** A member that sends a snapshot reads its whole file, and may have better things to do. */
const SILENCE_MAX_MS = 60_000;
/** Far more than a list of members or a status has. */
const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * The token of a login, shared by all that ask the same cluster. A login costs a member a tenth of
 * a second of processor time, so a session may be kept between two that ask.
 */
export class Session {
  readonly login: EtcdLogin | undefined;
  #token: string | undefined;
  #renewing: Promise<void> | undefined;

  constructor(login: EtcdLogin | undefined) {
    this.login = login;
  }

  get token(): string | undefined {
    return this.#token;
  }

  /** One login for all who find at once that the token `before` is no longer known. */
  async renew(before: string | undefined, authenticate: () => Promise<string>): Promise<void> {
    if (this.#token !== before) return;
    const renewing = async (): Promise<void> => {
      try {
        this.#token = await authenticate();
      } finally {
        this.#renewing = undefined;
      }
    };
    this.#renewing ??= renewing();
    await this.#renewing;
  }
}

const authenticate = ({ user, password }: EtcdLogin): Call<string> => ({
  path: '/v3/auth/authenticate',
  body: { name: user, password },
  read: (answer) => {
    const token = textIn(answer, 'token');
    // Anything else could not stand in a header.
    if (!/^[\w.~+/=-]+$/.test(token)) throw new Odd('token');
    return token;
  },
});

export class Caller {
  readonly endpoints: readonly EtcdEndpoint[];
  readonly #gateway: Gateway;
  readonly #session: Session;
  /** Asked for a token, which all of them know then: a learner takes no login. */
  readonly #all: readonly EtcdEndpoint[];
  /** The endpoint that answered last. */
  #first = 0;

  constructor(
    endpoints: readonly EtcdEndpoint[],
    gateway: Gateway,
    session: Session,
    all: readonly EtcdEndpoint[] = endpoints,
  ) {
    this.endpoints = endpoints;
    this.#gateway = gateway;
    this.#session = session;
    this.#all = all;
  }

  at(endpoint: EtcdEndpoint): Caller {
    const others = this.#all.filter(({ url }) => url !== endpoint.url);
    return new Caller([endpoint], this.#gateway, this.#session, [endpoint, ...others]);
  }

  async ask<Told>(call: Call<Told>, options: CallOptions = {}): Promise<Told> {
    const { isChange = false, path } = call;
    const { timeoutMs = TIMEOUT_MS, signal } = options;
    const { length } = this.endpoints;
    const ends = within(timeoutMs, signal);
    // A member that says nothing leaves time for the others, where it does no harm to ask them.
    const shareMs = Math.ceil(timeoutMs / length);
    const failures: EtcdFailure[] = [];
    for (let step = 0; step < length; step += 1) {
      const index = (this.#first + step) % length;
      const endpoint = this.endpoints[index];
      if (endpoint === undefined) break;
      try {
        const told = await this.#askOne(endpoint, call, isChange ? ends : within(shareMs, ends));
        this.#first = index;
        return told;
      } catch (error) {
        signal?.throwIfAborted();
        if (!isEtcdFailure(error) || !mayAskNext(error, isChange)) throw error;
        failures.push(error);
      }
    }
    const endpoint = this.endpoints.map(({ url }) => url).join(', ');
    throw failureOfAll({ endpoint, path, isChange }, failures);
  }

  /** An answer of any length from the first endpoint. It ends when nothing comes for so long. */
  async stream(path: string, signal: AbortSignal): Promise<Reply> {
    const [endpoint] = this.endpoints;
    if (endpoint === undefined) throw new Error('nobody to ask');
    return this.#loggedIn((token) => this.#open(endpoint, path, token, signal), signal);
  }

  /**
   * The messages of a stream over gRPC, which costs a member a quarter of what its gateway takes,
   * from the first endpoint; undefined where nobody speaks it there.
   */
  async messages(path: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    const [endpoint] = this.endpoints;
    if (endpoint === undefined) throw new Error('nobody to ask');
    const ask = (token: string | undefined) =>
      openMessages(this.#gateway, endpoint, { path, token, silenceMs: SILENCE_MAX_MS, signal });
    return this.#loggedIn(ask, signal);
  }

  /** Fails with LOGIN_FAILED when the login is none; what this caller uses stays as it is. */
  async checkLogin(login: EtcdLogin, options: CallOptions = {}): Promise<void> {
    await this.ask(authenticate(login), options);
  }

  async #askOne<Told>(endpoint: EtcdEndpoint, call: Call<Told>, ends: AbortSignal): Promise<Told> {
    return this.#loggedIn((token) => this.#post(endpoint, call, token, ends), ends);
  }

  async #loggedIn<Told>(ask: AskWith<Told>, ends: AbortSignal): Promise<Told> {
    const { login, token } = this.#session;
    try {
      return await ask(token);
    } catch (error) {
      if (login === undefined || !mayHelp(error, token)) throw error;
      await this.#session.renew(token, () => this.#logIn(login, ends));
      return this.#askAsKnown(ask, ends);
    }
  }

  /** One member gives the token, and the others hear of it a moment later. */
  async #askAsKnown<Told>(ask: AskWith<Told>, ends: AbortSignal): Promise<Told> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask(this.#session.token);
      } catch (error) {
        if (tries === HEARS_TRIES || !isEtcdFailure(error, 'INVALID_TOKEN')) throw error;
        const slept = systemClock.sleep(HEARS_PAUSE_MS, ends);
        if (!(await slept.then(...IN_TIME))) throw error;
      }
    }
  }

  async #logIn(login: EtcdLogin, ends: AbortSignal): Promise<string> {
    const call = authenticate(login);
    const failures: EtcdFailure[] = [];
    for (const endpoint of this.#all) {
      try {
        return await this.#post(endpoint, call, undefined, within(LOGIN_MS, ends));
      } catch (error) {
        if (!isEtcdFailure(error) || !mayAskNext(error, false)) throw error;
        failures.push(error);
      }
    }
    const endpoint = this.#all.map(({ url }) => url).join(', ');
    throw failureOfAll({ endpoint, path: call.path, isChange: false }, failures);
  }

  async #open(
    endpoint: EtcdEndpoint,
    path: string,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<Reply> {
    const about = { endpoint: endpoint.url, path, isChange: false };
    const request = { path, body: {}, token };
    const options = { signal, silenceMs: SILENCE_MAX_MS };
    const reply = await this.#gateway.stream(endpoint, request, options).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error instanceof Failure ? error : failureFromTransport(about, error);
    });
    if (reply.statusCode === 200) return { endpoint: endpoint.url, body: reply.body };
    const text = await readText(reply.body, ANSWER_BYTES_MAX);
    throw failureFromRefusal(about, reply.statusCode, text ?? '');
  }

  async #post<Told>(
    { url, serverName }: EtcdEndpoint,
    { path, body = {}, isChange = false, bytesMax = ANSWER_BYTES_MAX, read }: Call<Told>,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<Told> {
    const about = { endpoint: url, path, isChange };
    let answer;
    try {
      const request = { path, body: body ?? undefined, token, bytesMax, isChange };
      answer = await postAtRoot(this.#gateway, { url, serverName }, request, signal);
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (error instanceof TooLarge) throw failureFromOdd(about, error.message, error);
      const isLate = signal.aborted && !(error instanceof NotConnected);
      throw failureFromTransport(about, isLate ? signal.reason : error);
    }
    if (answer.statusCode !== 200) {
      throw failureFromRefusal(about, answer.statusCode, answer.text);
    }
    try {
      const json: unknown = JSON.parse(answer.text);
      if (!isFields(json)) throw new Odd('no object');
      return read(json);
    } catch (error) {
      throw failureFromOdd(about, error instanceof Odd ? error.message : 'no JSON', error);
    }
  }
}

type AskWith<Told> = (token: string | undefined) => Promise<Told>;

function within(ms: number, signal: AbortSignal | undefined): AbortSignal {
  const inTime = AbortSignal.timeout(ms);
  return signal === undefined ? inTime : AbortSignal.any([signal, inTime]);
}

/** The request was not carried out, and a new token may help. */
const LOGIN_REASONS = ['INVALID_TOKEN', 'NO_LOGIN', 'AUTH_CHANGED'] as const;

/** Over gRPC one without a token is whom its certificate names. */
const mayHelp = (error: unknown, token: string | undefined): boolean =>
  isEtcdFailure(error, ...LOGIN_REASONS) ||
  (token === undefined && isEtcdFailure(error, 'PERMISSION_DENIED'));

/** Another member may answer, and the change was certainly not made here. */
function mayAskNext({ reason, isInDoubt }: EtcdFailure, isChange: boolean): boolean {
  switch (reason) {
    case 'UNREACHABLE':
    case 'NO_LEADER':
    case 'NO_GATEWAY':
    case 'NOT_FOR_LEARNERS':
      return true;
    case 'NO_ANSWER':
    case 'NOT_ETCD':
    case 'STOPPED':
    case 'TIMEOUT':
    case 'LEADER_CHANGED':
      return !isChange && !isInDoubt;
    default:
      return false;
  }
}
