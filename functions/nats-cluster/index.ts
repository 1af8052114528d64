// Keeps NATS clusters: makes them from three lines, and brings every edit of the spec to the
// servers one at a time, never before all streams are whole without the one that goes. Changes of
// NatsClusters and of their parts wake it, and the sweep's tick. Its memory is the status of the
// NatsCluster: two instances at once, lost events and a killed process cost time, never a stream.
//
// The files, in the order of a reconcile; `shared/stateful` has what is no matter of NATS:
//   reconciler         the entry: binds what follows to the shared reconciler
//   cluster            a NatsCluster as read, and the names of its parts
//   observe            reads the state: pods, parts, and the answers of the servers
//   state, nats-state  the state as types, and questions about it
//   decide             the one order in which planners are asked for the next step
//   decision           the steps there are
//   attempts           tells steps apart: one that changes nothing is held back
//   steps              applies one step; connect opens the system account of the servers
//   told-of-secrets    has an event tell that a Secret is gone
//   status             conditions and plan, and when Degraded turns True; gauges: metrics of it, by
//                      shown
// planners, each for one kind of change:
//   safety             blockers: reasons why a server must not be taken away now
//   apply-parts        makes and updates Secrets, Services and the StatefulSet
//   version, growth    refuses a downgrade; lets claims grow
//   refused-passwords  servers that accept none of the known passwords
//   replace-volume     a new volume for a server whose volume is lost
//   scale              more or fewer servers
//   leave              the end of one that was taken away: its peer, then its claim
//   roll               restarts one after the other; starting: new servers
//   accounts, reload   accounts with streams stay; configuration that needs no restart
// parts, and what their Secrets hold:
//   parts              reads them and compares them with how they are rendered
//   claims             how many servers they were made for, and the size that they can have
//   secrets            passwords and certificates: system-secret, user-secrets,
//                      secret-data, credentials
//   certificates       names they are for; lost-authority: copies of them in configurations
//   owner              the NatsCluster as theirs
//   render/            the objects of a cluster as they should be
import { NATS_CLUSTER_LEASE, NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const natsCluster = defineStateful({
  name: 'nats-cluster',
  purpose: 'Keeps NATS clusters right: config, scale, and updates that lose no stream.',
  fieldManager: FIELD_MANAGER,
  lease: NATS_CLUSTER_LEASE,
  owner: { ...NATS_CLUSTERS, kind: 'NatsCluster' },
  hasLastingParts: true,
  open: (options, _, metrics) =>
    new Deps({
      ...options,
      metrics,
      // Loaded with the first cluster, so that it does not delay readiness.
      openSystem: async (...way) =>
        (await import('../../shared/nats/system.ts')).openSystem(...way),
    }),
  load: () => import('./reconciler.ts'),
});
