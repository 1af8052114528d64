// Shows for each schedule when its newest good backup was taken, and until when that is new enough,
// for alerts; and of rehearsals, when the last one went well, and whether it is what it has to be.
// A time goes on being true while nobody looks, as an age would not.
import type { CountedRehearsals } from '../../../shared/api/etcd-backup-schedule.ts';
import type { Gauge, Labels, Metrics } from '../../../shared/function/metrics.ts';
import type { Schedule } from './object.ts';

const LABELS = ['namespace', 'schedule'];
const NEWEST = 'ballast_etcd_backup_newest_timestamp_seconds';
const NEWEST_HELP =
  'When the newest good backup of a schedule was taken, in Unix seconds; 0 when there is none.';
const UNTIL = 'ballast_etcd_backup_good_until_timestamp_seconds';
const UNTIL_HELP =
  'Until when a newer good backup of a schedule is promised, in Unix seconds; 0 for never.';

const REHEARSED = 'ballast_etcd_backup_rehearsed_timestamp_seconds';
const REHEARSED_HELP =
  'When a backup of a schedule was rehearsed well the last time, in Unix seconds; 0 for never.';
const WRONG = 'ballast_etcd_backup_rehearsal_wrong';
const WRONG_HELP = '1 while the last rehearsal of a schedule failed or is overdue, else 0.';

/** Undefined when there is no good backup. */
interface Times {
  readonly newestMs: number | undefined;
  readonly untilMs: number | undefined;
  /** Undefined where none are asked for. */
  readonly rehearsals: CountedRehearsals | undefined;
  readonly isRehearsalWrong: boolean;
}

export class ScheduleGauges {
  readonly #newest: Gauge;
  readonly #until: Gauge;
  readonly #rehearsed: Gauge;
  readonly #wrong: Gauge;
  readonly #shown = new Map<string, Labels>();

  constructor(metrics: Metrics) {
    this.#newest = metrics.gauge(NEWEST, NEWEST_HELP, LABELS);
    this.#until = metrics.gauge(UNTIL, UNTIL_HELP, LABELS);
    this.#rehearsed = metrics.gauge(REHEARSED, REHEARSED_HELP, LABELS);
    this.#wrong = metrics.gauge(WRONG, WRONG_HELP, LABELS);
  }

  show({ uid, namespace, name }: Schedule, times: Times): void {
    const { newestMs = 0, untilMs = 0, rehearsals, isRehearsalWrong } = times;
    const labels = { namespace, schedule: name };
    this.#shown.set(uid, labels);
    this.#newest.set(newestMs / 1_000, labels);
    this.#until.set(untilMs / 1_000, labels);
    if (rehearsals === undefined) {
      this.#rehearsed.forget(labels);
      this.#wrong.forget(labels);
      return;
    }
    const { last } = rehearsals;
    this.#rehearsed.set(last === undefined ? 0 : Date.parse(last.rehearsedAt) / 1_000, labels);
    this.#wrong.set(isRehearsalWrong ? 1 : 0, labels);
  }

  /** One that is gone is no alert. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const [uid, labels] of this.#shown) {
      if (uids.has(uid)) continue;
      this.#shown.delete(uid);
      this.#newest.forget(labels);
      this.#until.forget(labels);
      this.#rehearsed.forget(labels);
      this.#wrong.forget(labels);
    }
  }
}
