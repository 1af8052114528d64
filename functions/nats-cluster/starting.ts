// New servers: the status remembers since when each of them starts, until it has joined the others
// once. A server that was there before and is away now is no new server. Pure.
import { timestamp } from '../../shared/kube/timestamp.ts';
import { awayReason } from './safety.ts';
import { expected, isSingle, type State } from './state.ts';

/** Time to pull an image and make a volume; a server that takes longer may never come. */
const START_MS = 600_000;

/** Undefined for a server that has joined the others before. */
export function startingSince(state: State, server: string): string | undefined {
  const before = state.cluster.status.servers?.find(({ name }) => name === server);
  if (before !== undefined && before.startingSince === undefined) return undefined;
  if (hasJoined(state, server)) return undefined;
  return before?.startingSince ?? timestamp(state.nowMs);
}

function hasJoined(state: State, server: string): boolean {
  const { meta } = state.nats;
  const isMember = meta?.peers.some((one) => one.server === server && one.isCurrent) ?? false;
  return awayReason(state, server) === undefined && (isSingle(state) || isMember);
}

/** True for a new server that has not taken too long yet. */
export function isStarting(state: State, server: string): boolean {
  const since = startingSince(state, server);
  return since !== undefined && state.nowMs - Date.parse(since) < START_MS;
}

export const areStarting = (state: State): boolean =>
  expected(state).some((server) => isStarting(state, server));
