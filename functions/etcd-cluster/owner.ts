// The EtcdCluster as the owner of its parts. Pure.
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import type { Owner } from '../../shared/stateful/parts.ts';
import { type Cluster, labelsOf } from './cluster.ts';

export const ownerOf = ({ name, namespace, uid }: Cluster): Owner => ({
  apiVersion: `${ETCD_CLUSTERS.group}/${ETCD_CLUSTERS.version}`,
  kind: 'EtcdCluster',
  name,
  namespace,
  uid,
  labels: labelsOf({ name }),
});
