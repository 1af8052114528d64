// Binds the steps of a reconcile to the kind: the shared reconciler does so with each peer that an
// event or the sweep names.
import { ETCD_PEER_LABEL, ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import { type Keeping, reconcileOnce } from '../../shared/stateful/reconcile-once.ts';
import { Reconciler } from '../../shared/stateful/reconciler.ts';
import { attemptOf } from './attempts.ts';
import { decide } from './decide.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { missingFor } from './missing-rights.ts';
import { observe } from './observe.ts';
import { type Peer, peerOf } from './peer.ts';
import type { Records, State } from './state.ts';
import { applyStep } from './steps.ts';
import { recordStepEvent, updateStatus, updateStatusUnobserved } from './write-status.ts';

const KEEPING: Keeping<Peer, State, Step, Records, Deps> = {
  logField: 'etcdPeer',
  observe: async (deps, peer, signal) => ({
    state: await observe(deps, peer, signal),
    isRemembered: false,
  }),
  decide,
  // All that a peer waits for, a pod, a claim or a StatefulSet, tells of itself by an event.
  isConverged: (_, { step }) => step === undefined,
  attemptOf,
  recordsIn: (step) => (step.type === 'write-records' ? step.records : undefined),
  applyStep,
  refusalOf: (peer, _, error) => missingFor(peer, error),
  setAside: () => false,
  updateStatus,
  recordEvent: recordStepEvent,
};

export const reconciler = new Reconciler<Deps>({
  ref: ETCD_PEERS,
  kind: 'EtcdPeer',
  label: ETCD_PEER_LABEL,
  logField: KEEPING.logField,
  reconcileOnce: (object, context, isTimeOver) =>
    reconcileOnce(KEEPING, peerOf(object), context, isTimeOver),
  rightsMissing: (object, error) => missingFor(peerOf(object), error),
  reportUnobserved: (object, reason, { deps, signal }) =>
    updateStatusUnobserved(deps, peerOf(object), reason, signal),
  partChanged: () => undefined,
});
