// Binds the pieces of schedules to the shared reconciler, which reconciles each EtcdBackupSchedule
// that an event or the sweep names, by itself or by one of its EtcdBackups.
import {
  ETCD_BACKUP_SCHEDULE_LABEL,
  ETCD_BACKUP_SCHEDULES,
} from '../../../shared/api/etcd-backup-schedule.ts';
import { reconcilerOf } from '../../../shared/stateful/reconcile-once.ts';
import { FIELD_MANAGER } from '../field-manager.ts';
import { decide } from './decide.ts';
import type { ScheduleStep } from './decision.ts';
import type { ScheduleDeps } from './deps.ts';
import { type Schedule, scheduleOf } from './object.ts';
import { observe } from './observe.ts';
import type { ScheduleState } from './state.ts';
import { statusUpdateOf } from './status.ts';
import { applyStep } from './steps.ts';

export const reconciler = reconcilerOf<
  Schedule,
  ScheduleState,
  ScheduleStep,
  readonly string[],
  ScheduleDeps
>({
  ref: ETCD_BACKUP_SCHEDULES,
  kind: 'EtcdBackupSchedule',
  functionName: 'etcd-backup',
  fieldManager: FIELD_MANAGER,
  label: ETCD_BACKUP_SCHEDULE_LABEL,
  logField: 'etcdBackupSchedule',
  objectOf: scheduleOf,
  observe,
  decide,
  // EtcdBackups and Jobs tell of themselves by events, and the time by the sweep.
  isConverged: (_, { step }) => step === undefined,
  attemptOf: ({ type }, next) => ({ key: `${type} ${next}`, next, isAsking: false }),
  recordsIn: (step) => (step.type === 'note-removal' ? [step.stored.name] : undefined),
  applyStep,
  statusOf: (_, state, decision, begun) => statusUpdateOf(state, decision, begun),
  unobserved: { unknown: ['Ready'] },
});
