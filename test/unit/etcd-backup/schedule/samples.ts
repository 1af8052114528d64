// A schedule of each day at four whose newest backup is good. Each test says only what differs.
import {
  type Made,
  scheduleOf,
  type Schedule,
} from '../../../../functions/etcd-backup/schedule/object.ts';
import type { ScheduleState } from '../../../../functions/etcd-backup/schedule/state.ts';
import { timetableOf } from '../../../../functions/etcd-backup/schedule/timetable.ts';
import type { FoundJob } from '../../../../shared/jobs/job.ts';
import type {
  EtcdBackupScheduleSpec,
  EtcdBackupScheduleStatus,
} from '../../../../shared/api/etcd-backup-schedule.ts';
import { SPEC as TEMPLATE } from '../samples.ts';

export const at = (text: string): number => Date.parse(text);
/** The run of this day has come. */
export const NOW_MS = at('2026-11-25T05:00:00Z');
const UID = '5d2f7c1e-6a58-4a3c-8a53-5f4c9f3c2d22';

export const SPEC: EtcdBackupScheduleSpec = {
  schedule: '0 4 * * *',
  timeZone: 'UTC',
  suspend: false,
  concurrencyPolicy: 'Forbid',
  template: TEMPLATE,
  failedHistory: 1,
};

export interface Differences {
  readonly spec?: Partial<EtcdBackupScheduleSpec>;
  readonly status?: EtcdBackupScheduleStatus;
  readonly isEnding?: boolean;
  readonly made?: readonly Made[];
  readonly removals?: ScheduleState['removals'];
  readonly nowMs?: number;
}

export const LAST = '2026-11-25T04:00:00Z';

function schedule({ spec, status, isEnding }: Differences = {}): Schedule {
  return scheduleOf({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: {
      namespace: 'shop',
      name: 'daily',
      uid: UID,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-01T00:00:00Z',
      ...(isEnding === true ? { deletionTimestamp: '2026-11-25T04:30:00Z' } : {}),
    },
    spec: { ...SPEC, ...spec },
    status: status ?? { lastScheduleTime: LAST },
  });
}

const under = (time: string): Made => {
  const name = `daily-${time.replaceAll(/\D/g, '').slice(0, 12)}`;
  return {
    name,
    uid: `of-${name}`,
    resourceVersion: '7',
    atMs: at(time),
    isEnding: false,
    isOver: false,
    isRemoving: false,
    location: `s3://backups/shop/${name}/x.db`,
    completedAt: undefined,
    good: undefined,
    isToRehearse: false,
    unfit: undefined,
    failure: undefined,
  };
};

/** It ended a minute after it was due. */
const over = (time: string): Made => ({
  ...under(time),
  isOver: true,
  completedAt: new Date(at(time) + 60_000).toISOString().replace('.000Z', 'Z'),
});

export const active = under;

const facts = (time: string, isConfirmed: boolean) => ({
  takenAtMs: at(time) + 5_000,
  isConfirmed,
  revision: '6',
  sha256: 'a'.repeat(64),
  sizeBytes: 3_039_264,
  clusterId: 'cdf818194e3a8c32',
});

export const good = (time: string, isConfirmed = true): Made => ({
  ...over(time),
  good: facts(time, isConfirmed),
});

export const rehearsed = (time: string): Made => ({
  ...over(time),
  isToRehearse: true,
  good: { ...facts(time, true), rehearsedAt: new Date(at(time) + 50_000).toISOString() },
});

/** Its rehearsal failed, and it is stored. */
export const unfit = (time: string): Made => ({
  ...over(time),
  isToRehearse: true,
  unfit: facts(time, true),
  failure: { reason: 'RehearsalFailed', message: 'REHEARSAL_FAILED: BACKUP_CHANGED: it is not.' },
});

export const failed = (time: string, reason = 'BackupFailed'): Made => ({
  ...over(time),
  failure: { reason, message: 'S3_REFUSED: no rights.' },
});

export function state(differences: Differences = {}): ScheduleState {
  const { made = [good(LAST)], removals = [], nowMs = NOW_MS } = differences;
  const one = schedule(differences);
  return { schedule: one, nowMs, timetable: timetableOf(one.spec, nowMs), made, removals };
}

export const BEFORE = '2026-11-24T04:00:00Z';
export const BEFORE_THAT = '2026-11-23T04:00:00Z';
export const noted = (lastScheduleTime: string): Pick<Differences, 'status'> => ({
  status: { lastScheduleTime },
});
/** The run of this day is not made yet. */
export const due = { ...noted(BEFORE), made: [good(BEFORE)] };
const stored = (made: Made) => {
  const { name, good: found = made.unfit } = made;
  if (found === undefined) throw new Error('nothing is stored of it');
  const { takenAtMs, isConfirmed, rehearsedAt } = found;
  const isRehearsed = rehearsedAt !== undefined;
  return { name, takenAtMs, isConfirmed, isRehearsed, made, good: found };
};
export const removal = (made: Made, found?: FoundJob) => ({
  stored: stored(made),
  job: found,
  pods: [],
});
export const removalEnded = (isComplete: boolean) => ({
  end: { isComplete, reason: 'Ended', message: 'So it was', at: LAST },
});
