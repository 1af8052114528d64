// Servers whose configuration is not the wanted one, although nothing of it needs a restart: each
// is asked to read it anew until the digest it reports is the wanted one. The file comes to it when
// the kubelet brings it, so it may have to be asked for a while. Pure.
import { type Decision, waitFor } from './decision.ts';
import { configDigest } from './render/config.ts';
import { expected, isPodCurrent, podOf, type State } from './state.ts';

export function reload(state: State): Decision | undefined {
  const stale = expected(state).filter((server) => isToReload(state, server));
  const [server] = stale.filter((one) => !state.refusals.has(one));
  const [refused] = stale.filter((one) => isRefusedForGood(state, one));
  if (server === undefined) {
    return refused === undefined ? undefined : refusal(refused, state.refusals.get(refused) ?? '');
  }
  const id = state.nats.servers.get(server)?.id ?? '';
  return { step: { type: 'reload', server, id }, next: `Reload ${server}` };
}

/** It runs, from the right template, on another configuration than the wanted one. */
function isToReload(state: State, server: string): boolean {
  // One that ends still answers through the others, and starts on the wanted one.
  const isStaying = podOf(state, server)?.isEnding === false && isPodCurrent(state, server);
  return isStaying && !isOnWantedConfig(state, server) && !needsRestart(state, server);
}

/** A server that does not answer is not held to be on another one. */
export function isOnWantedConfig({ nats, parts }: State, server: string): boolean {
  const seen = nats.servers.get(server);
  if (seen === undefined || parts.rendered === undefined) return true;
  return seen.digest === configDigest(parts.rendered.config, server);
}

/** What it refuses to take over while it runs, it takes at its next start. */
export const needsRestart = ({ refusals }: State, server: string): boolean =>
  (refusals.get(server) ?? '').includes('not supported');

const isRefusedForGood = (state: State, server: string): boolean =>
  state.refusals.has(server) && !needsRestart(state, server);

function refusal(server: string, why: string): Decision {
  const message = `${server} does not take its configuration: ${why}`;
  const blocker = { reason: 'ReloadRefused', message };
  return waitFor(`Reload ${server}`, [blocker], blocker);
}
