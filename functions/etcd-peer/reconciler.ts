// Binds the pieces of this function to the shared reconciler, which reconciles each EtcdPeer
// that an event or the sweep names.
import { ETCD_PEER_LABEL, ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import { reconcilerOf } from '../../shared/stateful/reconcile-once.ts';
import { attemptOf } from './attempts.ts';
import { decide } from './decide.ts';
import type { Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { observe } from './observe.ts';
import { type Peer, peerOf } from './peer.ts';
import { type Records, recordsOf, type State } from './state.ts';
import { statusUpdateOf } from './status.ts';
import { applyStep } from './steps.ts';

export const reconciler = reconcilerOf<Peer, State, Step, Records, Deps>({
  ref: ETCD_PEERS,
  kind: 'EtcdPeer',
  functionName: 'etcd-peer',
  fieldManager: FIELD_MANAGER,
  label: ETCD_PEER_LABEL,
  logField: 'etcdPeer',
  objectOf: peerOf,
  observe,
  decide,
  // All that a peer waits for, a pod, a claim or a StatefulSet, tells of itself by an event.
  isConverged: (_, { step }) => step === undefined,
  attemptOf,
  recordsIn: (step) => (step.type === 'write-records' ? step.records : undefined),
  applyStep,
  statusOf: (_, state, decision, records = recordsOf(state)) =>
    statusUpdateOf(state, decision, records),
  unobserved: { unknown: ['Ready'] },
  partChanged: (_, { metadata }, deps) => void delete deps.memoryOf(metadata.uid).parts,
});
