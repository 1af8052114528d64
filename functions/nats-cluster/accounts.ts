// An account that goes from the configuration takes its streams out of everybody's reach, and
// putting it back does not bring them: so an edit that takes one away waits until all servers have
// said that it holds none. Pure.
import type { NatsClusterSpec } from '../../shared/api/nats-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { type Decision, listed, waitFor } from './decision.ts';
import { covers, awayReason } from './safety.ts';
import { accountsOf } from './render/config.ts';
import { startingSince } from './starting.ts';
import { expected, type State } from './state.ts';

/** Those that may have streams after the edit. */
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

/** Servers that are away are brought back first: they may be so for good, or for this very spec. */
export function awaitAccounts(state: State): Decision | undefined {
  const going = goingIn(state);
  // A server that starts may wait for a configuration that is lost, and is not waited for in turn.
  if (going.length === 0 || state.parts.accounts === undefined) return undefined;
  const unseen = unseenBlockers(state);
  if (unseen.length === 0) return undefined;
  const message =
    'It may have a stream there. What else the servers are to be waits too: to have that first, ' +
    `put ${listed(going)} back for now.`;
  return waitFor(nextFor(going), [...unseen, { reason: 'ServerAway', message }]);
}

/** Those of streams, when nobody can tell any more what the servers have been told. */
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

/** One that is away may have a stream that no other one tells of; a new one has none. */
const unseenBlockers = (state: State): readonly Reason[] =>
  expected(state)
    .filter((server) => startingSince(state, server) === undefined)
    .flatMap((server) => awayReason(state, server) ?? []);
