// What an administrator asks the servers of a cluster over its system account: how each of them is,
// and to reload, to pass leadership on, to move streams and to forget a server. One connection to
// any server reaches all; every wait ends.
import type { ConnectionOptions, NatsConnection } from 'nats';
import { Failure } from '../errors.ts';
import { encodeJson } from './jetstream.ts';
import { orAbort } from './or-abort.ts';
import type { HealthAnswer, JszAnswer, ServerAnswer, VarzAnswer } from './system-answers.ts';

export interface SystemOptions {
  /** `10.0.0.1:4222`: whichever answers first is asked. */
  readonly servers: readonly string[];
  readonly user: string;
  /** Tried one after the other, as long as servers refuse them. */
  readonly passwords: readonly string[];
  /** Shown by `nats server list connections`. */
  readonly name: string;
  /** When clients have to speak TLS: whom to believe, and by which name the servers go. */
  readonly tls?: { readonly ca: string; readonly servername: string } | undefined;
}

/** What came of a request that a server may refuse. */
export type Done =
  | { readonly isDone: true }
  /** Without an answer it may have been done all the same. */
  | { readonly isDone: false; readonly why: string; readonly isAnswered: boolean };

/** A server on the same network answers within milliseconds; one that is starting does not. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Servers that are alive answer well within it; the silent ones cost a look this much. */
const ANSWERS_WITHIN_MS = 2_000;
/** A change goes through the meta group's Raft log. */
const CHANGE_TIMEOUT_MS = 5_000;
const CLOSE_MAX_MS = 1_000;

export async function openSystem(options: SystemOptions, signal: AbortSignal): Promise<System> {
  const { servers, passwords } = options;
  let refusal: unknown;
  for (const password of passwords) {
    try {
      return new System(await connectWith(options, password, signal));
    } catch (cause) {
      refusal = cause;
      if (signal.aborted) throw cause;
      if (!(await isRefusal(cause))) break;
    }
  }
  const why = refusal instanceof Error ? refusal.message : String(refusal);
  const message = `None of ${servers.join(', ')} lets us in (${why}). It is tried again.`;
  throw new Failure('NATS_UNAVAILABLE', message, { object: servers.join(','), cause: refusal });
}

/** Somebody is there, and does not know the password. */
async function isRefusal(cause: unknown): Promise<boolean> {
  const { NatsError } = await import('./client.ts');
  return cause instanceof NatsError && cause.isAuthError();
}

async function connectWith(
  { servers, user, name, tls }: SystemOptions,
  pass: string,
  signal: AbortSignal,
): Promise<NatsConnection> {
  const { connect } = await import('./client.ts');
  const connecting = connect({
    servers: [...servers],
    user,
    pass,
    name,
    ...tlsOptions(tls),
    // It lives as long as one look.
    reconnect: false,
    // One that refuses it says nothing of the others.
    ignoreAuthErrorAbort: true,
    timeout: CONNECT_TIMEOUT_MS,
  });
  try {
    return await orAbort(connecting, signal);
  } catch (cause) {
    // Nobody would close it any more.
    void connecting.then((late) => late.close()).catch(() => undefined);
    throw cause;
  }
}

/** Pods are reached by their addresses, and certificates are for names: so it is told the name. */
function tlsOptions(named: SystemOptions['tls']): Pick<ConnectionOptions, 'tls'> {
  return named === undefined ? {} : { tls: named };
}

export class System {
  readonly #nats: NatsConnection;

  constructor(nats: NatsConnection) {
    this.#nats = nats;
  }

  /** What each server runs on. */
  servers(expected: readonly string[]): Promise<readonly VarzAnswer[]> {
    return this.#askAll<VarzAnswer>('VARZ', {}, expected);
  }

  /** The meta group and every stream and consumer, as each server sees them. */
  jetStream(expected: readonly string[]): Promise<readonly JszAnswer[]> {
    const what = { accounts: true, streams: true, consumer: true, config: true };
    return this.#askAll<JszAnswer>('JSZ', what, expected);
  }

  /** Whether all that is assigned to each server is current there. */
  health(expected: readonly string[]): Promise<readonly HealthAnswer[]> {
    return this.#askAll<HealthAnswer>('HEALTHZ', { details: true }, expected);
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
    const tooLong = AbortSignal.timeout(CLOSE_MAX_MS);
    await orAbort(this.#nats.close(), tooLong).catch(() => undefined);
  }

  /** Those who answer; the silent ones are missing. Others than were expected may answer too. */
  async #askAll<Answer extends ServerAnswer>(
    what: string,
    body: object,
    expected: readonly string[],
  ): Promise<readonly Answer[]> {
    const { createInbox } = await import('./client.ts');
    const inbox = createInbox();
    const missing = new Set(expected);
    const answers: Answer[] = [];
    const replies = this.#nats.subscribe(inbox);
    this.#nats.publish(`$SYS.REQ.SERVER.PING.${what}`, encodeJson(body), { reply: inbox });
    const late = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    late.addEventListener('abort', () => replies.unsubscribe(), { once: true });
    for await (const reply of replies) {
      const answer = reply.json<Answer>();
      answers.push(answer);
      missing.delete(answer.server.name);
      if (missing.size === 0) break;
    }
    replies.unsubscribe();
    return answers;
  }

  async #change(subject: string, body: object, signal: AbortSignal): Promise<Done> {
    const asked = this.#nats.request(subject, encodeJson(body), { timeout: CHANGE_TIMEOUT_MS });
    try {
      const { error } = (await orAbort(asked, signal)).json<Refusable>();
      if (error === undefined) return DONE;
      return { isDone: false, why: error.description, isAnswered: true };
    } catch (cause) {
      if (signal.aborted) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      return { isDone: false, why, isAnswered: false };
    }
  }
}

interface Refusable {
  readonly error?: { readonly description: string };
}

const DONE: Done = { isDone: true };
