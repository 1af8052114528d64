// Asks servers over their monitoring ports: the old ones what they are and whom they are routed
// with, the new ones how many clients they have. That one does not answer is an answer too.
import { cut } from '../../../shared/cut.ts';
import { Failure } from '../../../shared/errors.ts';
import type { AskOptions } from '../../../shared/nats/monitor.ts';
import type { Door } from '../door.ts';
import { MONITORING_PORT } from './ports.ts';
import type { AskedNew, AskedServer, FoundServer } from './state.ts';

/** A server that is alive answers within milliseconds; a silent one costs this much. */
const ANSWERS_WITHIN_MS = 3_000;
const WHY_BYTES_MAX = 300;
/** Others have its labels and owner by somebody's hand. */
export const SERVERS_MAX = 16;

type Pod = Pick<FoundServer, 'name' | 'ip' | 'isRunning'>;

export const askServers = (
  ask: Door['monitor'],
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, AskedServer>> => askEach(pods, signal, ask);

/** By pods of those that answer. */
export async function askRoutes(
  ask: Door['routes'],
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const asked = await askEach(pods, signal, async (origin, options) => ({
    ids: await ask(origin, options),
  }));
  return new Map([...asked].flatMap(([pod, told]) => ('ids' in told ? [[pod, told.ids]] : [])));
}

/** The account of the servers themselves: our functions connect in it, and no client. */
export const SYSTEM_ACCOUNT = 'SYS';

export const askNew = (
  { monitor, accounts }: Pick<Door, 'monitor' | 'accounts'>,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, AskedNew>> =>
  askEach(pods, signal, async (origin, options) => {
    const { id } = await monitor(origin, options);
    const counts = [...(await accounts(origin, options))];
    const clients = counts.map(([account, count]) => (account === SYSTEM_ACCOUNT ? 0 : count));
    return { id, clients: clients.reduce((sum, count) => sum + count, 0) };
  });

async function askEach<Told extends object>(
  pods: readonly Pod[],
  signal: AbortSignal,
  ask: (origin: string, options: AskOptions) => Promise<Told>,
): Promise<ReadonlyMap<string, Told | { readonly silent: string }>> {
  const asked = pods
    .slice(0, SERVERS_MAX)
    .map(async (pod) => [pod.name, await askServer(ask, pod, signal)] as const);
  return new Map(await Promise.all(asked));
}

async function askServer<Told>(
  ask: (origin: string, options: AskOptions) => Promise<Told>,
  { ip, isRunning }: Pod,
  signal: AbortSignal,
): Promise<Told | { readonly silent: string }> {
  if (!isRunning || ip === undefined) return { silent: 'Its pod does not run.' };
  const host = ip.includes(':') ? `[${ip}]` : ip;
  try {
    const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
    return await ask(`http://${host}:${MONITORING_PORT}`, options);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return { silent: cut(error.message, WHY_BYTES_MAX) };
  }
}
