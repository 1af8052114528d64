// Whether a server may be taken away: what speaks against it, in sentences that name the server,
// stream or consumer. Whatever cannot be seen speaks against it. Pure.
import type { StreamAtRisk, Waiver } from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { HealthError } from '../../shared/nats/system-answers.ts';
import { ordinalOf } from './cluster.ts';
import type { Group, Peer } from './nats-state.ts';
import { expected, isSingle, isUp, type Pod, podOf, type State } from './state.ts';

/** What speaks against taking `server` away for a while, or, without one, against any change. */
export function blockersOf(state: State, server?: string): readonly Reason[] {
  const own =
    server === undefined
      ? []
      : [...unreportedBlockers(state, server), ...unreplicatedBlockers(state, server)];
  return [...blockersAround(state, server), ...own];
}

/** The same for the others of a server that is emptied before it goes. */
export function blockersAround(state: State, server?: string): readonly Reason[] {
  return [
    ...awayBlockers(state, server),
    ...metaBlockers(state, server),
    ...atRisk(state, server).map(riskBlocker),
  ];
}

/** Streams and consumers that are not as they should be on the servers other than `without`. */
export function atRisk(state: State, without?: string): readonly StreamAtRisk[] {
  const { waive = [] } = state.cluster.spec;
  // A server that is away anyway has nothing current, and takes nothing away by being made anew.
  const ignored = without !== undefined && !isUp(state, without) ? without : undefined;
  const risks = [
    ...state.nats.groups.flatMap((group) => groupRisk(group, ignored)),
    ...[...state.nats.servers.values()]
      .filter(({ name }) => name !== ignored)
      .flatMap(({ name, healthErrors }) => healthErrors.flatMap((one) => healthRisk(name, one))),
  ];
  return distinct(risks).filter((risk) => !waive.some((waiver) => covers(waiver, risk)));
}

/** By name; what its leader says is worth more than what a server says of itself. */
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

/** What is wrong with a server as a whole is not a stream's. */
function healthRisk(server: string, healthError: HealthError): readonly StreamAtRisk[] {
  const { account, stream, consumer, error = 'it is not healthy' } = healthError;
  if (account === undefined || stream === undefined) return [];
  const reason = `is not healthy on ${server} (${error})`;
  return [{ account, stream, ...(consumer === undefined ? {} : { consumer }), reason }];
}

/**
 * All but servers that are to go again, are not there, and never were in the meta group: they have
 * nothing, and may never come.
 */
function awaited(state: State): readonly string[] {
  return expected(state).filter((server) => !isStillborn(state, server));
}

function isStillborn(state: State, server: string): boolean {
  const { meta } = state.nats;
  const isToGo = ordinalOf(server) >= state.cluster.spec.replicas;
  if (!isToGo || isUp(state, server) || meta === undefined) return false;
  // Some may be counted whose names the leader does not know.
  return meta.size <= meta.peers.length && !meta.peers.some((one) => one.server === server);
}

function awayBlockers(state: State, without: string | undefined): readonly Reason[] {
  return awaited(state)
    .filter((server) => server !== without)
    .flatMap((server) => awayReason(state, server) ?? []);
}

const away = (message: string): Reason => ({ reason: 'ServerAway', message });

/** Why it cannot be told which streams a server has; those in memory are gone when it is away. */
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

/** It may have answered something that nobody reads. */
const unreadNote = ({ nats }: Pick<State, 'nats'>): string =>
  nats.rejectedAnswers?.[0] === undefined
    ? ''
    : ` (${cut(nats.rejectedAnswers[0], WHY_BYTES_MAX)})`;

const WHY_BYTES_MAX = 300;

const podReason = ({ name, trouble }: Pod): Reason | undefined =>
  trouble && { reason: trouble.reason, message: `${name} does not run: ${trouble.message}.` };

/** Whoever pulls an image or makes room needs some time, and then a person has to know. */
const STUCK_MS = 120_000;

/** What pods say that do not become ready by themselves. */
export function stuckReasons(state: State): readonly Reason[] {
  return expected(state).flatMap((server) => {
    const pod = podOf(state, server);
    if (pod === undefined || pod.isReady || pod.isEnding) return [];
    const isLate = state.nowMs - Date.parse(pod.unreadySince ?? '') >= STUCK_MS;
    return isLate ? (podReason(pod) ?? []) : [];
  });
}

/** What keeps a server from doing its part. */
export function awayReason(state: State, server: string): Reason | undefined {
  const pod = podOf(state, server);
  if (pod === undefined) return away(`${server} has no pod.`);
  if (pod.isEnding) return away(`${server} is ending.`);
  if (!pod.isReady) {
    const message = state.parts.pending.get(server);
    if (message !== undefined) return { reason: 'ClaimPending', message };
    return podReason(pod) ?? away(`${server} is not ready.`);
  }
  const seen = state.nats.servers.get(server);
  if (seen === undefined) return away(`${server} does not answer${unreadNote(state)}.`);
  const own = seen.healthErrors.find(({ stream }) => stream === undefined);
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

/** Streams that go away with the server, because it has their only replica, or their majority. */
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

/** Without one of its members. */
const keepsQuorum = ({ replicas }: Group): boolean => replicas - 1 > Math.floor(replicas / 2);
