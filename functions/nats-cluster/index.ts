// Looks after NATS clusters: makes them from three lines, and brings every edit of the spec to the
// servers one at a time, never before all streams are whole without the one that goes. Wakes on
// changes of NatsClusters and of what they are made of, and on the sweep's tick. Its memory is the
// status: two instances at once, lost events and a killed process cost time, never a stream.
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
import { timeConflicts } from './times.ts';

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
      // Below the deadline of a request by more than a look takes while servers are silent.
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
      // Being ready must not wait for what nobody asked for yet.
      openSystem: async (...way) =>
        (await import('../../shared/nats/system.ts')).openSystem(...way),
      clock,
      workMs,
      lease: { namespace: leaseNamespace, name: NATS_CLUSTER_LEASE, sweepSeconds },
    }),
  readApiServer: readJson,
  close: (deps) => deps.close(),
  handle: async (event, context) => {
    const { sweepAll, takeChange } = await import('./work.ts');
    if (event.type === SWEEP) await sweepAll(context);
    else await takeChange(event, context);
    return undefined;
  },
});
