// Binds the pieces of this function to the shared reconciler, which reconciles each EtcdRestore
// that an event or the sweep names.
import { ETCD_RESTORE_LABEL, ETCD_RESTORES } from '../../shared/api/etcd-restore.ts';
import { reconcilerOf } from '../../shared/stateful/reconcile-once.ts';
import { attemptOf } from './attempts.ts';
import { decide } from './decide.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { type EtcdRestore, etcdRestoreOf } from './object.ts';
import { observe } from './observe.ts';
import { type Records, recordsOf, type State } from './state.ts';
import { statusUpdateOf } from './status.ts';
import { applyStep } from './steps.ts';

export const reconciler = reconcilerOf<EtcdRestore, State, Step, Records, Deps>({
  ref: ETCD_RESTORES,
  kind: 'EtcdRestore',
  functionName: 'etcd-restore',
  fieldManager: FIELD_MANAGER,
  label: ETCD_RESTORE_LABEL,
  logField: 'etcdRestore',
  objectOf: etcdRestoreOf,
  observe,
  decide,
  // A Job and an EtcdCluster tell of themselves by events; why a pod waits is looked up by the
  // sweep.
  isConverged: (_, { step }) => step === undefined,
  attemptOf,
  recordsIn: (step) => (step.type === 'write-records' ? step.records : undefined),
  applyStep,
  statusOf: (_, state, decision, records = recordsOf(state)) =>
    statusUpdateOf(state, decision, records),
  unobserved: { unknown: ['Complete'] },
});
