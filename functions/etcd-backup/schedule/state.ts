// The observed state of a schedule, on which the next step is decided: the object, its EtcdBackups,
// and the Jobs that remove some of them. Types. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import type { FoundJob, FoundPod } from '../../../shared/jobs/job.ts';
import type { Made, Schedule, Stored } from './object.ts';
import type { Timetable } from './timetable.ts';

export interface ScheduleState {
  readonly schedule: Schedule;
  readonly nowMs: number;
  readonly timetable: Timetable | Reason;
  readonly made: readonly Made[];
  /** The first ones that may go, with the Job that removes them where there is one. */
  readonly removals: readonly Removal[];
}

export interface Removal {
  readonly stored: Stored;
  readonly job: FoundJob | undefined;
  readonly pods: readonly FoundPod[];
}
