// Asks a server over its monitoring port what it is, whom it is routed with and how many clients it
// has: one that is too old for a system account, or has none, tells it nowhere else. A stranger may
// listen there, so that each answer is bounded.
import { Failure } from '../errors.ts';
import { isRecord } from './record.ts';

/** The word of a server about itself. */
export interface Monitored {
  /** Another one after each start. */
  readonly id: string;
  readonly version: string;
  /** Whom it lets in, as it runs: its configuration may say something else by now. */
  readonly asksLogin: boolean;
  readonly asksTls: boolean;
  /** It keeps streams, whatever its configuration says: an argument may have it do so. */
  readonly hasStreams: boolean;
  /** That of the configuration which it has loaded. Servers before 2.11 do not tell. */
  readonly digest?: string;
  /** Connections of clients. */
  readonly clients: number;
}

export interface AskOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A server of 2.1.9 tells some 2 kB of itself, and 0.4 kB of each route. */
const BYTES_MAX = 64 * 1024;

/** `origin`: as `http://10.0.0.1:8222`. */
export async function askMonitor(origin: string, options: AskOptions): Promise<Monitored> {
  const told = await ask(`${origin}/varz`, options);
  const { server_id, version, auth_required, tls_required, connections } = told;
  const { jetstream, config_digest } = told;
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+/.test(version)) throw odd('no version');
  if (typeof server_id !== 'string' || typeof connections !== 'number') throw odd('no id');
  return {
    id: server_id,
    version,
    asksLogin: auth_required === true,
    asksTls: tls_required === true,
    // Where there is none it says `{}`, or nothing.
    hasStreams: isRecord(jetstream) && isRecord(jetstream['config']),
    ...(typeof config_digest === 'string' ? { digest: config_digest } : {}),
    clients: connections,
  };
}

/** The ids of all servers to which it has a route. */
export async function askRoutes(origin: string, options: AskOptions): Promise<readonly string[]> {
  const { routes } = await ask(`${origin}/routez`, options);
  const ids = recordsIn(routes).map(({ remote_id }) => remote_id);
  return [...new Set(ids)].filter((id) => typeof id === 'string');
}

/** Connections of clients by their account. Servers that are older than 2.9 do not tell. */
export async function askAccounts(
  origin: string,
  options: AskOptions,
): Promise<ReadonlyMap<string, number>> {
  const { account_statz } = await ask(`${origin}/accstatz?unused=1`, options);
  return new Map(recordsIn(account_statz).map(({ acc, conns }) => [String(acc), Number(conns)]));
}

const recordsIn = (list: unknown) =>
  Array.isArray(list) ? list.filter((one) => isRecord(one)) : [];

async function ask(
  url: string,
  { timeoutMs, signal }: AskOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answer = await fetch(url, { redirect: 'error', signal: within });
    const told: unknown = JSON.parse(await textOf(answer));
    return isRecord(told) ? told : {};
  } catch (cause) {
    signal.throwIfAborted();
    const why = cause instanceof Failure ? cause.message : 'It does not answer.';
    throw new Failure('NATS_UNAVAILABLE', why, { cause });
  }
}

async function textOf(answer: Response): Promise<string> {
  if (answer.status !== 200) throw odd(`HTTP ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw odd(`more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const odd = (what: string): Failure =>
  new Failure('NATS_UNAVAILABLE', `It answers as no nats-server does: ${what}.`);
