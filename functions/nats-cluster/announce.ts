// Tells on the NatsCluster itself what was done: `kubectl describe natscluster` shows it.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import type { Cluster } from './cluster.ts';
import type { Doors } from './doors.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { hashOf } from './render/hash.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;

export interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export async function announce(
  { kube, clock }: Pick<Doors, 'kube' | 'clock'>,
  { namespace, name, uid, object }: Cluster,
  { type, reason, message }: Announcement,
  signal: AbortSignal,
): Promise<void> {
  const at = new Date(clock.nowMs()).toISOString();
  const { resourceVersion } = object.metadata;
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    // One for each deed in each state of the cluster: a second try finds the first.
    metadata: { name: `${name}.${hashOf({ resourceVersion, reason, message })}`, namespace },
    involvedObject: {
      apiVersion: `${NATS_CLUSTERS.group}/${NATS_CLUSTERS.version}`,
      kind: 'NatsCluster',
      namespace,
      name,
      uid,
    },
    type,
    reason,
    message,
    source: { component: FIELD_MANAGER },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
  await kube.create(EVENTS, event, { signal });
}
