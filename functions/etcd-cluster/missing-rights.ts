// Refusals of the API server that an EtcdCluster tells of: rights that the function lacks, and a
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
  kind: 'EtcdCluster',
  namespace,
  name,
  functionName: 'etcd-cluster',
});

export const missingFor = (cluster: Named, error: unknown): Reason | undefined =>
  rightsMissing(lookedAfter(cluster), error);

export function refusedPolicy(cluster: Named, error: unknown): Reason | undefined {
  const exposed = 'the ports for members and for metrics';
  return policyRefusalOf({ ...lookedAfter(cluster), exposed }, error);
}
