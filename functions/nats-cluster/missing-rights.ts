// Refusals of the API server that a NatsCluster tells of: rights that the function lacks, and a
// NetworkPolicy that it must not make. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import {
  type LookedAfter,
  policyRefusalOf,
  rightsMissing,
} from '../../shared/stateful/missing-rights.ts';
import type { Cluster } from './cluster.ts';

type Named = Pick<Cluster, 'namespace' | 'name'>;

const lookedAfter = ({ namespace, name }: Named): LookedAfter => ({
  kind: 'NatsCluster',
  namespace,
  name,
  functionName: 'nats-cluster',
});

export const missingFor = (cluster: Named, error: unknown): Reason | undefined =>
  rightsMissing(lookedAfter(cluster), error);

export function refusedPolicy(cluster: Named, error: unknown): Reason | undefined {
  const exposed = 'the routes and monitoring pages';
  return policyRefusalOf({ ...lookedAfter(cluster), exposed }, error);
}
