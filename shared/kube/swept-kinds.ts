// The promises of functions that sweep: the Lease that says when somebody looked, how long that
// counts, and the conditions of each kind that are about the present. Pure.
import { isRecord } from './json.ts';
import type { KubeObject, ResourceRef } from './objects.ts';
import type { SweepLeaseState } from './sweep-lease.ts';
import { ETCD_BACKUP_LEASE, ETCD_BACKUPS } from '../api/etcd-backup.ts';
import { ETCD_BACKUP_SCHEDULE_LEASE, ETCD_BACKUP_SCHEDULES } from '../api/etcd-backup-schedule.ts';
import { ETCD_CLUSTER_LEASE, ETCD_CLUSTERS } from '../api/etcd-cluster.ts';
import { ETCD_PEER_LEASE, ETCD_PEERS } from '../api/etcd-peer.ts';
import { ETCD_RESTORE_LEASE, ETCD_RESTORES } from '../api/etcd-restore.ts';
import type { MetadataFeedStatus } from '../api/metadata-feed.ts';
import { NATS_CLUSTER_LEASE, NATS_CLUSTERS } from '../api/nats-cluster.ts';
import { STORAGE_MIGRATION_LEASE, STORAGE_MIGRATIONS } from '../api/storage-migration.ts';
import { TAKEOVER_LEASE, TAKEOVERS } from '../api/takeover.ts';

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

const FEED_PERIODS_MAX = 2;
/** The longest sweep, and the differences of ticks and clocks. */
const FEED_SLACK_MS = 60_000;
/** One that was never swept is as old as its feed. */
export const feedSweptAt = (feed: KubeObject): string | undefined =>
  feedStatusOf(feed).sweptAt ?? feed.metadata.creationTimestamp;

/** How long a sweep of this feed counts. */
export const feedLastsMs = (feed: KubeObject): number =>
  FEED_PERIODS_MAX * sweepSecondsOf(feed) * 1_000 + FEED_SLACK_MS;

export function feedStatusOf({ status = {} }: KubeObject): MetadataFeedStatus {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- held to its schema
  return status as MetadataFeedStatus;
}

const SWEEP_SECONDS = 60;

export function sweepSecondsOf({ spec }: KubeObject): number {
  const seconds = isRecord(spec) ? spec['sweepSeconds'] : undefined;
  return typeof seconds === 'number' ? seconds : SWEEP_SECONDS;
}
