// Decides the next step of a schedule. A run that is due comes first; then what failed long ago and
// what is stored beyond the retention goes, one at a time. No removal begins while the promise is
// broken or the schedule is suspended; one that was noted is ended. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { isEnding } from '../../../shared/kube/objects.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { firstOf, NOTHING, type Planner, waitFor } from '../../../shared/stateful/decision.ts';
import type { ScheduleDecision, ScheduleStep } from './decision.ts';
import {
  backupNameOf,
  type Made,
  removingIn,
  type Schedule,
  type Stored,
  storedIn,
  unfitIn,
} from './object.ts';
import { isKept, lastRunKnownMs } from './promise.ts';
import { failedRehearsal, isRehearsalDue } from './rehearsals.ts';
import { surplus } from './retention.ts';
import type { Removal, ScheduleState } from './state.ts';
import { lastRunMs } from './timetable.ts';

/** With Allow: an etcd that is away would have more and more of them wait for it. */
const ACTIVE_MAX = 5;

/** After these something may be stored that nobody knows; a person looks, and deletes them. */
const IN_DOUBT: readonly string[] = ['JobGone', 'ResultLost'];
/** That which had been stored when the time was over, and was still to be rehearsed. */
const CUT_SHORT = 'DeadlineExceeded';

const PLANNERS: readonly Planner<ScheduleState, ScheduleStep>[] = [
  leave,
  refuse,
  makeBackup,
  deleteFailed,
  deleteRemoved,
  makeRemoval,
  rest,
  awaitAll,
];

export const decide = (state: ScheduleState): ScheduleDecision => firstOf(PLANNERS, state);

function leave({ schedule }: ScheduleState): ScheduleDecision | undefined {
  return isEnding(schedule.object) ? NOTHING : undefined;
}

function refuse({ timetable }: ScheduleState): ScheduleDecision | undefined {
  return 'reason' in timetable ? waitFor('Nothing', [timetable], timetable) : undefined;
}

function rest({ schedule }: ScheduleState): ScheduleDecision | undefined {
  if (!schedule.spec.suspend) return undefined;
  const message = 'spec.suspend is true: no backup is made, and none is removed.';
  return { next: 'Nothing', waitsFor: { reason: 'Suspended', message } };
}

function makeBackup(state: ScheduleState): ScheduleDecision | undefined {
  const atMs = state.schedule.spec.suspend ? undefined : dueMs(state);
  if (atMs === undefined || whyNot(state, atMs) !== undefined) return undefined;
  const name = backupNameOf(state.schedule, atMs);
  const isToRehearse = isRehearsalDue(state);
  const step = { type: 'make-backup', name, atMs, isToRehearse } as const;
  return { step, next: `Create EtcdBackup ${name}` };
}

/** The last run that was not begun; those before it are not made up. */
export function dueMs({ schedule, timetable, made, nowMs }: ScheduleState): number | undefined {
  if ('reason' in timetable) return undefined;
  return lastRunMs(timetable, lastRunKnownMs(schedule, made, nowMs), nowMs);
}

/** Undefined when the run may begin now. */
export function whyNot({ schedule, made, nowMs }: ScheduleState, atMs: number): Reason | undefined {
  const { concurrencyPolicy, startingDeadlineSeconds } = schedule.spec;
  const at = timestamp(atMs);
  if (startingDeadlineSeconds !== undefined && nowMs - atMs > startingDeadlineSeconds * 1_000) {
    const message =
      `The run of ${at} was not begun within ${startingDeadlineSeconds} s, and is left out: a ` +
      'backup before it took too long, or nobody looked.';
    return { reason: 'RunMissed', message };
  }
  const active = activeIn(made);
  const max = concurrencyPolicy === 'Allow' ? ACTIVE_MAX : 1;
  if (active.length < max) return undefined;
  const names = active.map(({ name }) => name).join(', ');
  const message = `The run of ${at} begins when ${names} has ended.`;
  return { reason: 'BackupRunning', message };
}

export const activeIn = (made: readonly Made[]): readonly Made[] =>
  made
    .filter((one) => !one.isOver && !one.isEnding)
    .toSorted((one, other) => one.atMs - other.atMs);

