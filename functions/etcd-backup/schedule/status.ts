// Computes the status of a schedule from the state and the decision. Ready says that the promise is
// kept: the newest good backup is new enough, and where rehearsals are asked for, the last one
// went well. Pure; equal input gives an equal status.
import type {
  EtcdBackupScheduleStatus,
  NewestBackup,
} from '../../../shared/api/etcd-backup-schedule.ts';
import { saidIn } from '../../../shared/jobs/said.ts';
import type { ConditionInput, Reason } from '../../../shared/kube/conditions.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { condition, NOT_DEGRADED, progressing } from '../../../shared/stateful/conditions.ts';
import type { StatusUpdate } from '../../../shared/stateful/write-status.ts';
import type { ScheduleDecision } from './decision.ts';
import { activeIn, dueMs, hasFailed, whyNot } from './decide.ts';
import { type Made, removingIn, type Stored, storedIn } from './object.ts';
import { goodUntilMs, isKept, lastRunKnownMs, newestOf, promisedMs } from './promise.ts';
import { rehearsalsOf, rehearsalTrouble, unreadableObjects } from './rehearsals.ts';
import type { Removal, ScheduleState } from './state.ts';

const ACTIVE_SHOWN_MAX = 10;

export function statusUpdateOf(
  state: ScheduleState,
  decision: ScheduleDecision,
  begun: readonly string[] = [],
): StatusUpdate<EtcdBackupScheduleStatus> {
  const { schedule, made, nowMs, timetable } = state;
  const newest = newestOf(made);
  const untilMs = promisedMs(state);
  const isIdle = 'reason' in timetable || schedule.spec.suspend;
  const nextMs = isIdle ? undefined : timetable.nextMs(nowMs);
  const rehearsals = rehearsalsOf(state);
  const active = activeIn(made).map(({ name }) => name);
  return {
    status: {
      observedGeneration: schedule.generation,
      ...times(state),
      ...(nextMs === undefined ? {} : { nextScheduleTime: timestamp(nextMs) }),
      active: active.slice(0, ACTIVE_SHOWN_MAX),
      ...(newest === undefined ? {} : { newest: shown(newest) }),
      ...(untilMs === undefined ? {} : { goodUntil: timestamp(untilMs) }),
      removing: [...removingIn(made).map(({ name }) => name), ...begun],
      kept: storedIn(made).length,
      ...(rehearsals === undefined ? {} : { rehearsals }),
    },
    conditions: [ready(state, newest), progressing(decision), degraded(state, decision)],
  };
}

/** The past stays as it was, whatever was deleted since. */
function times({
  schedule,
  made,
  nowMs,
}: ScheduleState): Pick<EtcdBackupScheduleStatus, 'lastScheduleTime' | 'lastSuccessfulTime'> {
  const { lastScheduleTime, lastSuccessfulTime } = schedule.status;
  const hasRun = made.length > 0 || lastScheduleTime !== undefined;
  const ended = made.flatMap(({ good, completedAt }) =>
    good === undefined || completedAt === undefined ? [] : completedAt,
  );
  const last = [...ended, lastSuccessfulTime ?? []].flat().toSorted().at(-1);
  return {
    ...(hasRun ? { lastScheduleTime: timestamp(lastRunKnownMs(schedule, made, nowMs)) } : {}),
    ...(last === undefined ? {} : { lastSuccessfulTime: last }),
  };
}

const shown = ({ name, takenAtMs, isConfirmed, made, good }: Stored): NewestBackup => ({
  name,
  location: made.location,
  revision: good.revision,
  takenAt: timestamp(takenAtMs),
  isHashConfirmed: isConfirmed,
  clusterId: good.clusterId,
});

function ready(state: ScheduleState, newest: Stored | undefined): ConditionInput {
  const broken = brokenPromise(state, newest) ?? rehearsalTrouble(state);
  if (broken !== undefined) return condition('Ready', 'False', broken);
  const message = `${newestIs(newest)} ${untilIs(state)}`;
  return condition('Ready', 'True', { reason: 'NewEnough', message });
}

