// Decides when a condition that is True becomes Unknown: the function that renews it is dead, or
// fails for this object, for two periods. Only conditions that are True change, and the function
// sets them again at its next reconcile. Pure.
import { ETCD_BACKUP_LEASE, ETCD_BACKUPS } from '../../shared/api/etcd-backup.ts';
import {
  ETCD_BACKUP_SCHEDULE_LEASE,
  ETCD_BACKUP_SCHEDULES,
} from '../../shared/api/etcd-backup-schedule.ts';
import { ETCD_CLUSTER_LEASE, ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { ETCD_PEER_LEASE, ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import { ETCD_RESTORE_LEASE, ETCD_RESTORES } from '../../shared/api/etcd-restore.ts';
import type { MetadataFeedStatus } from '../../shared/api/metadata-feed.ts';
import { NATS_CLUSTER_LEASE, NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { STORAGE_MIGRATION_LEASE, STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import { TAKEOVER_LEASE, TAKEOVERS } from '../../shared/api/takeover.ts';
import { type ConditionInput, NOT_SWEPT, conditionsOf } from '../../shared/kube/conditions.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { type SweepLeaseState, sweptKey } from '../../shared/kube/sweep-lease.ts';

export interface WatchedKind {
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly functionName: string;
  readonly lease: string;
  /** Conditions about the present. A condition about a proof stays true. */
  readonly claims: readonly string[];
}

export const WATCHED_KINDS: readonly WatchedKind[] = [
  {
    ref: NATS_CLUSTERS,
    kind: 'NatsCluster',
    functionName: 'nats-cluster',
    lease: NATS_CLUSTER_LEASE,
    claims: ['Ready', 'Progressing'],
  },
  {
    ref: ETCD_CLUSTERS,
    kind: 'EtcdCluster',
    functionName: 'etcd-cluster',
    lease: ETCD_CLUSTER_LEASE,
    claims: ['Ready', 'Quorate', 'BackupReady', 'Progressing'],
  },
  {
    ref: ETCD_PEERS,
    kind: 'EtcdPeer',
    functionName: 'etcd-peer',
    lease: ETCD_PEER_LEASE,
    claims: ['Ready'],
  },
  {
    ref: ETCD_BACKUPS,
    kind: 'EtcdBackup',
    functionName: 'etcd-backup',
    lease: ETCD_BACKUP_LEASE,
    claims: ['Progressing'],
  },
  {
    ref: ETCD_RESTORES,
    kind: 'EtcdRestore',
    functionName: 'etcd-restore',
    lease: ETCD_RESTORE_LEASE,
    claims: ['Progressing'],
  },
  {
    ref: ETCD_BACKUP_SCHEDULES,
    kind: 'EtcdBackupSchedule',
    functionName: 'etcd-backup',
    lease: ETCD_BACKUP_SCHEDULE_LEASE,
    claims: ['Ready', 'Progressing'],
  },
  {
    ref: STORAGE_MIGRATIONS,
    kind: 'StorageMigration',
    functionName: 'storage-migration',
    lease: STORAGE_MIGRATION_LEASE,
    claims: ['Progressing'],
  },
  {
    ref: TAKEOVERS,
    kind: 'Takeover',
    functionName: 'takeover',
    lease: TAKEOVER_LEASE,
    claims: ['Planned', 'Progressing'],
  },
];

/** Which objects are not reconciled, all or some by name, and since when. */
export interface Staleness {
  readonly isAll: boolean;
  readonly renewTime: string | undefined;
  readonly lastsMs: number;
  readonly failing: ReadonlyMap<string, string>;
}

/** Undefined while all objects are reconciled. */
export function stalenessOf(
  { renewTime, lastsMs, failing: all }: SweepLeaseState,
  ageMs: number,
  nowMs: number,
): Staleness | undefined {
  const isAll = ageMs > lastsMs;
  const failing = new Map([...all].filter(([, since]) => nowMs - Date.parse(since) > lastsMs));
  return isAll || failing.size > 0 ? { isAll, renewTime, lastsMs, failing } : undefined;
}

/**
 * The conditions to set. A condition younger than the period was written by a function that is
 * alive.
 */
export function staleConditions(
  object: KubeObject,
  watched: WatchedKind,
  found: Staleness,
  nowMs: number,
): readonly ConditionInput[] {
  const message = messageOf(sweptKey(object), watched, found);
  if (message === undefined) return [];
  return conditionsOf(object)
    .filter(({ type, status }) => watched.claims.includes(type) && status === 'True')
    .filter((one) => nowMs - Date.parse(one.lastTransitionTime) > found.lastsMs)
    .map(({ type }) => ({ type, status: 'Unknown', reason: NOT_SWEPT, message }));
}

function messageOf(key: string, watched: WatchedKind, found: Staleness): string | undefined {
  const { kind, functionName, lease } = watched;
  const { isAll, renewTime, failing } = found;
  const before = 'What its status says is of before.';
  if (!isAll) {
    const since = failing.get(key);
    if (since === undefined) return undefined;
    return (
      `Each look at this ${kind} has failed since ${since}. ${before} ` +
      `The log of ${functionName} says why.`
    );
  }
  const gap =
    renewTime === undefined
      ? `Nobody is known to look at this ${kind}: there is no Lease ${lease}`
      : `Nobody has looked at this ${kind} since ${renewTime}, when Lease ${lease} was renewed`;
  return (
    `${gap}, as each sweep does. ${before} Look at the function ${functionName}: whether it is ` +
    `installed, its pods, its log, and the PingSource ${functionName}-sweep.`
  );
}

const FEED_PERIODS_MAX = 2;
/** The longest sweep, and the differences of ticks and clocks. */
const FEED_SLACK_MS = 60_000;
/** The conditions that report a healthy feed. */
const FEED_CLAIMS: readonly string[] = ['Ready', 'InSync'];

/** One that was never swept is as old as its feed. */
export const feedSweptAt = (feed: KubeObject): string | undefined =>
  statusOf(feed).sweptAt ?? feed.metadata.creationTimestamp;

/** The conditions of a feed to set; none while it is swept in time. `ageMs`: of its last sweep. */
export function staleFeedConditions(feed: KubeObject, ageMs: number): readonly ConditionInput[] {
  const { sweptAt, conditions = [] } = statusOf(feed);
  const periodMs = sweepSecondsOf(feed) * 1_000;
  if (ageMs <= FEED_PERIODS_MAX * periodMs + FEED_SLACK_MS) return [];
  const since = sweptAt === undefined ? 'since it was made' : `since ${sweptAt}`;
  const message =
    `Nobody has compared this feed with the API server ${since}, though it is due every ` +
    `${periodMs / 1_000} s. Readers go on with what they have. Look at the function metadata: ` +
    'its pods, its log, and the PingSource metadata-sweep.';
  return conditions
    .filter(({ type, status }) => FEED_CLAIMS.includes(type) && status === 'True')
    .map(({ type }) => ({ type, status: 'Unknown', reason: NOT_SWEPT, message }));
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- held to its schema
const statusOf = ({ status = {} }: KubeObject): MetadataFeedStatus => status as MetadataFeedStatus;

const SWEEP_SECONDS = 60;

function sweepSecondsOf({ spec }: KubeObject): number {
  const seconds = isRecord(spec) ? spec['sweepSeconds'] : undefined;
  return typeof seconds === 'number' ? seconds : SWEEP_SECONDS;
}
