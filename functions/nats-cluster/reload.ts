// Reloads servers whose configuration is outdated and needs no restart. Each is asked to read it
// until it reports the wanted digest; the kubelet takes a while to bring the file, so it may have
// to be asked several times. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
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

/** True when it runs from the right template, on an outdated configuration. */
function isToReload(state: State, server: string): boolean {
  // A pod that ends still answers through the others, and its successor starts on the wanted one.
  const isStaying = podOf(state, server)?.isEnding === false && isPodCurrent(state, server);
  return isStaying && !isOnWantedConfig(state, server) && !needsRestart(state, server);
}

/** A silent server counts as up to date: nothing could be asked of it. */
export function isOnWantedConfig({ nats, parts }: State, server: string): boolean {
  const answered = nats.servers.get(server);
  if (answered === undefined || parts.rendered === undefined) return true;
  return answered.digest === configDigest(parts.rendered.config, server);
}

/** A running server refuses some settings; it takes them over at its next start. */
export const needsRestart = ({ refusals }: State, server: string): boolean =>
  (refusals.get(server) ?? '').includes('not supported');

const isRefusedForGood = (state: State, server: string): boolean =>
  state.refusals.has(server) && !needsRestart(state, server);

function refusal(server: string, why: string): Decision {
  const message = `${server} does not take its configuration: ${why}`;
  const blocker = { reason: 'ReloadRefused', message };
  return waitFor(`Reload ${server}`, [blocker], blocker);
}
