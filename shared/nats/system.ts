// Administration of a cluster's servers over its system account: their health, and requests to
// reload, to step down, to move streams and to remove a server. One connection to any server
// reaches all, and every wait ends. Anybody who may create a NatsCluster runs these servers, so
// their answers are bounded in bytes and in number, and only known shapes are used.
import { randomInt } from 'node:crypto';
import { systemClock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { isRecord } from './record.ts';
import { Allowance } from './allowance.ts';
import { BoundedConnection, type Login, LoginRefused, type Reply } from './bounded-connection.ts';
import {
  type HealthAnswer,
  type JszAnswer,
  Odd,
  type Read,
  readHealth,
  readJsz,
  readVarz,
  type ServerAnswer,
  type VarzAnswer,
} from './system-answers.ts';

export interface SystemOptions {
  /** `10.0.0.1:4222`: whichever lets us in is asked. */
  readonly servers: readonly string[];
  readonly user: string;
  /** Tried one after the other, as long as servers refuse them. */
  readonly passwords: readonly string[];
  /** Shown by `nats server list connections`. */
  readonly name: string;
  /** When clients have to speak TLS: whom to believe, and by which name the servers go. */
  readonly tls?: { readonly ca: string; readonly servername: string } | undefined;
}

/** The result of a request that a server may refuse. */
export type Done =
  | { readonly isDone: true }
  /** Without an answer it may have been done all the same. */
  | { readonly isDone: false; readonly why: string; readonly isAnswered: boolean };

/** A server on the same network answers within milliseconds; one that is starting does not. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Then the next one is tried beside it: servers that say nothing do not hold up the others. */
const NEXT_AFTER_MS = 250;
/** At one look; the next one begins elsewhere. Anybody may give a pod the label of a server. */
const TRIED_MAX = 16;
/** Servers that are alive answer well within it; the silent ones cost a look this much. */
const ANSWERS_WITHIN_MS = 2_000;
/** A change goes through the meta group's Raft log. */
const CHANGE_TIMEOUT_MS = 5_000;
/** More than a cluster has servers, those that are about to end among them. */
const ANSWERS_MAX = 32;
/**
 * Bytes of answers that arrive or are being parsed, for all clusters together; the heap of the
 * function is 128 MB.
 */
const SHARED_BYTES_MAX = 32 * 2 ** 20;
/** Small pieces of JSON take twenty times their size; a consumer is 40 pieces in 1,000 bytes. */
const PIECES_MAX = 350_000;
/**
 * Share of an answer that is kept, at most: of its bytes, or by its pieces where these are small.
 */
const KEPT_SHARE = 0.5;
const KEPT_PIECE_BYTES = 140;

const shared = new Allowance(SHARED_BYTES_MAX);

/** Fails with NATS_REFUSED when somebody is there, and takes none of the passwords. */
export async function openSystem(options: SystemOptions, signal: AbortSignal): Promise<System> {
  const { servers, passwords, user, name, tls } = options;
  let open = rotated(servers).slice(0, TRIED_MAX);
  let last: unknown;
  for (const password of passwords) {
    const { entered, causes } = await enter(open, { user, password, name, tls }, signal);
    if (entered !== undefined) return new System(entered, signal);
    signal.throwIfAborted();
    last = causes.find((cause) => !(cause instanceof LoginRefused)) ?? last;
    // Whom one cannot reach once, one cannot reach with another password.
    open = open.filter((_address, index) => causes[index] instanceof LoginRefused);
  }
  const object = servers.join(',');
  if (open.length > 0) {
    const message = `${open.join(', ')} take none of the passwords. It is tried again.`;
    throw new Failure('NATS_REFUSED', message, { object });
  }
  const message = `None of ${servers.join(', ')} lets us in (${whyOf(last)}). It is tried again.`;
  throw new Failure('NATS_UNAVAILABLE', message, { object, cause: last });
}

/** The first that lets us in, or why none of them does. */
async function enter(
  addresses: readonly string[],
  login: Login,
  signal: AbortSignal,
): Promise<{ readonly entered?: BoundedConnection; readonly causes: readonly unknown[] }> {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const tries = addresses.map(async (address, index) => {
    await systemClock.sleep(index * NEXT_AFTER_MS, ends);
    const soon = AbortSignal.any([ends, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
    return BoundedConnection.open(address, login, shared, soon);
  });
  const entered = await Promise.any(tries).catch(() => undefined);
  over.abort();
  const outcomes = await Promise.allSettled(tries);
  for (const one of outcomes) {
    // Two may let us in at the same moment.
    if (one.status === 'fulfilled' && one.value !== entered) one.value.close();
  }
  const causes = outcomes.map((one) => (one.status === 'rejected' ? one.reason : undefined));
  return { ...(entered === undefined ? {} : { entered }), causes };
}

/** Not always the same one first: it may be the one that answers nobody. */
function rotated(servers: readonly string[]): readonly string[] {
  const start = servers.length === 0 ? 0 : randomInt(servers.length);
  return [...servers.slice(start), ...servers.slice(0, start)];
}

const whyOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

export class System {
  readonly #connection: BoundedConnection;
  readonly #signal: AbortSignal;
  readonly #unread = new Set<string>();

  constructor(connection: BoundedConnection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
  }

  /** Why answers were not taken, in sentences' ends: `an answer to JSZ is ...`. */
  get unread(): readonly string[] {
    return [...this.#unread];
  }

  /** The configuration digest and version of each server. */
  servers(expected: readonly string[]): Promise<readonly VarzAnswer[]> {
    return this.#askAll('VARZ', {}, expected, readVarz);
  }

  /** The meta group and every stream and consumer, as each server sees them. */
  jetStream(expected: readonly string[]): Promise<readonly JszAnswer[]> {
    const options = { accounts: true, streams: true, consumer: true, config: true };
    return this.#askAll('JSZ', options, expected, readJsz);
  }

  /** Whether all that is assigned to each server is current there. */
  health(expected: readonly string[]): Promise<readonly HealthAnswer[]> {
    return this.#askAll('HEALTHZ', { details: true }, expected, readHealth);
  }

  /** Reads the configuration file anew, as SIGHUP does, and says why not. */
  async reload(serverId: string, signal: AbortSignal): Promise<Done> {
    return this.#change(`$SYS.REQ.SERVER.${serverId}.RELOAD`, {}, signal);
  }

  /** The meta leader hands over to somebody, or to this server when it can. */
  async stepDownMeta(preferred: string | undefined, signal: AbortSignal): Promise<Done> {
    const placement = preferred === undefined ? {} : { placement: { preferred } };
    return this.#change('$JS.API.META.LEADER.STEPDOWN', placement, signal);
  }

  /** One replica of the stream goes from this server to another one that has none. */
  async moveStream(
    { account, stream, server }: Record<'account' | 'stream' | 'server', string>,
    signal: AbortSignal,
  ): Promise<Done> {
    return this.#change(`$JS.API.ACCOUNT.STREAM.MOVE.${account}.${stream}`, { server }, signal);
  }

  /** The meta group counts this server no more; for one that never comes back as it was. */
  async removePeer(peerId: string, signal: AbortSignal): Promise<Done> {
    return this.#change('$JS.API.SERVER.REMOVE', { peer: '', peer_id: peerId }, signal);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /** Answers of all servers; silent ones are missing, and unexpected ones may be there. */
  async #askAll<Answer extends ServerAnswer>(
    endpoint: string,
    body: object,
    expected: readonly string[],
    read: Read<Answer>,
  ): Promise<readonly Answer[]> {
    const missing = new Set(expected);
    const answers = new Map<string, Answer>();
    let count = 0;
    const take = (reply: Reply): boolean => {
      count += 1;
      const answer = this.#read(endpoint, reply, read);
      if (answer !== undefined && !answers.has(answer.server.name)) {
        answers.set(answer.server.name, answer);
        missing.delete(answer.server.name);
      }
      return missing.size === 0 || count >= ANSWERS_MAX;
    };
    const subject = `$SYS.REQ.SERVER.PING.${endpoint}`;
    try {
      const question = { subject, body, withinMs: ANSWERS_WITHIN_MS };
      await this.#connection.ask(question, this.#signal, take);
    } catch (cause) {
      // The stack of an error holds on to all that the functions in it saw.
      answers.clear();
      this.#signal.throwIfAborted();
      throw new Failure('NATS_UNAVAILABLE', whyOf(cause), { object: endpoint, cause });
    }
    return [...answers.values()];
  }

  #read<Answer>(endpoint: string, reply: Reply, read: Read<Answer>): Answer | undefined {
    if (reply === 'nobody') return undefined;
    if (reply === undefined || isTooFine(reply)) {
      this.#unread.add(`an answer to ${endpoint} is larger than what is read of one`);
      return undefined;
    }
    try {
      const answer = read(JSON.parse(reply.toString()));
      const kept = Math.max(reply.length * KEPT_SHARE, piecesIn(answer) * KEPT_PIECE_BYTES);
      this.#connection.keep(kept);
      return answer;
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof Odd)) throw error;
      this.#unread.add(`an answer to ${endpoint} is not what a NATS server says`);
      return undefined;
    }
  }

  async #change(subject: string, body: object, signal: AbortSignal): Promise<Done> {
    let answer: unknown;
    const take = (reply: Reply): boolean => {
      answer = reply instanceof Buffer && !isTooFine(reply) ? jsonIn(reply) : undefined;
      return true;
    };
    try {
      await this.#connection.ask({ subject, body, withinMs: CHANGE_TIMEOUT_MS }, signal, take);
    } catch (cause) {
      signal.throwIfAborted();
      return { isDone: false, why: whyOf(cause), isAnswered: false };
    }
    if (!isRecord(answer)) return { isDone: false, why: 'no answer', isAnswered: false };
    const { error } = answer;
    if (error === undefined || error === null) return DONE;
    const description = isRecord(error) ? error['description'] : undefined;
    const why = typeof description === 'string' ? description : 'it does not say why';
    return {
      isDone: false,
      why: why.slice(0, WHY_MAX).replaceAll(/\p{C}+/gu, ' '),
      isAnswered: true,
    };
  }
}

const WHY_MAX = 512;
const DONE: Done = { isDone: true };

function jsonIn(reply: Buffer): unknown {
  try {
    return JSON.parse(reply.toString());
  } catch {
    return undefined;
  }
}

/** Objects and lists. */
const piecesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, one) => sum + piecesIn(one), 1)
    : 0;

const [COMMA, LIST, OBJECT] = [',', '[', '{'].map((one) => one.charCodeAt(0));

/** True for JSON of so many pieces that it would take far more memory than it has bytes. */
function isTooFine(json: Buffer): boolean {
  if (json.length <= PIECES_MAX) return false;
  let pieces = 0;
  for (const byte of json) if (byte === COMMA || byte === LIST || byte === OBJECT) pieces += 1;
  return pieces > PIECES_MAX;
}
