// Plans the removal of accounts. An account that leaves the configuration takes its streams out of
// everybody's reach, and putting it back does not bring them. So such an edit waits until all
// servers have reported that the account holds none. Pure.
import type { NatsClusterSpec } from '../../shared/api/nats-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { covers, awayReason } from './safety.ts';
import { accountsOf } from './render/config.ts';
import { startingSince } from './starting.ts';
import { expected, type State } from './state.ts';

/** Accounts that may have streams after the edit. */
const wantedAccounts = (spec: NatsClusterSpec): readonly string[] =>
  accountsOf(spec)
    .filter(({ jetStream }) => jetStream)
    .map(({ name }) => name);

function goingIn(state: State): readonly string[] {
  const wanted = wantedAccounts(state.cluster.spec);
  const all = state.parts.accounts ?? seenAccounts(state);
  return all.filter((account) => !wanted.includes(account));
}

const nextFor = (going: readonly string[]): string => `Take ${listed(going)} from the accounts`;

export function refuseAccounts(state: State): Decision | undefined {
  const going = goingIn(state);
  const inUse = refusal(state, going);
  return inUse && waitFor(nextFor(going), [inUse], inUse);
}

/** Brings servers that are away back first: one of them may be away because of this very spec. */
export function awaitAccounts(state: State): Decision | undefined {
  const going = goingIn(state);
  // With the last configuration lost, starting servers wait for the next one: do not wait for them.
  if (going.length === 0 || state.parts.accounts === undefined) return undefined;
  const unseen = unseenBlockers(state);
  if (unseen.length === 0) return undefined;
  const message =
    'It may have a stream there. What else the servers are to be waits too: to have that first, ' +
    `put ${listed(going)} back for now.`;
  return waitFor(nextFor(going), [...unseen, { reason: 'ServerAway', message }]);
}

/** Accounts of the reported streams, for when no copy of the configuration is left. */
const seenAccounts = ({ nats }: State): readonly string[] => [
  ...new Set(nats.groups.map(({ account }) => account)),
];

function refusal({ cluster, nats }: State, going: readonly string[]): Reason | undefined {
  const { waive = [] } = cluster.spec;
  const held = nats.groups.filter(
    (group) =>
      group.consumer === undefined &&
      going.includes(group.account) &&
      !waive.some((one) => one.consumer === undefined && covers(one, group)),
  );
  if (held.length === 0) return undefined;
  const names = held.map(({ account, stream }) => `${stream} of ${account}`);
  const message =
    `These streams would be out of reach without their accounts: ${listed(names)}. Put the ` +
    'accounts back into spec.accounts with jetStream: true (DEFAULT too, which a spec without ' +
    'accounts has), delete the streams, or waive them. Nothing is changed before.';
  return { reason: 'AccountInUse', message };
}

/** A server that is away may have a stream that no other one reports; a new one has none. */
const unseenBlockers = (state: State): readonly Reason[] =>
  expected(state)
    .filter((server) => startingSince(state, server) === undefined)
    .flatMap((server) => awayReason(state, server) ?? []);
