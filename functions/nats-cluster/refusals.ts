// Refusals of edits that running servers would not survive, and the report of them. Pure.
import { awaitAccounts, refuseAccounts } from './accounts.ts';
import { type Decision, waitFor } from './decision.ts';
import type { Field, State } from './state.ts';
import { isBackTooFar, versionIn } from './version.ts';

export const refuse = (state: State): Decision | undefined =>
  refuseDowngrade(state) ?? refuseAccounts(state);

/** Fields that cannot be as the spec says, for now or for good. */
export function refusedFields(state: State): readonly Field[] {
  const isOfAccounts = (refuseAccounts(state) ?? awaitAccounts(state)) !== undefined;
  return [
    ...(refuseDowngrade(state) === undefined ? [] : ['image' as const]),
    ...(isOfAccounts ? ['accounts' as const] : []),
  ];
}

/** All else is done before it is told. */
export function reportRefused(state: State): Decision | undefined {
  const { refused } = state.parts;
  if (refused !== undefined) return waitFor('Write the configuration', [refused], refused);
  return refuse(state) ?? awaitAccounts(state);
}

/**
 * An older server cannot read what a newer one stored. A server that is silent now counts too: its
 * files stay.
 */
export function refuseDowngrade({ cluster, nats }: State): Decision | undefined {
  const wanted = versionIn(cluster.spec.image);
  const silent = (cluster.status.servers ?? []).filter(({ name }) => !nats.servers.has(name));
  const running = [...nats.servers.values(), ...silent].flatMap(({ version }) => version ?? []);
  const newer = running.find((version) => wanted !== undefined && isBackTooFar(version, wanted));
  if (newer === undefined) return undefined;
  const message =
    `Image ${cluster.spec.image} is more than one minor version behind ${newer}, which has ` +
    'written files that it cannot read; choose a later one.';
  const blocker = { reason: 'DowngradeRefused', message };
  return waitFor(`Change the image to ${cluster.spec.image}`, [blocker], blocker);
}
