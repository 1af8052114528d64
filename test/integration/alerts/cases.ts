// For each alert: series by which it fires, and series by which it does not. A series has a value
// each minute, in the notation of promtool: `5x30` is 5 and thirty times more, `_x9` is nothing.

export interface AlertCase {
  readonly alert: string;
  /** Those of the series that fires, beside those of the rule. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  /** When it is looked at: time begins at 0. */
  readonly minutes: number;
  readonly fires: Readonly<Record<string, string>>;
  readonly silent: Readonly<Record<string, string>>;
}

const NATS = { namespace: 'shop', natscluster: 'nats' };
const ETCD = { namespace: 'shop', etcdcluster: 'etcd' };
const nats = (name: string): string =>
  `ballast_nats_cluster_${name}{namespace="shop",natscluster="nats",pod="a"}`;
const etcd = (name: string): string =>
  `ballast_etcd_cluster_${name}{namespace="shop",etcdcluster="etcd",pod="a"}`;
const built = (name: string): string => `ballast_build_info{function="${name}",pod="a"}`;

const FUNCTIONS: readonly AlertCase[] = [
  {
    alert: 'BallastNotScraped',
    summary: 'No function of Ballast is scraped, so that none of its other alerts can fire',
    minutes: 30,
    fires: { [built('metadata')]: '1x5' },
    silent: { [built('metadata')]: '1x30' },
  },
  {
    alert: 'BallastFunctionAway',
    labels: { function: 'metadata' },
    summary: 'Function metadata was scraped within a day and is not any more',
    minutes: 60,
    fires: {
      [built('metadata')]: '1x5',
      [built('locate')]: '1x60',
      [built('storage-audit')]: '1x5',
    },
    // Another instance took its place.
    silent: {
      [built('metadata')]: '1x5',
      'ballast_build_info{function="metadata"}': '_x5 1x55',
      [built('console')]: '1x5',
      [built('storage-audit')]: '1x5',
    },
  },
  {
    alert: 'BallastDeadLetters',
    labels: { function: 'metadata', code: '503' },
    summary: 'metadata did not take 3 events (503); kubectl events -A shows them',
    minutes: 5,
    fires: { 'ballast_dead_letters_total{function="metadata",code="503",pod="a"}': '0 3x9' },
    silent: { 'ballast_dead_letters_total{function="metadata",code="503",pod="a"}': '0x9' },
  },
  {
    alert: 'BallastBug',
    labels: { code: 'INTERNAL_BUG' },
    summary: 'A function failed 2 times in a way that is a bug of Ballast (INTERNAL_BUG)',
    minutes: 5,
    fires: { 'ballast_failures_total{kind="bug",code="INTERNAL_BUG"}': '2x9' },
    silent: { 'ballast_failures_total{kind="retry",code="KUBE_CONFLICT"}': '2x9' },
  },
];

const GOOD_UNTIL = 'ballast_metadata_feed_good_until_timestamp_seconds';
const FEEDS: readonly AlertCase[] = [
  {
    alert: 'MetadataFeedNotProved',
    labels: { namespace: 'feeds', metadatafeed: 'cluster' },
    summary: 'Nobody proved in time that feed feeds/cluster is equal to the API server',
    minutes: 30,
    // Nobody sweeps any more, nor shows anything.
    fires: { [`${GOOD_UNTIL}{namespace="feeds",metadatafeed="cluster"}`]: '180x5' },
    silent: { [`${GOOD_UNTIL}{namespace="feeds",metadatafeed="cluster"}`]: '180+60x30' },
  },
  {
    alert: 'FeedStale',
    summary: 'The answers of locate may be old, since nobody sweeps the feed',
    minutes: 30,
    fires: { 'ballast_feed_stale{pod="a"}': '0x5 1x25', 'ballast_feed_stale{pod="b"}': '0x30' },
    silent: { 'ballast_feed_stale{pod="a"}': '0x5 1x5 0x20' },
  },
];

