// Servers that are new: since when each of them has been on its way, which the status remembers
// until it has joined the others once. Who was there before and is away is no new server. Pure.
import { timestamp } from '../../shared/kube/timestamp.ts';
import { whyAway } from './gate.ts';
import { expected, isSingle, type World } from './world.ts';

/** Images are pulled and volumes made meanwhile; who takes longer may never come. */
const START_MS = 600_000;

/** Undefined of one that has joined the others before. */
export function startingSince(world: World, server: string): string | undefined {
  const before = world.cluster.status.servers?.find(({ name }) => name === server);
  if (before !== undefined && before.startingSince === undefined) return undefined;
  if (hasJoined(world, server)) return undefined;
  return before?.startingSince ?? timestamp(world.nowMs);
}

function hasJoined(world: World, server: string): boolean {
  const { meta } = world.nats;
  const isMember = meta?.peers.some((one) => one.server === server && one.isCurrent) ?? false;
  return whyAway(world, server) === undefined && (isSingle(world) || isMember);
}

/** It is new, and has not taken too long yet. */
export function isStarting(world: World, server: string): boolean {
  const since = startingSince(world, server);
  return since !== undefined && world.nowMs - Date.parse(since) < START_MS;
}

export const areStarting = (world: World): boolean =>
  expected(world).some((server) => isStarting(world, server));
