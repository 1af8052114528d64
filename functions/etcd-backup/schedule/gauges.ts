// Shows for each schedule when its newest good backup was taken, and until when that is new enough,
// for alerts; and of rehearsals, when the last one went well, and whether it is what it has to be.
// A time goes on being true while nobody looks, as an age would not.
import type { CountedRehearsals } from '../../../shared/api/etcd-backup-schedule.ts';
import type { Metrics } from '../../../shared/function/metrics.ts';
import { ObjectGauges } from '../../../shared/stateful/object-gauges.ts';
import type { Schedule } from './object.ts';

const NEWEST = 'ballast_etcd_backup_newest_timestamp_seconds';
const UNTIL = 'ballast_etcd_backup_good_until_timestamp_seconds';
const REHEARSED = 'ballast_etcd_backup_rehearsed_timestamp_seconds';
const WRONG = 'ballast_etcd_backup_rehearsal_wrong';

const LABELS = ['namespace', 'schedule'];
const HELP = {
  [NEWEST]:
    'When the newest good backup of a schedule was taken, in Unix seconds; 0 when there is none.',
  [UNTIL]:
    'Until when a newer good backup of a schedule is promised, in Unix seconds; 0 for never.',
  [REHEARSED]:
    'When a backup of a schedule was rehearsed well the last time, in Unix seconds; 0 for never. ' +
    'Absent where it asks for no rehearsals.',
  [WRONG]:
    '1 while the last rehearsal of a schedule failed or is overdue, else 0. Absent where it asks ' +
    'for no rehearsals.',
};

/** Undefined when there is no good backup. */
interface Times {
  readonly newestMs: number | undefined;
  readonly untilMs: number | undefined;
  /** Undefined where none are asked for. */
  readonly rehearsals: CountedRehearsals | undefined;
  readonly isRehearsalWrong: boolean;
}

export class ScheduleGauges {
  readonly #gauges: ObjectGauges<keyof typeof HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ObjectGauges(metrics, LABELS, HELP);
  }

  show({ uid, namespace, name }: Schedule, times: Times): void {
    const { newestMs = 0, untilMs = 0, rehearsals, isRehearsalWrong } = times;
    const last = rehearsals?.last;
    const rehearsedMs = last === undefined ? 0 : Date.parse(last.rehearsedAt);
    const isAsked = rehearsals !== undefined;
    this.#gauges.show(
      uid,
      { namespace, schedule: name },
      {
        [NEWEST]: newestMs / 1_000,
        [UNTIL]: untilMs / 1_000,
        [REHEARSED]: isAsked ? rehearsedMs / 1_000 : undefined,
        [WRONG]: isAsked ? Number(isRehearsalWrong) : undefined,
      },
    );
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
  }
}