function deleteFailed({ schedule, made }: ScheduleState): ScheduleDecision | undefined {
  const failed = made
    .filter((one) => one.failure !== undefined && !one.isEnding && one.unfit === undefined)
    .toSorted((one, other) => other.atMs - one.atMs);
  const surplusOnes = failed
    .slice(schedule.spec.failedHistory)
    .filter((one) => !isInDoubt(one))
    .filter((one) => isNoted(schedule, one));
  const oldest = surplusOnes.at(-1);
  if (oldest === undefined || schedule.spec.suspend) return undefined;
  const why = `It failed, and ${schedule.spec.failedHistory} newer ones that failed are kept.`;
  return {
    step: { type: 'delete-backup', made: oldest, why },
    next: `Delete EtcdBackup ${oldest.name}`,
  };
}

const isInDoubt = ({ failure, isToRehearse }: Made): boolean =>
  IN_DOUBT.includes(failure?.reason ?? '') || (isToRehearse && failure?.reason === CUT_SHORT);

/** A run whose time stands in the status is not made again, whoever looks. */
const isNoted = ({ status }: Schedule, { atMs }: Made): boolean =>
  atMs <= Date.parse(status.lastScheduleTime ?? '');

/** Those that were begun, and then the oldest; `observe` looks up how far each is. */
export function removable(state: Omit<ScheduleState, 'removals'>): readonly Stored[] {
  const { schedule, made, nowMs } = state;
  const left = made.filter((one) => !one.isEnding);
  const begun = removingIn(left);
  const { retention, suspend } = schedule.spec;
  if (suspend || isEnding(schedule.object)) return begun;
  const isGood = isKept(state) && failedRehearsal(state) === undefined;
  const good = isGood ? surplus(storedIn(left), retention, nowMs) : [];
  const more = [...surplusUnfit(state, left), ...good];
  return [...begun, ...more.filter((one) => isNoted(schedule, one.made))];
}

/** The last ones stay to be looked at, as other failed ones do; they are worth nothing else. */
function surplusUnfit(
  { schedule }: Pick<ScheduleState, 'schedule'>,
  left: readonly Made[],
): readonly Stored[] {
  const { retention, failedHistory } = schedule.spec;
  if (retention === undefined) return [];
  return unfitIn(left).slice(Math.max(1, failedHistory)).toReversed();
}

const isRemoved = ({ job }: Removal): boolean =>
  job?.isOurs === true && job.end?.isComplete === true;
export const hasFailed = ({ job }: Removal): boolean => job?.end?.isComplete === false;

function deleteRemoved({ removals }: ScheduleState): ScheduleDecision | undefined {
  const made = removals.find((one) => isRemoved(one))?.stored.made;
  if (made === undefined) return undefined;
  const why = `${made.location} is removed, as spec.retention has it.`;
  return { step: { type: 'delete-backup', made, why }, next: `Delete EtcdBackup ${made.name}` };
}

function makeRemoval({ removals }: ScheduleState): ScheduleDecision | undefined {
  if (removals.some((one) => isUnderWay(one))) return undefined;
  const stored = removals.find(({ job }) => job === undefined)?.stored;
  if (stored === undefined) return undefined;
  const next = `Remove ${stored.made.location}`;
  const type = stored.made.isRemoving ? 'make-removal' : 'note-removal';
  return { step: { type, stored }, next };
}

const isUnderWay = ({ job }: Removal): boolean => job?.isOurs === true && job.end === undefined;

function awaitAll(state: ScheduleState): ScheduleDecision {
  const atMs = dueMs(state);
  const waits = atMs === undefined ? undefined : whyNot(state, atMs);
  if (waits?.reason === 'BackupRunning') return waitFor('Begin the next run', [waits]);
  const [active] = activeIn(state.made);
  if (active !== undefined) {
    const message = `EtcdBackup ${active.name} is under way.`;
    return waitFor(`Take EtcdBackup ${active.name}`, [{ reason: 'BackupRunning', message }]);
  }
  const removal = state.removals.find((one) => isUnderWay(one));
  if (removal === undefined) return NOTHING;
  const message = `Job ${removal.job?.name ?? ''} removes it.`;
  const next = `Remove ${removal.stored.made.location}`;
  return waitFor(next, [{ reason: 'RemovalRunning', message }]);
}
