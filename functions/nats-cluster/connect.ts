// Connects to the servers' system account, and protects its password. Once the configuration says
// TLS, the password goes to servers whose certificate is verified, and in plain only to those that
// ran before it said so, until the first server was reached with TLS. From then on the others are
// reached through servers that speak TLS.
import { Failure } from '../../shared/errors.ts';
import type { System } from '../../shared/nats/system.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { CLIENT_PORT, type Cluster, serviceHost } from './cluster.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { SYSTEM_USER } from './render/config.ts';
import type { Parts, State } from './state.ts';

export type Administrator = Omit<System, 'close'>;
type ConnectState = Pick<State, 'cluster' | 'parts' | 'pods'>;

/** Opens a connection for the time of the work. */
export async function withSystem<Result>(
  deps: Deps,
  state: ConnectState,
  signal: AbortSignal,
  work: (system: Administrator) => Promise<Result>,
): Promise<Result> {
  const system = await connect(deps, state, signal);
  try {
    return await work(system);
  } finally {
    await system.close();
  }
}

async function connect(deps: Deps, state: ConnectState, signal: AbortSignal): Promise<System> {
  const { cluster, parts } = state;
  const isSecureFirst = cluster.spec.tls?.clients !== undefined || parts.saysTls === true;
  const secure = (): Promise<System> => openSecure(deps, state, signal);
  const plain = (): Promise<System> => openPlain(deps, state, signal);
  const [first, second] = isSecureFirst ? [secure, plain] : [plain, secure];
  try {
    return await first();
  } catch (error) {
    signal.throwIfAborted();
    // Only while TLS is being turned on or off do some servers differ from the spec.
    const isOneWay = isSecureFirst ? mayBePlain(deps, state).length === 0 : isSettled(state);
    if (isOneWay) throw error;
    return second();
  }
}

async function openSecure(
  deps: Deps,
  { cluster, parts, pods }: ConnectState,
  signal: AbortSignal,
): Promise<System> {
  const { trustedCa: ca, saysTls } = parts;
  const servers = addressesOf(pods);
  // To TLS an empty list means everybody whom the machine trusts.
  if (ca === '') {
    const message = `No authority is known yet by which ${servers.join(', ')} could be believed.`;
    throw new Failure('NATS_UNAVAILABLE', message, { object: servers.join(',') });
  }
  const tls = { ca, servername: serviceHost(cluster) };
  const system = await deps.openSystem({ servers, tls, ...loginOf(parts) }, signal);
  if (saysTls === true) deps.memoryOf(cluster.uid).hasSeenTls = true;
  return system;
}

async function openPlain(deps: Deps, state: ConnectState, signal: AbortSignal): Promise<System> {
  const servers = addressesOf(mayBePlain(deps, state));
  return deps.openSystem({ servers, ...loginOf(state.parts) }, signal);
}

/**
 * Pods that may speak plain: all of them while the configuration says nothing of TLS. When the
 * configuration is lost, the spec decides.
 */
function mayBePlain(deps: Deps, { cluster, parts, pods }: ConnectState): readonly Pod[] {
  const { saysTls = cluster.spec.tls?.clients !== undefined, beforeTls } = parts;
  if (!saysTls) return pods;
  const { hasSeenTls } = deps.memoryOf(cluster.uid);
  return hasSeenTls === true ? [] : pods.filter(({ uid }) => beforeTls.includes(uid));
}

// A server that still has a former password is about to be reloaded, and accepts no other one.
// There are no former passwords once every server has the present one.
const loginOf = ({ formerPasswords, systemPassword = '' }: Parts) => ({
  user: SYSTEM_USER,
  passwords: [...formerPasswords, systemPassword],
  name: FIELD_MANAGER,
});

const addressesOf = (pods: readonly Pod[]): readonly string[] =>
  pods.flatMap(({ ip, isEnding }) =>
    ip === undefined || isEnding ? [] : [`${ip}:${CLIENT_PORT}`],
  );

function isSettled({ cluster, parts }: ConnectState): boolean {
  const { status, generation }: Cluster = cluster;
  const isCurrent =
    status.observedGeneration === generation &&
    (status.servers ?? []).every(({ upToDate }) => upToDate === true);
  return isCurrent || parts.trustedCa === '';
}
