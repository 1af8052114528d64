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
import { Failure } from '../../errors.ts';
import { type Fields, isFields, Odd, textIn } from './fields.ts';
import { type EtcdEndpoint, type Gateway, NotConnected, TooLarge } from './gateway.ts';

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
/** Far more than a list of members or a status has. */
const ANSWER_BYTES_MAX = 256 * 1024;

/** The token of a login, shared by all that ask the same cluster. */
export class Session {
  readonly login: EtcdLogin | undefined;
  token: string | undefined;

  constructor(login: EtcdLogin | undefined) {
    this.login = login;
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
  /** The endpoint that answered last. */
  #first = 0;

  constructor(endpoints: readonly EtcdEndpoint[], gateway: Gateway, session: Session) {
    this.endpoints = endpoints;
    this.#gateway = gateway;
    this.#session = session;
  }

  at(endpoint: EtcdEndpoint): Caller {
    return new Caller([endpoint], this.#gateway, this.#session);
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

  /** Fails with LOGIN_FAILED when the login is none; what this caller uses stays as it is. */
  async checkLogin(login: EtcdLogin, options: CallOptions = {}): Promise<void> {
    await this.ask(authenticate(login), options);
  }

  async #askOne<Told>(endpoint: EtcdEndpoint, call: Call<Told>, ends: AbortSignal): Promise<Told> {
    const { token } = this.#session;
    try {
      return await this.#post(endpoint, call, token, ends);
    } catch (error) {
      const { login } = this.#session;
      if (login === undefined || !isEtcdFailure(error, ...LOGIN_REASONS)) throw error;
      // Somebody else may have renewed it meanwhile.
      if (this.#session.token === token) {
        this.#session.token = await this.#post(endpoint, authenticate(login), undefined, ends);
      }
      return this.#post(endpoint, call, this.#session.token, ends);
    }
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
      answer = await this.#gateway.post({ url, serverName }, request, signal);
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

function within(ms: number, signal: AbortSignal | undefined): AbortSignal {
  const inTime = AbortSignal.timeout(ms);
  return signal === undefined ? inTime : AbortSignal.any([signal, inTime]);
}

/** The request was not carried out, and a new token may help. */
const LOGIN_REASONS = ['INVALID_TOKEN', 'NO_LOGIN', 'AUTH_CHANGED'] as const;

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