function brokenPromise(state: ScheduleState, newest: Stored | undefined): Reason | undefined {
  if (isKept(state)) return undefined;
  if (newest === undefined) return { reason: 'NoBackup', message: noBackup(state) };
  const { timetable } = state;
  if ('reason' in timetable && state.schedule.spec.maxAgeSeconds === undefined) return timetable;
  const rest = state.schedule.spec.suspend ? ' spec.suspend is true.' : '';
  const message = `${newestIs(newest)} ${untilIs(state)}${rest} Nothing is removed meanwhile.`;
  return { reason: 'TooOld', message };
}

function noBackup({ timetable, schedule, nowMs }: ScheduleState): string {
  if ('reason' in timetable) return `There is no good backup. ${timetable.message}`;
  if (schedule.spec.suspend) return 'There is no good backup, and spec.suspend is true.';
  const nextMs = timetable.nextMs(nowMs);
  const next = nextMs === undefined ? '' : ` The next run is at ${timestamp(nextMs)}.`;
  return `There is no good backup yet.${next}`;
}

const newestIs = (newest: Stored | undefined): string =>
  newest === undefined
    ? 'There is no good backup.'
    : `The newest good backup is ${newest.name}, of ${timestamp(newest.takenAtMs)}.`;

function untilIs(state: ScheduleState): string {
  const untilMs = goodUntilMs(state);
  if (untilMs === undefined) return 'No time is promised.';
  const isOver = state.nowMs > untilMs;
  return `A newer one ${isOver ? 'was' : 'is'} promised by ${timestamp(untilMs)}.`;
}

function degraded(state: ScheduleState, { trouble }: ScheduleDecision): ConditionInput {
  const found = trouble ?? troubleOf(state);
  return found === undefined ? NOT_DEGRADED : condition('Degraded', 'True', found);
}

/** The first that a person begins with. */
function troubleOf(state: ScheduleState): Reason | undefined {
  const newest = newestOf(state.made);
  const failed = lastFailure(state.made);
  const promised = promisedMs(state);
  const isDue = newest !== undefined || (promised !== undefined && state.nowMs > promised);
  const broken = isDue ? brokenPromise(state, newest) : undefined;
  const missed = missedRun(state);
  const later = failed ?? missed ?? failedRemoval(state) ?? unreadableObjects(state);
  return broken ?? rehearsalTrouble(state) ?? later;
}

/** The failure of the last run that has ended. */
function lastFailure(made: readonly Made[]): Reason | undefined {
  const ended = made.filter(({ isOver }) => isOver).toSorted((one, other) => other.atMs - one.atMs);
  const [last] = ended;
  if (last?.failure === undefined) return undefined;
  const { reason, message } = last.failure;
  return { reason: 'BackupFailed', message: `EtcdBackup ${last.name} (${reason}): ${message}` };
}

function missedRun(state: ScheduleState): Reason | undefined {
  const atMs = state.schedule.spec.suspend ? undefined : dueMs(state);
  const why = atMs === undefined ? undefined : whyNot(state, atMs);
  return why?.reason === 'RunMissed' ? why : undefined;
}

function failedRemoval({ removals }: ScheduleState): Reason | undefined {
  for (const removal of removals) {
    const { job, stored } = removal;
    const what = stored.made.location;
    if (job !== undefined && !job.isOurs) {
      const message = `Job ${job.name} is there already and is not ours; delete it.`;
      return { reason: 'NameTaken', message };
    }
    if (job === undefined || !hasFailed(removal)) continue;
    const message =
      `Job ${job.name}, which was to remove ${what}, failed: ${lastWords(removal)} It is tried ` +
      'again when that Job is gone, which is a day after its end.';
    return { reason: 'RemovalFailed', message };
  }
  return undefined;
}

/** The words of the pod that failed last, or of Kubernetes. */
function lastWords({ job, pods }: Removal): string {
  const ended = pods.flatMap((pod) => pod.ended ?? []).toSorted((a, b) => (a.at < b.at ? 1 : -1));
  const said = ended[0] && saidIn(ended[0].message);
  if (said !== undefined && 'error' in said) return `${said.error.code}: ${said.error.message}`;
  return `${job?.end?.reason ?? ''}: ${job?.end?.message ?? ''}`;
}
