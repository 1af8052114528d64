// Keeps the members of etcd clusters: for each EtcdPeer one StatefulSet of one pod, and the claim
// that its data is in. It never speaks with etcd, and never deletes a claim. Changes of EtcdPeers
// and of their parts wake it, and the sweep's tick. Its memory is the status of the EtcdPeer: two
// instances at once, lost events and a killed process cost time, and no member starts twice, or
// with another volume than its first.
//
// The files, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the shared reconciler
//   peer               an EtcdPeer as read, and what its parts are called
//   observe            reads the state: StatefulSet, pod and claim
//   state              the state as types, and questions about it
//   decide             the next step; decision
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step
//   status             what the status is, and when Degraded turns True
//   render/            the StatefulSet with its pod and flags, and the claim, as they should be
import { ETCD_PEER_LEASE, ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdPeer = defineStateful({
  name: 'etcd-peer',
  purpose: 'Keeps the pod and the volume of each member of an etcd cluster.',
  fieldManager: FIELD_MANAGER,
  lease: ETCD_PEER_LEASE,
  owner: { ...ETCD_PEERS, kind: 'EtcdPeer' },
  hasLastingParts: true,
  open: (options) => new Deps(options),
  load: () => import('./reconciler.ts'),
});
