// Everything that this function holds for schedules beside what it holds for backups: a Lease and a
// memory of their own, and what metrics show of them.
import type { Metrics } from '../../../shared/function/metrics.ts';
import { ETCD_BACKUP_SCHEDULE_LEASE } from '../../../shared/api/etcd-backup-schedule.ts';
import type { AttemptLog } from '../../../shared/stateful/attempts.ts';
import { StatefulDeps, type StatefulOptions } from '../../../shared/stateful/deps.ts';
import type { Weighed } from '../../../shared/stateful/memory.ts';
import { ScheduleGauges } from './gauges.ts';

/** Kept for one schedule between reconciles. */
interface Memory extends Weighed {
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
}

export class ScheduleDeps extends StatefulDeps<Memory> {
  readonly image: string;
  readonly gauges: ScheduleGauges;

  /** The connections are those of backups; the Lease is one of its own. */
  static beside(options: StatefulOptions, image: string, metrics: Metrics): ScheduleDeps {
    const lease = { ...options.lease, name: ETCD_BACKUP_SCHEDULE_LEASE };
    return new ScheduleDeps({ ...options, lease }, image, metrics);
  }

  constructor(options: StatefulOptions, image: string, metrics: Metrics) {
    super(options, { make: () => ({ attempts: new Map() }), forget: () => undefined });
    this.image = image;
    this.gauges = new ScheduleGauges(metrics);
  }

  override keepOnly(uids: ReadonlySet<string>): void {
    super.keepOnly(uids);
    this.gauges.keepOnly(uids);
  }
}
