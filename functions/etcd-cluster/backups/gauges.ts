// Shows for each cluster when its newest good backup was taken, and until when that is new enough,
// for alerts. A time goes on being true while nobody looks, as an age would not.
import type { Gauge, Labels, Metrics } from '../../../shared/function/metrics.ts';
import type { Cluster } from '../cluster.ts';
import type { BackupVerdict } from './ready.ts';

const LABELS = ['namespace', 'etcdcluster'];
const NEWEST = 'ballast_etcd_cluster_backup_newest_timestamp_seconds';
const NEWEST_HELP =
  'When the newest good backup of an EtcdCluster was taken, in Unix seconds; 0 when none is known.';
const UNTIL = 'ballast_etcd_cluster_backup_good_until_timestamp_seconds';
const UNTIL_HELP =
  'Until when a newer good backup of an EtcdCluster is promised, in Unix seconds; 0 for never. ' +
  'Absent where no schedule takes backups of it.';

export class BackupGauges {
  readonly #newest: Gauge;
  readonly #until: Gauge;
  readonly #shown = new Map<string, Labels>();

  constructor(metrics: Metrics) {
    this.#newest = metrics.gauge(NEWEST, NEWEST_HELP, LABELS);
    this.#until = metrics.gauge(UNTIL, UNTIL_HELP, LABELS);
  }

  show({ uid, namespace, name }: Cluster, { backup, goodUntilMs }: BackupVerdict): void {
    const labels = { namespace, etcdcluster: name };
    this.#shown.set(uid, labels);
    const newestMs = backup === undefined ? 0 : Date.parse(backup.takenAt);
    this.#newest.set(newestMs / 1_000, labels);
    if (goodUntilMs === undefined) this.#until.forget(labels);
    else this.#until.set(goodUntilMs / 1_000, labels);
  }

  /** One that is gone is no alert. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const [uid, labels] of this.#shown) {
      if (uids.has(uid)) continue;
      this.#shown.delete(uid);
      this.#newest.forget(labels);
      this.#until.forget(labels);
    }
  }
}
