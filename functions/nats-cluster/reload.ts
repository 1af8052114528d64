// Servers whose configuration is not the wanted one, although nothing of it needs a restart: each
// is asked to read it anew until the digest it reports is the wanted one. The file comes to it when
// the kubelet brings it, so it may have to be asked for a while. Pure.
import { type Decision, waitFor } from './decision.ts';
import { configDigest } from './render/config.ts';
import { expected, isPodCurrent, podOf, type World } from './world.ts';

export function reload(world: World): Decision | undefined {
  const stale = expected(world).filter((server) => isToReload(world, server));
  const [server] = stale.filter((one) => !world.refusals.has(one));
  const [refused] = stale.filter((one) => isRefusedForGood(world, one));
  if (server === undefined) {
    return refused === undefined ? undefined : refusal(refused, world.refusals.get(refused) ?? '');
  }
  const id = world.nats.servers.get(server)?.id ?? '';
  return { step: { take: 'reload', server, id }, next: `Reload ${server}` };
}

/** It runs, from the right template, on another configuration than the wanted one. */
function isToReload(world: World, server: string): boolean {
  // One that ends still answers through the others, and starts on the wanted one.
  const isStaying = podOf(world, server)?.isEnding === false && isPodCurrent(world, server);
  return isStaying && !isOnWantedConfig(world, server) && !needsRestart(world, server);
}

/** A server that does not answer is not held to be on another one. */
export function isOnWantedConfig({ nats, parts }: World, server: string): boolean {
  const seen = nats.servers.get(server);
  if (seen === undefined || parts.rendered === undefined) return true;
  return seen.digest === configDigest(parts.rendered.config, server);
}

/** What it refuses to take over while it runs, it takes at its next start. */
export const needsRestart = ({ refusals }: World, server: string): boolean =>
  (refusals.get(server) ?? '').includes('not supported');

const isRefusedForGood = (world: World, server: string): boolean =>
  world.refusals.has(server) && !needsRestart(world, server);

function refusal(server: string, why: string): Decision {
  const message = `${server} does not take its configuration: ${why}`;
  const word = { reason: 'ReloadRefused', message };
  return waitFor(`Reload ${server}`, [word], word);
}
