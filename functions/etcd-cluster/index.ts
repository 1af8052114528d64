// Keeps etcd clusters: bears them once, and brings every edit of the spec to the members one at a
// time, never before every other member is healthy. Changes of EtcdClusters, of their peers and
// pods wake it, and the sweep's tick. Its memory is the status of the EtcdCluster: two instances at
// once, lost events and a killed process cost time, never a quorum or an acknowledged write.
//
// The files, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the kind
//   cluster            an EtcdCluster as read, and the names of its parts
//   observe            reads the state: peers, pods, claims and parts; ask-members: the answers of
//                      the members, by connect
//   state, etcd-state  the state as types, and questions about it
//   decide             the one order in which planners are asked for the next step; decision
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step
//   status, conditions what the status is; write-status writes it and creates Events
// planners, each for one kind of change:
//   safety             blockers: reasons why members must not be changed now
//   apply-parts        Secrets, Services, the budget and the policy of the network
//   birth              the first member, once; peers for claims that have data already
//   hibernate          all members away and back
//   join, leave        more members, and fewer; lost ones
//   roll               another spec, one member at a time; version: which may follow which
// parts:
//   parts              reads them and compares them with how they are rendered
//   peer-spec          what the spec of a peer should be
//   certificates       of members and clients; missing-rights: rights that our account lacks
//   owner              the EtcdCluster as theirs; render: the parts as they should be
import { ETCD_CLUSTER_LEASE } from '../../shared/api/etcd-cluster.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { secondsAsMs } from '../../shared/function/parsers.ts';
import { CHANGES, SWEEP } from '../../shared/function/sources.ts';
import { SWEEP_CONFIG } from '../../shared/function/sweep-config.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { openEtcdAdmin } from '../../shared/etcd/admin.ts';
import { timeConflicts } from '../../shared/stateful/times.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdCluster = defineFunction({
  name: 'etcd-cluster',
  purpose: 'Keeps etcd clusters right: one birth, members one at a time, never without a quorum.',
  wakesOn: [...CHANGES, SWEEP],
  config: {
    kubeconfigPath: KUBECONFIG,
    workMs: {
      env: 'WORK_SECONDS',
      meaning: 'how long one request goes on before it leaves the rest to the next',
      parse: secondsAsMs(0.05, 300),
      // Below the deadline of a request by more than an observation takes while members are silent.
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
      openAdmin: openEtcdAdmin,
      clock,
      workMs,
      lease: { namespace: leaseNamespace, name: ETCD_CLUSTER_LEASE, sweepSeconds },
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
