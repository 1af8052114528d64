// Asks the servers of the legacy cluster over their monitoring ports what they are. That one does
// not answer is an answer too.
import { cut } from '../../../shared/cut.ts';
import { Failure } from '../../../shared/errors.ts';
import type { askMonitor } from '../../../shared/nats/monitor.ts';
import type { AskedServer, FoundServer } from './state.ts';

/** The operator gave it this one always. */
const MONITORING_PORT = 8222;
/** A server that is alive answers within milliseconds; a silent one costs this much. */
const ANSWERS_WITHIN_MS = 3_000;
const WHY_BYTES_MAX = 300;
/** Others have its labels and owner by somebody's hand. */
const SERVERS_MAX = 16;

export async function askServers(
  ask: typeof askMonitor,
  pods: readonly FoundServer[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, AskedServer>> {
  const asked = pods
    .slice(0, SERVERS_MAX)
    .map(async (pod) => [pod.name, await askServer(ask, pod, signal)] as const);
  return new Map(await Promise.all(asked));
}

async function askServer(
  ask: typeof askMonitor,
  { ip, isRunning }: FoundServer,
  signal: AbortSignal,
): Promise<AskedServer> {
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
