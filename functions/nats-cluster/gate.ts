// Whether a server may be taken away: what speaks against it, in sentences that name the server,
// stream or consumer. Whatever cannot be seen speaks against it. Pure.
import type { StreamAtRisk, Waiver } from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { HealthError } from '../../shared/nats/system-answers.ts';
import { ordinalOf } from './cluster.ts';
import type { Group, Peer } from './view.ts';
import { expected, isSingle, isUp, type Pod, podOf, type Word, type World } from './world.ts';

/** What speaks against taking `server` away for a while, or, without one, against any change. */
export function doubts(world: World, server?: string): readonly Word[] {
  const own =
    server === undefined ? [] : [...untoldWords(world, server), ...loneWords(world, server)];
  return [...doubtsAround(world, server), ...own];
}

/** The same for the others of a server that is emptied before it goes. */
export function doubtsAround(world: World, server?: string): readonly Word[] {
  return [
    ...awayWords(world, server),
    ...metaWords(world, server),
    ...atRisk(world, server).map(riskWord),
  ];
}

/** Streams and consumers that are not as they should be on the servers other than `without`. */
export function atRisk(world: World, without?: string): readonly StreamAtRisk[] {
  const { waive = [] } = world.cluster.spec;
  // A server that is away anyway has nothing current, and takes nothing away by being made anew.
  const ignored = without !== undefined && !isUp(world, without) ? without : undefined;
  const risks = [
    ...world.nats.groups.flatMap((group) => groupRisk(group, ignored)),
    ...[...world.nats.servers.values()]
      .filter(({ name }) => name !== ignored)
      .flatMap(({ name, complaints }) => complaints.flatMap((one) => complaintRisk(name, one))),
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

const riskWord = (risk: StreamAtRisk): Word => ({
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
function complaintRisk(server: string, complaint: HealthError): readonly StreamAtRisk[] {
  const { account, stream, consumer, error = 'it is not healthy' } = complaint;
  if (account === undefined || stream === undefined) return [];
  const reason = `is not healthy on ${server} (${error})`;
  return [{ account, stream, ...(consumer === undefined ? {} : { consumer }), reason }];
}

/**
 * All but servers that are to go again, are not there, and never were in the meta group: they have
 * nothing, and may never come.
 */
function awaited(world: World): readonly string[] {
  return expected(world).filter((server) => !isStillborn(world, server));
}

function isStillborn(world: World, server: string): boolean {
  const { meta } = world.nats;
  const isToGo = ordinalOf(server) >= world.cluster.spec.replicas;
  if (!isToGo || isUp(world, server) || meta === undefined) return false;
  // Some may be counted whose names the leader does not know.
  return meta.size <= meta.peers.length && !meta.peers.some((one) => one.server === server);
}

function awayWords(world: World, without: string | undefined): readonly Word[] {
  return awaited(world)
    .filter((server) => server !== without)
    .flatMap((server) => whyAway(world, server) ?? []);
}

const away = (message: string): Word => ({ reason: 'ServerAway', message });

/** Why it cannot be told which streams a server has; those in memory are gone when it is away. */
export function unseenWords(world: World, server: string): readonly Word[] {
  const { fileStorage } = world.cluster.spec.jetStream;
  if (isStillborn(world, server)) return [];
  if (fileStorage === undefined && !isUp(world, server)) return [];
  const why = whyAway(world, server);
  return why === undefined ? [] : [why];
}

const untoldWords = ({ nats }: World, server: string): readonly Word[] =>
  nats.servers.get(server)?.tellsStreams === false
    ? [away(`${server} does not say which streams it has${unreadWord({ nats })}.`)]
    : [];

/** It may have answered something that nobody reads. */
const unreadWord = ({ nats }: Pick<World, 'nats'>): string =>
  nats.unread?.[0] === undefined ? '' : ` (${cut(nats.unread[0], WHY_BYTES_MAX)})`;

const WHY_BYTES_MAX = 300;

const podWord = ({ name, trouble }: Pod): Word | undefined =>
  trouble && { reason: trouble.reason, message: `${name} does not run: ${trouble.message}.` };

/** Whoever pulls an image or makes room needs some time, and then a person has to know. */
const STUCK_MS = 120_000;

/** What pods say that do not become ready by themselves. */
export function stuckWords(world: World): readonly Word[] {
  return expected(world).flatMap((server) => {
    const pod = podOf(world, server);
    if (pod === undefined || pod.isReady || pod.isEnding) return [];
    const isLate = world.nowMs - Date.parse(pod.unreadySince ?? '') >= STUCK_MS;
    return isLate ? (podWord(pod) ?? []) : [];
  });
}

/** What keeps a server from doing its part. */
export function whyAway(world: World, server: string): Word | undefined {
  const pod = podOf(world, server);
  if (pod === undefined) return away(`${server} has no pod.`);
  if (pod.isEnding) return away(`${server} is ending.`);
  if (!pod.isReady) {
    const message = world.parts.pending.get(server);
    if (message !== undefined) return { reason: 'ClaimPending', message };
    return podWord(pod) ?? away(`${server} is not ready.`);
  }
  const seen = world.nats.servers.get(server);
  if (seen === undefined) return away(`${server} does not answer${unreadWord(world)}.`);
  const own = seen.complaints.find(({ stream }) => stream === undefined);
  return own === undefined
    ? untoldWords(world, server)[0]
    : away(`${server} is not healthy: ${own.error ?? 'no reason given'}.`);
}

function metaWords(world: World, without: string | undefined): readonly Word[] {
  if (isSingle(world)) return [];
  const { meta } = world.nats;
  if (meta === undefined) {
    return [{ reason: 'NoMetaLeader', message: "JetStream's meta group has no leader." }];
  }
  const servers = expected(world);
  const strangers = meta.peers.filter(({ server }) => !servers.includes(server)).map(serverOf);
  const missing = awaited(world).filter((one) => !meta.peers.some(({ server }) => server === one));
  const ignored = without !== undefined && !isUp(world, without) ? without : undefined;
  const late = meta.peers.filter((one) => !one.isCurrent && one.server !== ignored).map(serverOf);
  return [
    ...(strangers.length > 0 ? [metaWord(`still counts ${strangers.join(' and ')}`)] : []),
    ...(missing.length > 0 ? [metaWord(`does not have ${missing.join(' and ')} yet`)] : []),
    ...(late.length > 0 ? [metaWord(`is not current on ${late.join(' and ')}`)] : []),
  ];
}

const metaWord = (what: string): Word => ({
  reason: 'MetaGroup',
  message: `JetStream's meta group ${what}.`,
});

/** Streams that go away with the server, because it has their only replica, or their majority. */
function loneWords(world: World, server: string): readonly Word[] {
  const { waive = [], unreplicatedStreams } = world.cluster.spec;
  return world.nats.groups
    .filter(
      ({ consumer, members }) =>
        consumer === undefined && members.some((one) => one.server === server),
    )
    .filter((group) => !keepsQuorum(group))
    .filter(({ isInMemory }) => isInMemory || unreplicatedStreams === 'Wait')
    .filter(({ account, stream }) => !waive.some((one) => covers(one, { account, stream })))
    .map(({ account, stream, isInMemory, members }) => {
      const isLost = isInMemory && members.length === 1;
      const what = isLost
        ? `would be lost, because it lives in the memory of ${server} alone`
        : `would be away with ${server}`;
      const name = capital(nameOf({ account, stream }));
      const message = `${name} ${what}; give it replicas, or waive it.`;
      return { reason: 'UnreplicatedStream', message };
    });
}

/** Without one of its members. */
const keepsQuorum = ({ replicas }: Group): boolean => replicas - 1 > Math.floor(replicas / 2);
