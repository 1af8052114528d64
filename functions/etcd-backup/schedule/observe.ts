// Reads the state of a schedule: its EtcdBackups, and of the first ones that may go the Jobs that
// remove them. Writes nothing.
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_BACKUP_SCHEDULE_LABEL } from '../../../shared/api/etcd-backup-schedule.ts';
import { readJob } from '../../../shared/jobs/observe.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Observation } from '../../../shared/stateful/keeping.ts';
import { removable, hasFailed } from './decide.ts';
import { type Made, madeBy, type Schedule } from './object.ts';
import { newestOf, promisedMs } from './promise.ts';
import { rehearsalsOf, rehearsalTrouble } from './rehearsals.ts';
import { removalNameOf } from './render/removal.ts';
import type { ScheduleDeps } from './deps.ts';
import type { Removal, ScheduleState } from './state.ts';
import { timetableOf } from './timetable.ts';

/** Some eight kilobytes each. */
const BACKUPS_PER_PAGE = 100;
/** So many failed ones are passed over at a time, so that one does not hold up all others. */
const REMOVALS_MAX = 10;

export async function observe(
  { kube, clock, gauges }: Pick<ScheduleDeps, 'kube' | 'clock' | 'gauges'>,
  schedule: Schedule,
  signal: AbortSignal,
): Promise<Observation<ScheduleState>> {
  const nowMs = clock.nowMs();
  const timetable = timetableOf(schedule.spec, nowMs);
  const made = await readMade(kube, schedule, signal);
  const state = { schedule, nowMs, timetable, made };
  const removals = await readRemovals(kube, state, signal);
  gauges.show(schedule, {
    newestMs: newestOf(made)?.takenAtMs,
    untilMs: promisedMs(state),
    rehearsals: rehearsalsOf(state),
    isRehearsalWrong: rehearsalTrouble(state) !== undefined,
  });
  return { state: { ...state, removals }, isRemembered: false };
}

async function readMade(
  kube: KubeClient,
  schedule: Schedule,
  signal: AbortSignal,
): Promise<readonly Made[]> {
  const { namespace, name } = schedule;
  const labelSelector = `${ETCD_BACKUP_SCHEDULE_LABEL}=${name}`;
  const selection = { namespace, labelSelector, limit: BACKUPS_PER_PAGE, signal };
  const made: Made[] = [];
  for await (const { items } of kube.pages(ETCD_BACKUPS, selection)) {
    made.push(...items.flatMap((object) => madeBy(schedule, object) ?? []));
  }
  return made;
}

async function readRemovals(
  kube: KubeClient,
  state: Omit<ScheduleState, 'removals'>,
  signal: AbortSignal,
): Promise<readonly Removal[]> {
  const { namespace } = state.schedule;
  const reader = { kube, nowMs: state.nowMs, signal };
  const removals: Removal[] = [];
  for (const stored of removable(state).slice(0, REMOVALS_MAX)) {
    const { made } = stored;
    const owner = { namespace, uid: made.uid };
    const removal = { stored, ...(await readJob(reader, owner, removalNameOf(made))) };
    removals.push(removal);
    if (!hasFailed(removal)) break;
  }
  return removals;
}
