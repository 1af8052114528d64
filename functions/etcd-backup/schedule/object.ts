// An EtcdBackupSchedule and its EtcdBackups as they were read, in the terms of this function, and
// the names of what belongs to them. Pure.
import type { ScheduledRun } from '../../../shared/api/etcd-backup.ts';
import {
  ETCD_BACKUP_SCHEDULE_LABEL,
  type EtcdBackupScheduleSpec,
  type EtcdBackupScheduleStatus,
} from '../../../shared/api/etcd-backup-schedule.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { isEnding, type KubeObject } from '../../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../../shared/kube/own-object.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { type EtcdBackup, etcdBackupOf, isOver } from '../object.ts';
import type { Good } from './retention.ts';

export type Schedule = OwnObject<EtcdBackupScheduleSpec, EtcdBackupScheduleStatus>;

export const scheduleOf: (object: KubeObject) => Schedule = ownObjectOf;

/** Little is kept of each: there may be many. */
export interface Made {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The minute that it was due in. */
  readonly atMs: number;
  readonly isEnding: boolean;
  readonly isOver: boolean;
  /** Its removal was noted; perhaps nothing is stored any more. */
  readonly isRemoving: boolean;
  readonly location: string;
  readonly completedAt: string | undefined;
  readonly good: GoodBackup | undefined;
  readonly isToRehearse: boolean;
  /** Its facts when it is stored although its rehearsal failed. */
  readonly unfit: GoodBackup | undefined;
  /** Why there is no backup; undefined as long as there may be one. */
  readonly failure: Reason | undefined;
}

/** The facts that are needed here; its stored object is known again by two of them. */
export interface GoodBackup {
  readonly takenAtMs: number;
  readonly isConfirmed: boolean;
  readonly revision: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly clusterId: string;
  readonly rehearsedAt?: string;
  /** How many objects no API server can read. */
  readonly unreadable?: number;
}

/** Undefined for one that another schedule made, or a person. */
export function madeBy(
  { uid, status }: Pick<Schedule, 'uid' | 'status'>,
  object: KubeObject,
): Made | undefined {
  const backup = etcdBackupOf(object);
  const { scheduled } = backup.spec;
  if (scheduled?.uid !== uid) return undefined;
  const { phase, location = '', completedAt, conditions = [] } = backup.status;
  const { removing = [] } = status;
  const complete = conditions.find(({ type }) => type === 'Complete');
  const { reason = 'BackupFailed', message = '' } = complete ?? {};
  return {
    name: backup.name,
    uid: backup.uid,
    resourceVersion: object.metadata.resourceVersion,
    atMs: Date.parse(scheduled.at),
    isEnding: isEnding(object),
    isOver: isOver(backup),
    isRemoving: removing.includes(backup.name),
    location,
    completedAt,
    good: phase === 'Complete' ? factsOf(backup) : undefined,
    isToRehearse: backup.spec.rehearsal !== undefined,
    unfit: phase === 'Failed' && reason === 'RehearsalFailed' ? factsOf(backup) : undefined,
    failure: phase === 'Failed' ? { reason, message } : undefined,
  };
}

function factsOf({ status: { backup, rehearsal } }: EtcdBackup): GoodBackup | undefined {
  if (backup === undefined) return undefined;
  const { takenAt, isHashConfirmed, revision, sha256, sizeBytes, clusterId } = backup;
  const takenAtMs = Date.parse(takenAt);
  const facts = { takenAtMs, isConfirmed: isHashConfirmed, revision, sha256, sizeBytes, clusterId };
  if (rehearsal === undefined) return facts;
  const { rehearsedAt, unreadable } = rehearsal;
  return { ...facts, rehearsedAt, ...(unreadable && { unreadable: unreadable.objects }) };
}

/** A backup that is stored, with its EtcdBackup. */
export interface Stored extends Good {
  readonly made: Made;
  readonly good: GoodBackup;
}

/** The good ones. */
export const storedIn = (all: readonly Made[]): readonly Stored[] =>
  recordsOf(all.filter(({ isRemoving, good }) => !isRemoving && good !== undefined));

/** Those whose rehearsal failed, the newest first. */
export const unfitIn = (all: readonly Made[]): readonly Stored[] =>
  recordsOf(all.filter(({ isRemoving, unfit }) => !isRemoving && unfit !== undefined)).toSorted(
    (one, other) => other.takenAtMs - one.takenAtMs,
  );

/** The oldest first. */
export const removingIn = (all: readonly Made[]): readonly Stored[] =>
  recordsOf(all.filter(({ isRemoving }) => isRemoving)).toSorted(
    (one, other) => one.takenAtMs - other.takenAtMs,
  );

const recordsOf = (all: readonly Made[]): readonly Stored[] =>
  all.flatMap((made) => {
    const { name, good = made.unfit } = made;
    if (good === undefined) return [];
    const { takenAtMs, isConfirmed, rehearsedAt } = good;
    const isRehearsed = rehearsedAt !== undefined;
    return [{ name, takenAtMs, isConfirmed, isRehearsed, made, good }];
  });

/** The same for one minute always, so that a run is made once whoever asks for it how often. */
export const backupNameOf = ({ name }: Pick<Schedule, 'name'>, atMs: number): string =>
  `${name}-${timestamp(atMs).replaceAll(/\D/g, '').slice(0, 12)}`;

/** As its record, in a spec that nobody changes. */
export const scheduledOf = (
  { name, uid }: Pick<Schedule, 'name' | 'uid'>,
  atMs: number,
): ScheduledRun => ({ schedule: name, uid, at: timestamp(atMs) });

export const backupLabelsOf = ({
  name,
}: Pick<Schedule, 'name'>): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'etcd-backup',
  'app.kubernetes.io/managed-by': 'ballast',
  [ETCD_BACKUP_SCHEDULE_LABEL]: name,
});
