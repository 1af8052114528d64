// Shows for each cluster when its newest good backup was taken, and until when that is new enough,
// for alerts. A time goes on being true while nobody looks, as an age would not.
import type { Metrics } from '../../../shared/function/metrics.ts';
import { ObjectGauges } from '../../../shared/stateful/object-gauges.ts';
import type { Cluster } from '../cluster.ts';
import type { BackupVerdict } from './ready.ts';

const NEWEST = 'ballast_etcd_cluster_backup_newest_timestamp_seconds';
const UNTIL = 'ballast_etcd_cluster_backup_good_until_timestamp_seconds';

const LABELS = ['namespace', 'etcdcluster'];
const HELP = {
  [NEWEST]:
    'When the newest good backup of an EtcdCluster was taken, in Unix seconds; 0 when none is ' +
    'known.',
  [UNTIL]:
    'Until when a newer good backup of an EtcdCluster is promised, in Unix seconds; 0 for never. ' +
    'Absent where no schedule takes backups of it.',
};

export class BackupGauges {
  readonly #gauges: ObjectGauges<keyof typeof HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ObjectGauges(metrics, LABELS, HELP);
  }

  show({ uid, namespace, name }: Cluster, { backup, goodUntilMs }: BackupVerdict): void {
    const newestMs = backup === undefined ? 0 : Date.parse(backup.takenAt);
    this.#gauges.show(
      uid,
      { namespace, etcdcluster: name },
      { [NEWEST]: newestMs / 1_000, [UNTIL]: goodUntilMs && goodUntilMs / 1_000 },
    );
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
  }
}
