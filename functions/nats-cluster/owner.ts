// A NatsCluster as the owner of its parts. Pure.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import type { Owner } from '../../shared/stateful/parts.ts';
import type { Cluster } from './cluster.ts';
import { labelsOf } from './render/labels.ts';

export const ownerOf = ({
  name,
  namespace,
  uid,
}: Pick<Cluster, 'name' | 'namespace' | 'uid'>): Owner => ({
  apiVersion: `${NATS_CLUSTERS.group}/${NATS_CLUSTERS.version}`,
  kind: 'NatsCluster',
  name,
  namespace,
  uid,
  labels: labelsOf({ name }),
});
