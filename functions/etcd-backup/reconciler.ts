// Binds the pieces of this function to the shared reconciler, which reconciles each EtcdBackup
// that an event or the sweep names.
import { ETCD_BACKUP_LABEL, ETCD_BACKUPS } from '../../shared/api/etcd-backup.ts';
import { reconcilerOf } from '../../shared/stateful/reconcile-once.ts';
import { attemptOf } from './attempts.ts';
import { decide } from './decide.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { type EtcdBackup, etcdBackupOf } from './object.ts';
import { observe } from './observe.ts';
import type { State } from './state.ts';
import { statusUpdateOf } from './status.ts';
import { applyStep } from './steps.ts';

export const reconciler = reconcilerOf<EtcdBackup, State, Step, never, Deps>({
  ref: ETCD_BACKUPS,
  kind: 'EtcdBackup',
  functionName: 'etcd-backup',
  fieldManager: FIELD_MANAGER,
  label: ETCD_BACKUP_LABEL,
  logField: 'etcdBackup',
  unattended: 'No Job is made, and what became of one that runs is not seen.',
  objectOf: etcdBackupOf,
  observe,
  decide,
  // A Job tells of itself by an event; why its pod waits is looked up by the sweep.
  isConverged: (_, { step }) => step === undefined,
  attemptOf,
  recordsIn: () => undefined,
  applyStep,
  statusOf: (_, state, decision) => statusUpdateOf(state, decision),
  unobserved: { unknown: ['Complete'] },
});
