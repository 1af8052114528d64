// Asks the members of the legacy cluster: each at the address of its pod, under the name that its
// certificate has. That one does not answer is an answer too.
import { cut } from '../../shared/cut.ts';
import { Failure } from '../../shared/errors.ts';
import type { askLegacy } from '../../shared/etcd/legacy.ts';
import { type Access, accessToOld } from './access.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { Asked, FoundPod, State } from './state.ts';

/** A member that is alive answers within milliseconds; a silent one costs this much. */
const ANSWERS_WITHIN_MS = 3_000;
const WHY_BYTES_MAX = 300;
/** More than an operator makes; others have its labels and owner by somebody's hand. */
const MEMBERS_MAX = 9;

interface About extends Pick<State, 'pods' | 'secrets'> {
  readonly legacy: LegacyEtcd;
  readonly canAsk: boolean;
}

export async function askMembers(
  ask: typeof askLegacy,
  about: About,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Asked>> {
  const asked = about.pods.slice(0, MEMBERS_MAX).map(async (pod) => {
    return [pod.name, await askMember(ask, about, pod, signal)] as const;
  });
  return new Map(await Promise.all(asked));
}

async function askMember(
  ask: typeof askLegacy,
  { legacy, secrets, canAsk }: About,
  { name, ip, isRunning }: FoundPod,
  signal: AbortSignal,
): Promise<Asked> {
  if (!isRunning || ip === undefined) return { silent: 'Its pod does not run.' };
  return askAt(ask, accessToOld({ legacy, secrets }, canAsk ? [{ name, ip }] : []), signal);
}

/** The first of them. */
export async function askAt(
  ask: typeof askLegacy,
  { endpoints, tls }: Access,
  signal: AbortSignal,
): Promise<Asked> {
  const [endpoint] = endpoints;
  if (endpoint === undefined) return { silent: 'There is no certificate to ask it with.' };
  try {
    return await ask(endpoint, tls, { timeoutMs: ANSWERS_WITHIN_MS, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return { silent: cut(error.message, WHY_BYTES_MAX) };
  }
}
