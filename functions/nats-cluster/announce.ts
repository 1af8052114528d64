// Creates an Event about a step on the NatsCluster: `kubectl describe natscluster` shows it.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { hashOf } from '../../shared/hash.ts';
import { announce, type Announcement } from '../../shared/kube/announce.ts';
import type { Cluster } from './cluster.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export async function announceOn(
  { namespace, name, uid, object }: Cluster,
  announcement: Announcement,
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const { reason, message } = announcement;
  const { resourceVersion } = object.metadata;
  const announced = {
    apiVersion: `${NATS_CLUSTERS.group}/${NATS_CLUSTERS.version}`,
    kind: 'NatsCluster',
    namespace,
    name,
    uid,
    key: hashOf({ resourceVersion, reason, message }),
  };
  const announcer = { kube, component: FIELD_MANAGER, nowMs: clock.nowMs() };
  await announce(announcer, announced, announcement, signal);
}
