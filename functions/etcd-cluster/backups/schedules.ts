// The EtcdBackupSchedules that have backups taken of a cluster, with the little of each that is
// needed, and what the status of the cluster says by them. All of it is what others wrote: texts
// are cut, and only so many are kept. Pure.
import type { LastBackup } from '../../../shared/api/etcd-cluster.ts';
import type {
  EtcdBackupScheduleSpec,
  EtcdBackupScheduleStatus,
  NewestBackup,
} from '../../../shared/api/etcd-backup-schedule.ts';
import { cut } from '../../../shared/cut.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { ownObjectOf } from '../../../shared/kube/own-object.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import type { Cluster } from '../cluster.ts';

/** The first ones by name; beyond these nobody has an overview, and each has a status. */
export const SCHEDULES_MAX = 20;

const NAME_BYTES_MAX = 253;
/** The longest key of S3, and its bucket. */
const LOCATION_BYTES_MAX = 1_200;
const REVISION_BYTES_MAX = 32;
const MESSAGE_BYTES_MAX = 500;

/** As far as they are known. */
export interface Backups {
  readonly schedules: readonly Schedule[];
  /** Why they could not be read; all else goes on. */
  readonly lacking?: Reason;
}

export interface Schedule {
  readonly name: string;
  readonly isSuspended: boolean;
  readonly newest: Newest | undefined;
  /** By then a newer one is promised, or the first one; undefined when no time is. */
  readonly goodUntilMs: number | undefined;
  /** Why nobody knows any more how it is. */
  readonly doubt: Reason | undefined;
}

export interface Newest {
  readonly takenAtMs: number;
  readonly clusterId: string | undefined;
  readonly shown: LastBackup;
}

/** Undefined for one that takes backups of something else, or is about to end. */
export function scheduleOf(cluster: Cluster, object: KubeObject): Schedule | undefined {
  const { spec, status } = ownObjectOf<EtcdBackupScheduleSpec, EtcdBackupScheduleStatus>(object);
  const { name, namespace, deletionTimestamp } = object.metadata;
  const isOther = namespace !== cluster.namespace || deletionTimestamp !== undefined;
  if (isOther || spec.template.source.etcdCluster?.name !== cluster.name) return undefined;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: cut(name, NAME_BYTES_MAX),
    isSuspended: spec.suspend,
    newest: newestOf(name, status.newest),
    goodUntilMs: timeIn(status.goodUntil),
    doubt: ready?.status === 'Unknown' ? doubtOf(name, ready) : undefined,
  };
}

function newestOf(schedule: string, newest: NewestBackup | undefined): Newest | undefined {
  const takenAtMs = timeIn(newest?.takenAt);
  if (newest === undefined || takenAtMs === undefined) return undefined;
  const { name, location, revision, isHashConfirmed, clusterId } = newest;
  const shown = {
    name: cut(name, NAME_BYTES_MAX),
    schedule: cut(schedule, NAME_BYTES_MAX),
    location: cut(location, LOCATION_BYTES_MAX),
    revision: cut(revision, REVISION_BYTES_MAX),
    takenAt: timestamp(takenAtMs),
    isHashConfirmed,
  };
  return { takenAtMs, clusterId, shown };
}

const doubtOf = (schedule: string, { reason, message }: Reason): Reason => ({
  reason: cut(reason, NAME_BYTES_MAX),
  message: `EtcdBackupSchedule ${schedule}: ${cut(message, MESSAGE_BYTES_MAX)}`,
});

function timeIn(text: string | undefined): number | undefined {
  const timeMs = Date.parse(text ?? '');
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