const CLUSTERS: readonly AlertCase[] = [
  {
    alert: 'NatsClusterDegraded',
    labels: NATS,
    summary: 'NatsCluster shop/nats needs a person; its condition Degraded says for what',
    minutes: 30,
    fires: { [nats('degraded_since_timestamp_seconds')]: '0x9 600x20' },
    silent: { [nats('degraded_since_timestamp_seconds')]: '0x9 600x5 0x15' },
  },
  {
    alert: 'NatsClusterServersAway',
    labels: NATS,
    summary: 'Only 2 servers of NatsCluster shop/nats are ready',
    minutes: 30,
    fires: { [nats('servers_ready')]: '2x30', [nats('servers_wanted')]: '3x30' },
    silent: { [nats('servers_ready')]: '3x9 2x5 3x15', [nats('servers_wanted')]: '3x30' },
  },
  {
    alert: 'NatsClusterStreamsAtRisk',
    labels: NATS,
    summary: '4 streams or consumers of NatsCluster shop/nats are not whole',
    minutes: 30,
    fires: { [nats('streams_at_risk')]: '4x30' },
    silent: { [nats('streams_at_risk')]: '0x9 4x5 0x15' },
  },
  {
    alert: 'NatsClusterStepWaits',
    labels: NATS,
    summary:
      'A change of NatsCluster shop/nats takes more than an hour and waits; ' +
      'status.plan says for what',
    minutes: 90,
    fires: { [nats('changing_since_timestamp_seconds')]: '60x90', [nats('waiting')]: '1x90' },
    silent: { [nats('changing_since_timestamp_seconds')]: '60x90', [nats('waiting')]: '0x90' },
  },
  {
    alert: 'NatsClusterCertificateEnds',
    labels: NATS,
    summary: 'A certificate of NatsCluster shop/nats ends in 3d 0h 0m 0s',
    minutes: 60,
    fires: { [nats('certificate_end_timestamp_seconds')]: `${3 * 86_400 + 3_600}x60` },
    silent: { [nats('certificate_end_timestamp_seconds')]: `${6 * 86_400}x60` },
  },
  {
    alert: 'NatsClusterNotObserved',
    labels: NATS,
    summary: 'Nobody has looked at NatsCluster shop/nats for 30m 0s',
    minutes: 30,
    fires: { [nats('observed_timestamp_seconds')]: '0x5' },
    silent: { [nats('observed_timestamp_seconds')]: '0+60x30' },
  },
  {
    alert: 'EtcdClusterQuorumLost',
    labels: ETCD,
    summary: 'EtcdCluster shop/etcd has no quorum, or no member answers; Degraded says why',
    minutes: 30,
    fires: { [etcd('quorum_lost_since_timestamp_seconds')]: '0x20 1260x9' },
    silent: { [etcd('quorum_lost_since_timestamp_seconds')]: '0x30' },
  },
  {
    alert: 'EtcdClusterDegraded',
    labels: ETCD,
    summary: 'EtcdCluster shop/etcd needs a person; its condition Degraded says for what',
    minutes: 30,
    fires: { [etcd('degraded_since_timestamp_seconds')]: '0x9 600x20' },
    silent: { [etcd('degraded_since_timestamp_seconds')]: '0x9 600x5 0x15' },
  },
  {
    alert: 'EtcdClusterMembersAway',
    labels: ETCD,
    summary: 'Only 2 voting members of EtcdCluster shop/etcd are healthy',
    minutes: 30,
    fires: { [etcd('voters_healthy')]: '2x30', [etcd('voters_wanted')]: '3x30' },
    // It hibernates.
    silent: { [etcd('voters_healthy')]: '0x30', [etcd('voters_wanted')]: '0x30' },
  },
  {
    alert: 'EtcdClusterStepWaits',
    labels: ETCD,
    summary:
      'A change of EtcdCluster shop/etcd takes more than an hour and waits; ' +
      'status.plan says for what',
    minutes: 90,
    fires: { [etcd('changing_since_timestamp_seconds')]: '60x90', [etcd('waiting')]: '1x90' },
    silent: { [etcd('changing_since_timestamp_seconds')]: '0x90', [etcd('waiting')]: '1x90' },
  },
  {
    alert: 'EtcdClusterCertificateEnds',
    labels: ETCD,
    summary: 'A certificate of EtcdCluster shop/etcd ends in 3d 0h 0m 0s',
    minutes: 60,
    fires: { [etcd('certificate_end_timestamp_seconds')]: `${3 * 86_400 + 3_600}x60` },
    silent: { [etcd('certificate_end_timestamp_seconds')]: `${6 * 86_400}x60` },
  },
  {
    alert: 'EtcdClusterNotObserved',
    labels: ETCD,
    summary: 'Nobody has looked at EtcdCluster shop/etcd for 30m 0s',
    minutes: 30,
    fires: { [etcd('observed_timestamp_seconds')]: '0x5' },
    silent: { [etcd('observed_timestamp_seconds')]: '0+60x30' },
  },
];

const until = (name: string): string =>
  `ballast_etcd_backup_${name}{namespace="shop",schedule="daily",pod="a"}`;
const SCHEDULE = { namespace: 'shop', schedule: 'daily' };
const BACKUPS: readonly AlertCase[] = [
  {
    alert: 'EtcdClusterBackupTooOld',
    labels: ETCD,
    summary: 'The newest good backup of EtcdCluster shop/etcd is older than promised',
    minutes: 60,
    fires: { [etcd('backup_good_until_timestamp_seconds')]: '1800x60' },
    silent: { [etcd('backup_good_until_timestamp_seconds')]: '1800x20 7200x40' },
  },
  {
    alert: 'EtcdClusterWithoutBackup',
    labels: ETCD,
    summary: 'EtcdCluster shop/etcd has no good backup',
    minutes: 25 * 60,
    fires: { [etcd('backup_newest_timestamp_seconds')]: '0x1500' },
    silent: { [etcd('backup_newest_timestamp_seconds')]: '0x1000 60000x500' },
  },
  {
    alert: 'EtcdBackupTooOld',
    labels: SCHEDULE,
    summary: 'The newest good backup of shop/daily is older than promised',
    minutes: 60,
    fires: { [until('good_until_timestamp_seconds')]: '1800x60' },
    silent: { [until('good_until_timestamp_seconds')]: '1800x20 7200x40' },
  },
  {
    alert: 'EtcdBackupRehearsalWrong',
    labels: SCHEDULE,
    summary: 'The last rehearsal of shop/daily failed, or is overdue',
    minutes: 30,
    fires: { [until('rehearsal_wrong')]: '1x30' },
    silent: { [until('rehearsal_wrong')]: '0x30' },
  },
];

const BLOCKED = 'ballast_storage_migration_blocked_since_timestamp_seconds';
const MIGRATIONS: readonly AlertCase[] = [
  {
    alert: 'StorageMigrationBlocked',
    labels: { storagemigration: 'w' },
    summary: 'StorageMigration w is blocked; its condition Blocked says by what',
    minutes: 16,
    fires: { [`${BLOCKED}{storagemigration="w"}`]: '600x30' },
    // It goes on after six minutes, and that is no alert nine minutes later either.
    silent: { [`${BLOCKED}{storagemigration="w"}`]: '600x6 0x30' },
  },
];

export const CASES: readonly AlertCase[] = [
  ...FUNCTIONS,
  ...FEEDS,
  ...CLUSTERS,
  ...BACKUPS,
  ...MIGRATIONS,
];
