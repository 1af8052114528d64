// The answers of all servers put together: one entry for each server, the meta group as its leader
// sees it, and each stream and consumer as its own leader sees it. Pure.
import type {
  ConsumerDetail,
  GroupCluster,
  HealthAnswer,
  HealthError,
  JszAnswer,
  PeerInfo,
  StreamDetail,
  VarzAnswer,
} from '../../shared/nats/system-answers.ts';

export interface Peer {
  readonly server: string;
  readonly peerId: string;
  readonly isCurrent: boolean;
}

export interface ServerState {
  readonly name: string;
  /** Differs after each start. */
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  /**
   * Streams and consumers that are assigned to it and not current there; empty when it is healthy.
   */
  readonly healthErrors: readonly HealthError[];
  /** False while it does not report its streams: it may have some that no other server knows. */
  readonly reportsStreams: boolean;
}

export interface Group {
  readonly account: string;
  readonly stream: string;
  /** Undefined for the stream itself. */
  readonly consumer: string | undefined;
  readonly replicas: number;
  readonly isInMemory: boolean;
  readonly leader: string | undefined;
  /** The leader among them. */
  readonly members: readonly Peer[];
  /** Its members are being changed. */
  readonly isMoving: boolean;
}

export interface NatsState {
  /** Servers that answered, by name. */
  readonly servers: ReadonlyMap<string, ServerState>;
  /** Undefined when it has no leader, and where there is no such group. */
  readonly meta: MetaState | undefined;
  readonly groups: readonly Group[];
  /** Servers that run and accept none of the known passwords. */
  readonly refusingPassword?: readonly string[];
  /** Answers that could not be read, and why. */
  readonly rejectedAnswers?: readonly string[];
}

interface MetaState {
  readonly leader: string;
  readonly size: number;
  /** The leader among them. */
  readonly peers: readonly Peer[];
}

export const NO_ANSWERS: NatsState = { servers: new Map(), meta: undefined, groups: [] };

/** Ten heartbeats: a peer that was silent for so long is not current, whatever was known last. */
const SILENT_NS = 10_000_000_000;

export function natsStateOf(
  servers: readonly VarzAnswer[],
  jetStream: readonly JszAnswer[],
  health: readonly HealthAnswer[],
): NatsState {
  const healthErrors = new Map(health.map((one) => [one.server.name, healthErrorsIn(one)]));
  const reporters = new Set(jetStream.map(({ server }) => server.name));
  const states = servers.map(({ server: { name, id, ver: version }, data }) => ({
    name,
    id,
    version,
    digest: data.config_digest ?? '',
    healthErrors: healthErrors.get(name) ?? NO_HEALTH_ANSWER,
    reportsStreams: reporters.has(name),
  }));
  return {
    servers: new Map(states.map((one) => [one.name, one])),
    meta: metaIn(jetStream),
    groups: groupsIn(jetStream),
  };
}

const NO_HEALTH_ANSWER: readonly HealthError[] = [{ error: 'it did not say how it is' }];

function healthErrorsIn({ data }: HealthAnswer): readonly HealthError[] {
  if (data.status === 'ok') return [];
  const { errors = [], error = data.status } = data;
  return errors.length > 0 ? errors : [{ error }];
}

function metaIn(answers: readonly JszAnswer[]): MetaState | undefined {
  for (const { server, data } of answers) {
    const meta = data.meta_cluster;
    if (meta === undefined || meta.leader !== server.name) continue;
    const own = { server: server.name, peerId: meta.peer ?? '', isCurrent: true };
    const peers = [own, ...(meta.replicas ?? []).map(peerOf)];
    return { leader: server.name, size: meta.cluster_size ?? peers.length, peers };
  }
  return undefined;
}

/**
 * A stream under constant writes always has messages on their way. Acknowledged ones are on a
 * majority, so a peer that was heard of just now and lacks fewer than this is about to have them.
 */
const ON_ITS_WAY_MAX = 256;
/** Two heartbeats. */
const JUST_HEARD_NS = 2_000_000_000;

function peerOf({ name, peer, current, offline = false, active, lag = 0 }: PeerInfo): Peer {
  const isJustBehind = lag > 0 && lag <= ON_ITS_WAY_MAX && active > 0 && active < JUST_HEARD_NS;
  const isCurrent = !offline && active < SILENT_NS && (current || isJustBehind);
  return { server: name, peerId: peer ?? '', isCurrent };
}

/**
 * One entry by account, stream and consumer: the leader's report, or any other without a leader.
 */
function groupsIn(answers: readonly JszAnswer[]): readonly Group[] {
  const found = new Map<string, { readonly group: Group; readonly isLeaders: boolean }>();
  for (const { server, data } of answers) {
    for (const { name: account, stream_detail } of data.account_details ?? []) {
      for (const stream of stream_detail ?? []) {
        for (const group of groupsOf(account, stream, server.name)) {
          const key = JSON.stringify([account, group.stream, group.consumer]);
          const isLeaders = group.leader === server.name;
          if (isLeaders || !found.has(key)) found.set(key, { group, isLeaders });
        }
      }
    }
  }
  return [...found.values()].map(({ group }) => group);
}

function groupsOf(account: string, stream: StreamDetail, reporter: string): readonly Group[] {
  const { num_replicas: replicas = 1, storage = 'file', retention } = stream.config ?? {};
  const about = { account, stream: stream.name, isInMemory: storage === 'memory' };
  const consumers = stream.consumer_detail ?? [];
  return [
    { ...about, consumer: undefined, replicas, ...membersOf(stream.cluster, reporter) },
    ...consumers.map((one) => ({
      ...about,
      consumer: one.name,
      replicas: replicasOf(one, replicas, retention),
      ...membersOf(one.cluster, reporter),
    })),
  ];
}

/**
 * 0 means as many as the stream has. An ephemeral consumer has one replica, except on streams that
 * keep messages for their consumers. No consumer has more replicas than its stream.
 */
function replicasOf({ config }: ConsumerDetail, ofStream: number, retention = 'limits'): number {
  const { num_replicas: own = 0, durable_name } = config ?? {};
  if (own > 0) return Math.min(own, ofStream);
  return durable_name === undefined && retention === 'limits' ? 1 : ofStream;
}

/** Without a cluster, the server that reports the stream is its only member. */
function membersOf(cluster: GroupCluster | undefined, reporter: string) {
  if (cluster === undefined) {
    const members = [{ server: reporter, peerId: '', isCurrent: true }];
    return { leader: reporter, members, isMoving: false };
  }
  const leader = cluster.leader === '' ? undefined : cluster.leader;
  const own = leader === undefined ? [] : [{ server: leader, peerId: '', isCurrent: true }];
  const others = (cluster.replicas ?? []).map(peerOf).filter(({ server }) => server !== leader);
  return { leader, members: [...own, ...others], isMoving: cluster.desired !== undefined };
}
