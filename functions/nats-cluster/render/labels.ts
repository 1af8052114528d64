// Labels of a cluster's parts, and the selector that finds them again. Pure.
import { NATS_CLUSTER_LABEL } from '../../../shared/api/nats-cluster.ts';
import type { Cluster } from '../cluster.ts';

export function labelsOf({ name }: Pick<Cluster, 'name'>): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'nats',
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/managed-by': 'ballast',
    [NATS_CLUSTER_LABEL]: name,
  };
}

export const selectorOf = ({ name }: Pick<Cluster, 'name'>): Readonly<Record<string, string>> => ({
  [NATS_CLUSTER_LABEL]: name,
});
