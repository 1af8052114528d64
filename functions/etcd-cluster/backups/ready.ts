// Judges whether the newest good backup of a cluster is as new as its schedules promise, by the
// clock of this look: a schedule that nobody looks after any more keeps nothing True. Pure.
import type { LastBackup } from '../../../shared/api/etcd-cluster.ts';
import type { ConditionInput, Reason } from '../../../shared/kube/conditions.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { condition } from '../../../shared/stateful/conditions.ts';
import type { Cluster } from '../cluster.ts';
import type { State } from '../state.ts';
import type { Newest, Schedule } from './schedules.ts';

export interface BackupVerdict {
  /** BackupReady. */
  readonly condition: ConditionInput;
  readonly backup: LastBackup | undefined;
  /** The first time by which one is promised; 0 for no time, undefined where nobody promises. */
  readonly goodUntilMs: number | undefined;
}

interface Judged {
  readonly cluster: Pick<Cluster, 'name' | 'status'>;
  /** Those that are not suspended. */
  readonly active: readonly Schedule[];
  readonly newest: Newest | undefined;
  readonly nowMs: number;
}

export function backupsOf({
  backups: { schedules, lacking },
  cluster,
  nowMs,
}: Pick<State, 'backups' | 'nowMs'> & Pick<Judged, 'cluster'>): BackupVerdict {
  const active = schedules.filter(({ isSuspended }) => !isSuspended);
  const [newest] = schedules
    .flatMap((one) => ownOf(cluster, one) ?? [])
    .toSorted((one, other) => other.takenAtMs - one.takenAtMs);
  const judged = { cluster, active, newest, nowMs };
  return {
    condition: nobody(lacking, schedules, judged) ?? ofActive(judged),
    backup: newest?.shown,
    goodUntilMs: schedules.length === 0 ? undefined : firstOf(active),
  };
}

const firstOf = (active: readonly Schedule[]): number =>
  active.length === 0 ? 0 : Math.min(...active.map(({ goodUntilMs = 0 }) => goodUntilMs));

/** A backup of a cluster that had this name before is none of this one. */
function ownOf({ status }: Pick<Cluster, 'status'>, { newest }: Schedule): Newest | undefined {
  const { clusterId } = status;
  return clusterId !== undefined && newest?.clusterId === clusterId ? newest : undefined;
}

/** Nobody takes backups of it, as far as is known. */
function nobody(
  lacking: Reason | undefined,
  schedules: readonly Schedule[],
  { cluster, active, newest }: Judged,
): ConditionInput | undefined {
  if (lacking !== undefined) return condition('BackupReady', 'Unknown', lacking);
  if (schedules.length === 0) {
    const message =
      'Nobody has promised backups of it: there is no EtcdBackupSchedule here whose ' +
      `spec.template.source.etcdCluster.name is ${cluster.name}.`;
    return condition('BackupReady', 'Unknown', { reason: 'NoSchedule', message });
  }
  if (active.length > 0) return undefined;
  const names = schedules.map(({ name }) => name).join(', ');
  const message = `No backup is taken while spec.suspend is true: ${names}. ${newestIs(newest)}`;
  return condition('BackupReady', 'False', { reason: 'Suspended', message });
}

function ofActive(judged: Judged): ConditionInput {
  const { cluster, active, newest, nowMs } = judged;
  const late = active.filter(({ goodUntilMs = 0 }) => nowMs > goodUntilMs);
  const told = late.length > 0 ? late : active;
  const message = [newestIs(newest), ...told.map((one) => promiseOf(judged, one))].join(' ');
  if (active.every((one) => ownOf(cluster, one) === undefined)) {
    return condition('BackupReady', 'False', { reason: 'NoBackup', message });
  }
  if (late.length > 0) return condition('BackupReady', 'False', { reason: 'TooOld', message });
  const doubt = active.find((one) => one.doubt !== undefined)?.doubt;
  if (doubt !== undefined) return condition('BackupReady', 'Unknown', doubt);
  return newest?.shown.isHashConfirmed === true
    ? condition('BackupReady', 'True', { reason: 'NewEnough', message })
    : condition('BackupReady', 'True', { reason: 'Unconfirmed', message });
}

function newestIs(newest: Newest | undefined): string {
  if (newest === undefined) return 'There is no good backup of it.';
  const { name, takenAt, isHashConfirmed } = newest.shown;
  const unconfirmed = isHashConfirmed ? '' : ' No member confirmed its hash.';
  return `The newest good backup is ${name}, of ${takenAt}.${unconfirmed}`;
}

function promiseOf({ cluster, nowMs }: Judged, one: Schedule): string {
  const who = `EtcdBackupSchedule ${one.name}`;
  const isOthers = one.newest !== undefined && ownOf(cluster, one) === undefined;
  const others = isOthers
    ? ` Its newest one, ${one.newest?.shown.name}, is of another cluster.`
    : '';
  if (one.goodUntilMs === undefined) return `${who} names no time for one.${others}`;
  const which = one.newest === undefined ? 'its first' : 'a newer';
  const promises = nowMs > one.goodUntilMs ? 'promised' : 'promises';
  return `${who} ${promises} ${which} one by ${timestamp(one.goodUntilMs)}.${others}`;
}
