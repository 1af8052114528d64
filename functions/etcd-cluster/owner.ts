// The EtcdCluster as the owner of its parts. Pure.
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { apiVersionOf } from '../../shared/kube/objects.ts';
import type { Owner } from '../../shared/stateful/parts.ts';
import { type Cluster, labelsOf } from './cluster.ts';

export const ownerOf = ({ name, namespace, uid }: Cluster): Owner => ({
  apiVersion: apiVersionOf(ETCD_CLUSTERS),
  kind: 'EtcdCluster',
  name,
  namespace,
  uid,
  labels: labelsOf({ name }),
});
