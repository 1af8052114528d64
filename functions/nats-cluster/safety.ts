// Safety checks: blockers of taking a server away, in sentences that name the server, stream or
// consumer. Everything that cannot be observed is a blocker. Pure.
import type { StreamAtRisk, Waiver } from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { HealthError } from '../../shared/nats/system-answers.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { ordinalOf } from './cluster.ts';
import type { Group, Peer } from './nats-state.ts';
import { expected, isSingle, isUp, podOf, type State } from './state.ts';

/** Blockers of taking `server` away for a while, or, without one, of any change. */
export function blockersOf(state: State, server?: string): readonly Reason[] {
  const own =
    server === undefined
      ? []
      : [...unreportedBlockers(state, server), ...unreplicatedBlockers(state, server)];
  return [...blockersAround(state, server), ...own];
}

/** The same without the streams of `server` itself, which is emptied before it goes. */
export function blockersAround(state: State, server?: string): readonly Reason[] {
  return [
    ...awayBlockers(state, server),
    ...metaBlockers(state, server),
    ...atRisk(state, server).map(riskBlocker),
  ];
}

/** Streams and consumers that are not healthy on the servers other than `without`. */
export function atRisk(state: State, without?: string): readonly StreamAtRisk[] {
  const { waive = [] } = state.cluster.spec;
  // A server that is down has nothing current, so restarting it takes nothing away.
  const ignored = without !== undefined && !isUp(state, without) ? without : undefined;
  const risks = [
    ...state.nats.groups.flatMap((group) => groupRisk(group, ignored)),
    ...[...state.nats.servers.values()]
      .filter(({ name }) => name !== ignored)
      .flatMap(({ name, healthErrors }) => healthErrors.flatMap((one) => healthRisk(name, one))),
  ];
  return distinct(risks).filter((risk) => !waive.some((waiver) => covers(waiver, risk)));
}

/**
 * One risk by name; the report of a leader comes first, and beats that of a server about itself.
 */
function distinct(risks: readonly StreamAtRisk[]): readonly StreamAtRisk[] {
  const byName = new Map<string, StreamAtRisk>();
  for (const risk of risks) {
    const key = nameOf(risk);
    if (!byName.has(key)) byName.set(key, risk);
  }
  return [...byName.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, risk]) => risk);
}

/** Whether a waiver is about it. */
export const covers = (
  { account, stream, consumer }: Waiver,
  it: Pick<Group, 'account' | 'stream'> & { readonly consumer?: string | undefined },
): boolean =>
  account === it.account &&
  stream === it.stream &&
  (consumer === undefined || consumer === it.consumer);

/** `stream ORDERS of account SHOP`. */
export const nameOf = ({ account, stream, consumer }: Waiver): string =>
  consumer === undefined
    ? `stream ${stream} of account ${account}`
    : `consumer ${consumer} on stream ${stream} of account ${account}`;

const riskBlocker = (risk: StreamAtRisk): Reason => ({
  reason: 'StreamAtRisk',
  message: `${capital(nameOf(risk))} ${risk.reason}.`,
});

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function groupRisk(group: Group, ignored: string | undefined): readonly StreamAtRisk[] {
  const reason = lacks(group, ignored);
  if (reason === undefined) return [];
  const { account, stream, consumer } = group;
  return [{ account, stream, ...(consumer === undefined ? {} : { consumer }), reason }];
}

function lacks(group: Group, ignored: string | undefined): string | undefined {
  const { leader, members, replicas, isMoving } = group;
  if (leader === undefined) return 'has no leader';
  if (isMoving || members.length > replicas) return 'is moving to other servers';
  if (members.length < replicas) return `has ${members.length} of ${replicas} replicas`;
  const late = members.filter((one) => !one.isCurrent && one.server !== ignored).map(serverOf);
  return late.length === 0 ? undefined : `is not current on ${late.join(' and ')}`;
}

const serverOf = ({ server }: Peer): string => server;

/** An error about the server as a whole is no stream's risk. */
function healthRisk(server: string, healthError: HealthError): readonly StreamAtRisk[] {
  const { account, stream, consumer, error = 'it is not healthy' } = healthError;
  if (account === undefined || stream === undefined) return [];
  const reason = `is not healthy on ${server} (${error})`;
  return [{ account, stream, ...(consumer === undefined ? {} : { consumer }), reason }];
}

/**
 * All servers except those that the spec no longer wants, that are down, and that never joined the
 * meta group: they hold nothing, and may never come.
 */
function awaited(state: State): readonly string[] {
  return expected(state).filter((server) => !isStillborn(state, server));
}

function isStillborn(state: State, server: string): boolean {
  const { meta } = state.nats;
  const isToGo = ordinalOf(server) >= state.cluster.spec.replicas;
  if (!isToGo || isUp(state, server) || meta === undefined) return false;
  // The group may count members whose names the leader does not know.
  return meta.size <= meta.peers.length && !meta.peers.some((one) => one.server === server);
}

function awayBlockers(state: State, without: string | undefined): readonly Reason[] {
  return awaited(state)
    .filter((server) => server !== without)
    .flatMap((server) => awayReason(state, server) ?? []);
}

