// EtcdBackupSchedule as the API server stores it: when EtcdBackups are made, and how many are kept.
// knative/crds/etcd-backup-schedule.yaml is the source of truth; defaults are filled in by the API
// server.
import type { EtcdBackupSpec, RehearsalSpec } from './etcd-backup.ts';

export const ETCD_BACKUP_SCHEDULES = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'etcdbackupschedules',
} as const;

/** Renewed by each sweep; it names the schedules that could not be reconciled. */
export const ETCD_BACKUP_SCHEDULE_LEASE = 'ballast-etcd-backup-schedule';

/** On the EtcdBackups of a schedule and on Jobs that remove them, with its name as the value. */
export const ETCD_BACKUP_SCHEDULE_LABEL = 'ballast.dev/etcd-backup-schedule';

export interface EtcdBackupScheduleSpec {
  /** Five fields of cron. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly suspend: boolean;
  readonly concurrencyPolicy: 'Forbid' | 'Allow';
  readonly startingDeadlineSeconds?: number;
  /** The spec of each EtcdBackup; the names of objects and files are never fixed. */
  readonly template: Omit<EtcdBackupSpec, 'scheduled' | 'rehearsal'>;
  /** No backup is rehearsed when absent. */
  readonly rehearsal?: ScheduledRehearsals;
  /** Nothing is removed when absent. */
  readonly retention?: BackupRetention;
  /** How many EtcdBackups that failed are kept. */
  readonly failedHistory: number;
  /** How old the newest good backup may be; by the schedule when absent. */
  readonly maxAgeSeconds?: number;
}

/** The first one, and from then on each good backup that is the n-th. */
export interface ScheduledRehearsals extends RehearsalSpec {
  readonly every: number;
}

/** One of them. */
export interface BackupRetention {
  readonly count?: number;
  readonly ageSeconds?: number;
  readonly exponential?: ExponentialRetention;
}

/** All of the last hour, and one of each of the last hours, days and weeks. */
export interface ExponentialRetention {
  readonly hours: number;
  readonly days: number;
  readonly weeks: number;
}

export interface EtcdBackupScheduleStatus {
  readonly observedGeneration?: number;
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
  readonly nextScheduleTime?: string;
  /** EtcdBackups that are under way. */
  readonly active?: readonly string[];
  readonly newest?: NewestBackup;
  /** Until when the newest one is new enough; of the first one, until when it is promised. */
  readonly goodUntil?: string;
  /**
   * EtcdBackups whose removal has begun, by name. It is ended, whatever the spec says meanwhile,
   * and they count as good no more.
   */
  readonly removing?: readonly string[];
  /** Good backups that are there. */
  readonly kept?: number;
  readonly rehearsals?: CountedRehearsals;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  }[];
}

export interface CountedRehearsals {
  /** Good backups since the last one that was rehearsed well, or since rehearsals are asked for. */
  readonly goodSince: number;
  /** Those that had ended by then are counted. */
  readonly countedUntil: string;
  readonly last?: RehearsedBackup;
}

/** The last one that was rehearsed well. */
export interface RehearsedBackup {
  /** The EtcdBackup. */
  readonly name: string;
  readonly rehearsedAt: string;
  /** How many objects no API server can read. */
  readonly unreadable?: number;
}

export interface NewestBackup {
  /** The EtcdBackup. */
  readonly name: string;
  readonly location: string;
  readonly revision: string;
  readonly takenAt: string;
  readonly isHashConfirmed: boolean;
  /** In hex, of its etcd; absent where a version wrote it that did not tell it. */
  readonly clusterId?: string;
}
