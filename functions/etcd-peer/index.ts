// Keeps the members of etcd clusters: for each EtcdPeer one StatefulSet of one pod, and the claim
// that its data is in. It never speaks with etcd, and never deletes a claim. Changes of EtcdPeers
// and of their parts wake it, and the sweep's tick. Its memory is the status of the EtcdPeer: two
// instances at once, lost events and a killed process cost time, and no member starts twice, or
// with another volume than its first.
//
// The files, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the kind
//   peer               an EtcdPeer as read, and what its parts are called
//   observe            reads the state: StatefulSet, pod and claim
//   state              the state as types, and questions about it
//   decide             the next step; decision
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step; missing-rights: rights that our account lacks
//   status             what the status is; write-status writes it and creates Events
//   render/            the StatefulSet with its pod and flags, and the claim, as they should be
import { ETCD_PEER_LEASE } from '../../shared/api/etcd-peer.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { secondsAsMs } from '../../shared/function/parsers.ts';
import { CHANGES, SWEEP } from '../../shared/function/sources.ts';
import { SWEEP_CONFIG } from '../../shared/function/sweep-config.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { timeConflicts } from '../../shared/stateful/times.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdPeer = defineFunction({
  name: 'etcd-peer',
  purpose: 'Keeps the pod and the volume of each member of an etcd cluster.',
  wakesOn: [...CHANGES, SWEEP],
  config: {
    kubeconfigPath: KUBECONFIG,
    workMs: {
      env: 'WORK_SECONDS',
      meaning: 'how long one request goes on before it leaves the rest to the next',
      parse: secondsAsMs(0.05, 300),
      // Below the deadline of a request by more than a step takes.
      fallback: 15_000,
    },
    ...SWEEP_CONFIG,
  },
  conflicts: timeConflicts,
  open: ({ kubeconfigPath, workMs, leaseNamespace, sweepSeconds }, { clock, log }): Deps =>
    new Deps({
      kube: openKube({
        kubeconfigPath,
        userAgent: FIELD_MANAGER,
        fieldManager: FIELD_MANAGER,
        log,
      }),
      clock,
      workMs,
      lease: { namespace: leaseNamespace, name: ETCD_PEER_LEASE, sweepSeconds },
    }),
  readApiServer: readJson,
  close: (deps) => deps.close(),
  handle: async (event, context) => {
    const { reconciler } = await import('./reconciler.ts');
    if (event.type === SWEEP) await reconciler.sweepAll(context);
    else await reconciler.takeChange(event, context);
    return undefined;
  },
});