const away = (message: string): Reason => ({ reason: 'ServerAway', message });

/** Reasons why the streams of a server are unknown; streams in memory are gone when it is down. */
export function unseenBlockers(state: State, server: string): readonly Reason[] {
  const { fileStorage } = state.cluster.spec.jetStream;
  if (isStillborn(state, server)) return [];
  if (fileStorage === undefined && !isUp(state, server)) return [];
  const why = awayReason(state, server);
  return why === undefined ? [] : [why];
}

const unreportedBlockers = ({ nats }: State, server: string): readonly Reason[] =>
  nats.servers.get(server)?.reportsStreams === false
    ? [away(`${server} does not say which streams it has${unreadNote({ nats })}.`)]
    : [];

/** Adds the answer that could not be read, if there was one. */
const unreadNote = ({ nats }: Pick<State, 'nats'>): string =>
  nats.rejectedAnswers?.[0] === undefined
    ? ''
    : ` (${cut(nats.rejectedAnswers[0], WHY_BYTES_MAX)})`;

const WHY_BYTES_MAX = 300;

const podReason = ({ name, trouble }: Pod): Reason | undefined =>
  trouble && { reason: trouble.reason, message: `${name} does not run: ${trouble.message}.` };

/** Time to pull an image or to make room on a node; after it a person has to know. */
const STUCK_MS = 120_000;

/** Reasons of pods that do not become ready by themselves. */
export function stuckReasons(state: State): readonly Reason[] {
  return expected(state).flatMap((server) => {
    const pod = podOf(state, server);
    if (pod === undefined || pod.isReady || pod.isEnding) return [];
    const isLate = state.nowMs - Date.parse(pod.unreadySince ?? '') >= STUCK_MS;
    return isLate ? (podReason(pod) ?? []) : [];
  });
}

/** The reason why a server does not do its part; undefined when it does. */
export function awayReason(state: State, server: string): Reason | undefined {
  const pod = podOf(state, server);
  if (pod === undefined) {
    const { name } = state.cluster.object.metadata;
    return away(`${server} has no pod; Events of StatefulSet ${name} tell of trouble.`);
  }
  if (pod.isEnding) return away(`${server} is ending.`);
  if (!pod.isReady) {
    const message = state.parts.pending.get(server);
    if (message !== undefined) return { reason: 'ClaimPending', message };
    return podReason(pod) ?? away(`${server} is not ready.`);
  }
  const answered = state.nats.servers.get(server);
  if (answered === undefined) return away(`${server} does not answer${unreadNote(state)}.`);
  const own = answered.healthErrors.find(({ stream }) => stream === undefined);
  return own === undefined
    ? unreportedBlockers(state, server)[0]
    : away(`${server} is not healthy: ${own.error ?? 'no reason given'}.`);
}

function metaBlockers(state: State, without: string | undefined): readonly Reason[] {
  if (isSingle(state)) return [];
  const { meta } = state.nats;
  if (meta === undefined) {
    return [{ reason: 'NoMetaLeader', message: "JetStream's meta group has no leader." }];
  }
  const servers = expected(state);
  const strangers = meta.peers.filter(({ server }) => !servers.includes(server)).map(serverOf);
  const missing = awaited(state).filter((one) => !meta.peers.some(({ server }) => server === one));
  const ignored = without !== undefined && !isUp(state, without) ? without : undefined;
  const late = meta.peers.filter((one) => !one.isCurrent && one.server !== ignored).map(serverOf);
  return [
    ...(strangers.length > 0 ? [metaBlocker(`still counts ${strangers.join(' and ')}`)] : []),
    ...(missing.length > 0 ? [metaBlocker(`does not have ${missing.join(' and ')} yet`)] : []),
    ...(late.length > 0 ? [metaBlocker(`is not current on ${late.join(' and ')}`)] : []),
  ];
}

const metaBlocker = (finding: string): Reason => ({
  reason: 'MetaGroup',
  message: `JetStream's meta group ${finding}.`,
});

/**
 * Streams that become unavailable with the server, because it has their only replica or their
 * majority.
 */
function unreplicatedBlockers(state: State, server: string): readonly Reason[] {
  const { waive = [], unreplicatedStreams } = state.cluster.spec;
  return state.nats.groups
    .filter(
      ({ consumer, members }) =>
        consumer === undefined && members.some((one) => one.server === server),
    )
    .filter((group) => !keepsQuorum(group))
    .filter(({ isInMemory }) => isInMemory || unreplicatedStreams === 'Wait')
    .filter(({ account, stream }) => !waive.some((one) => covers(one, { account, stream })))
    .map(({ account, stream, isInMemory, members }) => {
      const isLost = isInMemory && members.length === 1;
      const loss = isLost
        ? `would be lost, because it lives in the memory of ${server} alone`
        : `would be away with ${server}`;
      const name = capital(nameOf({ account, stream }));
      const message = `${name} ${loss}; give it replicas, or waive it.`;
      return { reason: 'UnreplicatedStream', message };
    });
}

/** True when the group keeps its quorum without one member. */
const keepsQuorum = ({ replicas }: Group): boolean => replicas - 1 > Math.floor(replicas / 2);
