// Shows for each schedule when its newest good backup was taken, and until when that is new enough,
// for alerts. A time goes on being true while nobody looks, as an age would not.
import type { Gauge, Labels, Metrics } from '../../../shared/function/metrics.ts';
import type { Schedule } from './object.ts';

const LABELS = ['namespace', 'schedule'];
const NEWEST = 'ballast_etcd_backup_newest_timestamp_seconds';
const NEWEST_HELP =
  'When the newest good backup of a schedule was taken, in Unix seconds; 0 when there is none.';
const UNTIL = 'ballast_etcd_backup_good_until_timestamp_seconds';
const UNTIL_HELP =
  'Until when a newer good backup of a schedule is promised, in Unix seconds; 0 for never.';

/** Undefined when there is no good backup. */
interface Times {
  readonly newestMs: number | undefined;
  readonly untilMs: number | undefined;
}

export class ScheduleGauges {
  readonly #newest: Gauge;
  readonly #until: Gauge;
  readonly #shown = new Map<string, Labels>();

  constructor(metrics: Metrics) {
    this.#newest = metrics.gauge(NEWEST, NEWEST_HELP, LABELS);
    this.#until = metrics.gauge(UNTIL, UNTIL_HELP, LABELS);
  }

  show({ uid, namespace, name }: Schedule, { newestMs = 0, untilMs = 0 }: Times): void {
    const labels = { namespace, schedule: name };
    this.#shown.set(uid, labels);
    this.#newest.set(newestMs / 1_000, labels);
    this.#until.set(untilMs / 1_000, labels);
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
