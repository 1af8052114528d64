// Keeps NATS clusters: makes them from three lines, and brings every edit of the spec to the
// servers one at a time, never before all streams are whole without the one that goes. Changes of
// NatsClusters and of their parts wake it, and the sweep's tick. Its memory is the status of the
// NatsCluster: two instances at once, lost events and a killed process cost time, never a stream.
//
// The files, in the order of a reconcile; `shared/stateful` has what is no matter of NATS:
//   reconciler         the entry: one reconcile of a cluster
//   cluster            a NatsCluster as read, and the names of its parts
//   observe            reads the state: pods, parts, and the answers of the servers
//   state, nats-state  the state as types, and questions about it
//   decide             the one order in which planners are asked for the next step
//   decision           the steps there are
//   attempts           tells steps apart: one that changes nothing is held back
//   steps              applies one step; connect opens the system account of the servers
//   status             conditions and plan; write-status writes them
// planners, each for one kind of change:
//   safety             blockers: reasons why a server must not be taken away now
//   apply-parts        makes and updates Secrets, Services and the StatefulSet
//   version, growth    refuses a downgrade; lets claims grow
//   refused-passwords  servers that accept none of the known passwords
//   replace            a new volume for a server whose volume is lost
//   scale, roll        more or fewer servers; restarts one after the other; starting: new servers
//   accounts, reload   accounts with streams stay; configuration that needs no restart
// parts, and what their Secrets hold:
//   parts              reads them and compares them with how they are rendered
//   claims             how many servers they were made for, and the size that they can have
//   secrets            passwords and certificates: system-secret, user-secrets,
//                      secret-data, credentials
//   certificates       names they are for; lost-authority: copies of them in configurations
//   owner              the NatsCluster as theirs; missing-rights: rights that our account lacks
//   render/            the objects of a cluster as they should be
import { NATS_CLUSTER_LEASE } from '../../shared/api/nats-cluster.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { secondsAsMs } from '../../shared/function/parsers.ts';
import { CHANGES, SWEEP } from '../../shared/function/sources.ts';
import { SWEEP_CONFIG } from '../../shared/function/sweep-config.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { timeConflicts } from '../../shared/stateful/times.ts';

export const natsCluster = defineFunction({
  name: 'nats-cluster',
  purpose: 'Keeps NATS clusters right: config, scale, and updates that lose no stream.',
  wakesOn: [...CHANGES, SWEEP],
  config: {
    kubeconfigPath: KUBECONFIG,
    workMs: {
      env: 'WORK_SECONDS',
      meaning: 'how long one request goes on before it leaves the rest to the next',
      parse: secondsAsMs(0.05, 300),
      // Below the deadline of a request by more than an observation takes while servers are silent.
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
      // Loaded with the first cluster, so that it does not delay readiness.
      openSystem: async (...way) =>
        (await import('../../shared/nats/system.ts')).openSystem(...way),
      clock,
      workMs,
      lease: { namespace: leaseNamespace, name: NATS_CLUSTER_LEASE, sweepSeconds },
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
