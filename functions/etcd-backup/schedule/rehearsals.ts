// Counts the good backups of a schedule from one rehearsal to the next, and says whether the next
// backup is to be rehearsed. The count stands in the status, since EtcdBackups go; each of them is
// counted once, by when it ended. One whose rehearsal failed is no good one: it counts for nothing,
// and so the next one is rehearsed again. Pure.
import type {
  CountedRehearsals,
  ScheduledRehearsals,
} from '../../../shared/api/etcd-backup-schedule.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import type { Made } from './object.ts';
import type { ScheduleState } from './state.ts';

/** Before whatever has ended. */
const FIRST = timestamp(0);

type Counted = Pick<ScheduleState, 'schedule' | 'made'>;

/** Undefined where no rehearsals are asked for. */
export function rehearsalsOf({ schedule, made }: Counted): CountedRehearsals | undefined {
  const { spec, status } = schedule;
  if (spec.rehearsal === undefined) return undefined;
  let counted = status.rehearsals ?? { goodSince: 0, countedUntil: sinceOf({ schedule, made }) };
  for (const { name, completedAt, good } of endedSince(made, counted)) {
    const { rehearsedAt, unreadable } = good;
    const { goodSince, last } = counted;
    const now = rehearsedAt && { name, rehearsedAt, ...(unreadable && { unreadable }) };
    counted = now
      ? { goodSince: 0, countedUntil: completedAt, last: now }
      : { goodSince: goodSince + 1, countedUntil: completedAt, ...(last && { last }) };
  }
  return counted;
}

/** Those that had ended before rehearsals were asked for do not count. By no clock of ours. */
function sinceOf({ schedule, made }: Counted): string {
  const ended = made.flatMap(({ good, completedAt }) => (good && completedAt) ?? []);
  return ended.toSorted().at(-1) ?? schedule.object.metadata.creationTimestamp ?? FIRST;
}

/** The first that ended first. */
const endedSince = (made: readonly Made[], { countedUntil }: CountedRehearsals) =>
  made
    .flatMap(({ name, completedAt, good }) =>
      good !== undefined && completedAt !== undefined && completedAt > countedUntil
        ? [{ name, completedAt, good }]
        : [],
    )
    .toSorted((one, other) => (one.completedAt < other.completedAt ? -1 : 1));

/** The first one, and then each n-th; as long as one is under way it may still be that. */
export function isRehearsalDue(state: Counted): boolean {
  const { rehearsal } = state.schedule.spec;
  const counted = rehearsalsOf(state);
  if (rehearsal === undefined || counted === undefined) return false;
  if (state.made.some((one) => one.isToRehearse && !one.isOver && !one.isEnding)) return false;
  return counted.last === undefined || counted.goodSince >= rehearsal.every - 1;
}

/** The last rehearsal, when it failed and none has gone well since. */
export function failedRehearsal({ schedule, made }: Counted): Made | undefined {
  if (schedule.spec.rehearsal === undefined) return undefined;
  const [last] = made
    .filter(({ unfit, good }) => unfit !== undefined || good?.rehearsedAt !== undefined)
    .toSorted((one, other) => other.atMs - one.atMs);
  return last?.unfit === undefined ? undefined : last;
}

/** Why rehearsals do not show what they are to show; undefined when they do. */
export function rehearsalTrouble(state: Counted): Reason | undefined {
  const { rehearsal } = state.schedule.spec;
  const counted = rehearsalsOf(state);
  if (rehearsal === undefined || counted === undefined) return undefined;
  const failed = failedRehearsal(state);
  if (failed !== undefined) {
    const message =
      `EtcdBackup ${failed.name} could not be restored. ${failed.failure?.message ?? ''} The ` +
      'next one is rehearsed again, and no good one is removed meanwhile.';
    return { reason: 'RehearsalFailed', message };
  }
  return counted.goodSince > rehearsal.every ? overdue(rehearsal, counted) : undefined;
}

/** The etcd has them as well, so its backups are no worse for them. */
export function unreadableObjects(state: Counted): Reason | undefined {
  const { last } = rehearsalsOf(state) ?? {};
  if (last?.unreadable === undefined) return undefined;
  const message =
    `By the rehearsal of EtcdBackup ${last.name}, ${last.unreadable} objects of its etcd no API ` +
    'server can read. Backups go on, and have them as well. Its status.rehearsal.unreadable says ' +
    'which: repair or delete them in the etcd.';
  return { reason: 'ObjectsUnreadable', message };
}

function overdue({ every }: ScheduledRehearsals, { goodSince, last }: CountedRehearsals): Reason {
  const since = last === undefined ? 'and none was rehearsed yet' : `since ${last.name}`;
  const message =
    `${goodSince} good backups were taken ${since}, and one of ${every} is to be rehearsed. The ` +
    'next one is.';
  return { reason: 'RehearsalOverdue', message };
}
