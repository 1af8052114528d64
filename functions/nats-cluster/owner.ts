// A NatsCluster as the owner of its parts. Pure.
import { NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { apiVersionOf } from '../../shared/kube/objects.ts';
import type { Owner } from '../../shared/stateful/parts.ts';
import type { Cluster } from './cluster.ts';
import { labelsOf } from './render/labels.ts';

export const ownerOf = ({
  name,
  namespace,
  uid,
}: Pick<Cluster, 'name' | 'namespace' | 'uid'>): Owner => ({
  apiVersion: apiVersionOf(NATS_CLUSTERS),
  kind: 'NatsCluster',
  name,
  namespace,
  uid,
  labels: labelsOf({ name }),
});
