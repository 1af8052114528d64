// Binds the pieces of this function to the shared reconciler, which reconciles each EtcdCluster
// that an event or the sweep names.
import { ETCD_CLUSTER_LABEL, ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { reconcilerOf } from '../../shared/stateful/reconcile-once.ts';
import { attemptOf } from './attempts.ts';
import { type Cluster, clusterOf } from './cluster.ts';
import { decide, isConverged } from './decide.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { observe } from './observe.ts';
import { EXPOSED } from './parts.ts';
import { type Records, recordsOf, type State } from './state.ts';
import { shownOf } from './shown.ts';
import { statusUpdateOf } from './status.ts';
import { applyStep } from './steps.ts';

export const reconciler = reconcilerOf<Cluster, State, Step, Records, Deps>({
  ref: ETCD_CLUSTERS,
  kind: 'EtcdCluster',
  functionName: 'etcd-cluster',
  fieldManager: FIELD_MANAGER,
  label: ETCD_CLUSTER_LABEL,
  logField: 'etcdCluster',
  exposed: EXPOSED,
  objectOf: clusterOf,
  observe,
  decide,
  isConverged,
  attemptOf,
  recordsIn: (step) => (step.type === 'write-records' ? step.records : undefined),
  applyStep,
  statusOf: (deps, state, decision, records = recordsOf(state)) =>
    statusUpdateOf(state, decision, records, deps.memoryOf(state.cluster.uid).contactMs),
  show: ({ gauges }, state, seen) => gauges.show(state.cluster, seen, shownOf(state, seen)),
  unobserved: { next: 'Look at the members', unknown: ['Ready', 'Quorate', 'BackupReady'] },
});
