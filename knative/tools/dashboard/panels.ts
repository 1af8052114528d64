// The panels of the dashboard, in rows: each row one domain, and the first one whether anything is
// wrong.
import { age, count, howMany, left, lines, newest, type Panel, type Row } from './panel.ts';

const FEED = 'namespace, metadatafeed';
const NATS = 'namespace, natscluster';
const ETCD = 'namespace, etcdcluster';
const SCHEDULE = 'namespace, schedule';
const MIGRATION = 'storagemigration';

const BY_FUNCTION = '* on (instance) group_left (function) ballast_build_info';

const OF_FEED = '{{namespace}}/{{metadatafeed}}';
const OF_NATS = '{{namespace}}/{{natscluster}}';
const OF_ETCD = '{{namespace}}/{{etcdcluster}}';
const OF_SCHEDULE = '{{namespace}}/{{schedule}}';
const OF_MIGRATION = '{{storagemigration}}';

const ALERTS =
  'ALERTS{alertstate="firing", ' +
  'alertname=~"(Ballast|MetadataFeed|Feed|Nats|Etcd|StorageMigration).*"}';

const problems: Row = {
  title: 'Is anything wrong',
  panels: [
    {
      title: 'Alerts that fire',
      type: 'table',
      unit: 'short',
      says: 'What each one means, and what to do: docs/metrics.md and the condition it names.',
      queries: [{ expr: ALERTS, isSilentWhenWell: true }],
    },
    {
      title: 'Functions that were scraped',
      type: 'stat',
      unit: 'short',
      says: 'In the last 15 minutes. None: nothing on this page is known.',
      queries: [{ expr: howMany('count by (function) (last_over_time(ballast_build_info[15m]))') }],
    },
    count(
      'Feeds without proof',
      'Nobody compared them with the API server in time.',
      `time() > ${newest(FEED, 'metadata_feed_good_until_timestamp_seconds', '1h')}`,
    ),
    count(
      'NatsClusters not ready',
      'Their condition Ready says why.',
      `${newest(NATS, 'nats_cluster_not_ready_since_timestamp_seconds')} > 0`,
    ),
    count(
      'EtcdClusters not ready',
      'Their condition Ready says why.',
      `${newest(ETCD, 'etcd_cluster_not_ready_since_timestamp_seconds')} > 0`,
    ),
    count(
      'Backups that are too old',
      'A schedule promised a newer one.',
      `time() > (${newest(SCHEDULE, 'etcd_backup_good_until_timestamp_seconds', '1h')} > 0)`,
    ),
    count(
      'Migrations that are blocked',
      'Their condition Blocked says by what.',
      `${newest(MIGRATION, 'storage_migration_blocked_since_timestamp_seconds')} > 0`,
    ),
  ],
};

const feeds: Row = {
  title: 'Feeds',
  panels: [
    lines('Age of the last proof', 's', 'Since every resource was compared with the API server.', [
      OF_FEED,
      age(FEED, 'metadata_feed_proved_timestamp_seconds'),
    ]),
    lines('Objects', 'short', 'Objects that a feed shows.', [
      OF_FEED,
      newest(FEED, 'metadata_feed_objects'),
    ]),
    lines(
      'Gaps at the last count',
      'short',
      'The same number twice is a gap, which the sweep then fills.',
      [`${OF_FEED} lacking`, newest(FEED, 'metadata_feed_lacking_objects')],
      [`${OF_FEED} stray`, newest(FEED, 'metadata_feed_stray_objects')],
      [`${OF_FEED} oversize`, newest(FEED, 'metadata_feed_oversize_objects')],
    ),
    lines(
      'Repaired messages',
      'short',
      'Since the feed was made. A step is a repair.',
      [`${OF_FEED} healed`, newest(FEED, 'metadata_feed_healed_messages')],
      [`${OF_FEED} unfounded`, newest(FEED, 'metadata_feed_unfounded_messages')],
    ),
    lines('locate: behind the feed', 'short', 'Messages that an instance has yet to read.', [
      '{{pod}}',
      'ballast_feed_behind_messages',
    ]),
  ],
};

const stepWaits = (legend: string, labels: string, prefix: string): Panel =>
  lines('Next step waits', 'short', '1 while it waits; status.plan says for what.', [
    legend,
    newest(labels, `${prefix}_waiting`),
  ]);

const certificateEnds = (legend: string, labels: string, prefix: string): Panel =>
  lines(
    'First end of a certificate',
    's',
    'Time that is left. Those that Ballast makes are renewed before.',
    [legend, left(labels, `${prefix}_certificate_end_timestamp_seconds`)],
  );

