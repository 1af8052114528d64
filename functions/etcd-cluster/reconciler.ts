// Binds the steps of a reconcile to the kind: the shared reconciler does so with each cluster that
// an event or the sweep names.
import { ETCD_CLUSTER_LABEL, ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { type Keeping, reconcileOnce } from '../../shared/stateful/reconcile-once.ts';
import { Reconciler } from '../../shared/stateful/reconciler.ts';
import { attemptOf } from './attempts.ts';
import { type Cluster, clusterOf } from './cluster.ts';
import { decide, isConverged } from './decide.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { missingFor, refusedPolicy } from './missing-rights.ts';
import { observe } from './observe.ts';
import type { Records, State } from './state.ts';
import { applyStep } from './steps.ts';
import { recordStepEvent, updateStatus, updateStatusUnobserved } from './write-status.ts';

const isPolicy = (step: Step): boolean =>
  step.type === 'apply' && step.part.key === 'networkPolicy';

const KEEPING: Keeping<Cluster, State, Step, Records, Deps> = {
  logField: 'etcdCluster',
  observe,
  decide,
  isConverged,
  attemptOf,
  recordsIn: (step) => (step.type === 'write-records' ? step.records : undefined),
  applyStep,
  refusalOf: (cluster, step, error) =>
    isPolicy(step) ? refusedPolicy(cluster, error) : missingFor(cluster, error),
  setAside: setPolicyAside,
  updateStatus,
  recordEvent: recordStepEvent,
};

/** Members run without a NetworkPolicy, so a refused one stops nothing else. */
function setPolicyAside(deps: Deps, { uid }: Cluster, step: Step, reason: Reason): boolean {
  if (!isPolicy(step)) return false;
  deps.memoryOf(uid).policyRefusal = { reason, atMs: deps.clock.nowMs() };
  return true;
}

export const reconciler = new Reconciler<Deps>({
  ref: ETCD_CLUSTERS,
  kind: 'EtcdCluster',
  label: ETCD_CLUSTER_LABEL,
  logField: KEEPING.logField,
  reconcileOnce: (object, context, isTimeOver) =>
    reconcileOnce(KEEPING, clusterOf(object), context, isTimeOver),
  rightsMissing: (object, error) => missingFor(clusterOf(object), error),
  reportUnobserved: (object, reason, { deps, signal }) =>
    updateStatusUnobserved(deps, clusterOf(object), reason, signal),
  // Peers, pods and claims are read by each observation.
  partChanged: (partKind, { metadata }, deps) => {
    if (partKind === 'Secret') delete deps.memoryOf(metadata.uid).parts;
  },
});
