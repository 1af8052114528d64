// The steps of a schedule: each makes or removes one thing. Pure.
import type { Decision as DecisionOf } from '../../../shared/stateful/decision.ts';
import type { Made, Stored } from './object.ts';

export type ScheduleStep =
  | {
      readonly type: 'make-backup';
      readonly name: string;
      readonly atMs: number;
      readonly isToRehearse: boolean;
    }
  /** In the status alone, before anything is removed. */
  | { readonly type: 'note-removal'; readonly stored: Stored }
  | { readonly type: 'make-removal'; readonly stored: Stored }
  /** Nothing is stored of it, or nothing any more. */
  | { readonly type: 'delete-backup'; readonly made: Made; readonly why: string };

export type ScheduleDecision = DecisionOf<ScheduleStep>;