const natsClusters: Row = {
  title: 'NatsClusters',
  panels: [
    lines(
      'Servers',
      'short',
      'Ready ones, and those that there are to be.',
      [`${OF_NATS} ready`, newest(NATS, 'nats_cluster_servers_ready')],
      [`${OF_NATS} wanted`, newest(NATS, 'nats_cluster_servers_wanted')],
    ),
    lines(
      'Streams and consumers at risk',
      'short',
      'One server less could take their quorum; status.streamsAtRisk names them.',
      [OF_NATS, newest(NATS, 'nats_cluster_streams_at_risk')],
    ),
    stepWaits(OF_NATS, NATS, 'nats_cluster'),
    certificateEnds(OF_NATS, NATS, 'nats_cluster'),
  ],
};

const etcdClusters: Row = {
  title: 'EtcdClusters',
  panels: [
    lines(
      'Voting members',
      'short',
      'Healthy ones, and those that there are to be.',
      [`${OF_ETCD} healthy`, newest(ETCD, 'etcd_cluster_voters_healthy')],
      [`${OF_ETCD} wanted`, newest(ETCD, 'etcd_cluster_voters_wanted')],
    ),
    lines('Quorum lost', 'short', '1 while nobody can write.', [
      OF_ETCD,
      `${newest(ETCD, 'etcd_cluster_quorum_lost_since_timestamp_seconds')} > bool 0`,
    ]),
    stepWaits(OF_ETCD, ETCD, 'etcd_cluster'),
    lines(
      'Age of the newest good backup',
      's',
      'By schedules, which is heard of within five minutes.',
      [OF_ETCD, age(ETCD, 'etcd_cluster_backup_newest_timestamp_seconds')],
    ),
    certificateEnds(OF_ETCD, ETCD, 'etcd_cluster'),
  ],
};

const backups: Row = {
  title: 'Backups by schedule',
  panels: [
    lines('Age of the newest', 's', 'Of the good ones.', [
      OF_SCHEDULE,
      age(SCHEDULE, 'etcd_backup_newest_timestamp_seconds'),
    ]),
    lines('Since the last good rehearsal', 's', 'Of schedules that ask for rehearsals.', [
      OF_SCHEDULE,
      age(SCHEDULE, 'etcd_backup_rehearsed_timestamp_seconds'),
    ]),
  ],
};

const migrations: Row = {
  title: 'Migrations',
  panels: [
    lines(
      'Objects of the pass',
      'short',
      'Those to look at, and those that could not be written.',
      [`${OF_MIGRATION} left`, newest(MIGRATION, 'storage_migration_objects_left')],
      [`${OF_MIGRATION} failed`, newest(MIGRATION, 'storage_migration_objects_failed')],
    ),
    lines('Since the proof', 's', 'That all objects are stored in the current version.', [
      OF_MIGRATION,
      age(MIGRATION, 'storage_migration_proved_timestamp_seconds'),
    ]),
  ],
};

const functions: Row = {
  title: 'Functions',
  panels: [
    lines('Events', 'reqps', 'By function and outcome.', [
      '{{function}} {{outcome}}',
      `sum by (function, outcome) (rate(ballast_events_total[5m]) ${BY_FUNCTION})`,
    ]),
    {
      title: 'Failures',
      type: 'timeseries',
      unit: 'reqps',
      says: 'By code; docs/errors.md says what each one means. Kind bug is a bug of ours.',
      queries: [
        {
          legend: '{{function}} {{code}}',
          expr: `sum by (function, code) (rate(ballast_failures_total[5m]) ${BY_FUNCTION})`,
          isSilentWhenWell: true,
        },
      ],
    },
    lines(
      'Time for an event, 99th percentile',
      's',
      'From the admission of an event to its answer.',
      [
        '{{pod}}',
        'histogram_quantile(0.99, ' +
          'sum by (pod, le) (rate(ballast_event_duration_seconds_bucket[5m])))',
      ],
    ),
    lines('Memory', 'bytes', 'Resident, by instance.', [
      '{{function}} {{instance}}',
      `process_resident_memory_bytes ${BY_FUNCTION}`,
    ]),
    lines('Event loop, 99th percentile', 's', 'How late a turn of the event loop comes.', [
      '{{function}} {{instance}}',
      `nodejs_eventloop_lag_p99_seconds ${BY_FUNCTION}`,
    ]),
    {
      title: 'Dead letters',
      type: 'timeseries',
      unit: 'short',
      says: 'Events that a broker gave up on; kubectl events -A shows them.',
      queries: [
        {
          legend: '{{function}} {{code}}',
          expr: 'sum by (function, code) (ballast_dead_letters_total)',
          isSilentWhenWell: true,
        },
      ],
    },
  ],
};

export const ROWS: readonly Row[] = [
  problems,
  feeds,
  natsClusters,
  etcdClusters,
  backups,
  migrations,
  functions,
];
