// Shows for each schedule when its newest good backup was taken, and until when that is new enough,
// for alerts. A time goes on being true while nobody looks, as an age would not.
import type { Gauge, Labels, Metrics } from '../../../shared/function/metrics.ts';
import { goodUntilMs, newestOf } from './promise.ts';
import type { ScheduleState } from './state.ts';

const LABELS = ['namespace', 'schedule'];
const NEWEST = 'ballast_etcd_backup_newest_timestamp_seconds';
const NEWEST_HELP =
  'When the newest good backup of a schedule was taken, in Unix seconds; 0 when there is none.';
const UNTIL = 'ballast_etcd_backup_good_until_timestamp_seconds';
const UNTIL_HELP =
  'Until when the newest good backup of a schedule is new enough, in Unix seconds; 0 for never.';

export class ScheduleGauges {
  readonly #newest: Gauge;
  readonly #until: Gauge;
  readonly #shown = new Map<string, Labels>();

  constructor(metrics: Metrics) {
    this.#newest = metrics.gauge(NEWEST, NEWEST_HELP, LABELS);
    this.#until = metrics.gauge(UNTIL, UNTIL_HELP, LABELS);
  }

  show(state: ScheduleState): void {
    const { uid, namespace, name } = state.schedule;
    const labels = { namespace, schedule: name };
    this.#shown.set(uid, labels);
    this.#newest.set((newestOf(state.made)?.takenAtMs ?? 0) / 1_000, labels);
    this.#until.set((goodUntilMs(state) ?? 0) / 1_000, labels);
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
