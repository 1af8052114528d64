// The EtcdCluster of a restore. It belongs to nobody, and says with whose data it is born, so that
// it never comes up empty. Pure.
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import { ETCD_RESTORE_LABEL } from '../../../shared/api/etcd-restore.ts';
import { apiVersionOf, type Manifest } from '../../../shared/kube/objects.ts';
import { clusterNameOf, type EtcdRestore } from '../object.ts';

/** With the image that restored its data, also when the default is another one by now. */
export function clusterManifest(restore: EtcdRestore, clusterId: string): Manifest {
  const { namespace, name, spec, status } = restore;
  const image = status.image === undefined ? {} : { image: status.image };
  return {
    apiVersion: apiVersionOf(ETCD_CLUSTERS),
    kind: 'EtcdCluster',
    metadata: {
      namespace,
      name: clusterNameOf(restore),
      labels: { [ETCD_RESTORE_LABEL]: name },
      annotations: { [CLUSTER_ID_ANNOTATION]: clusterId },
    },
    spec: { ...spec.etcdCluster.spec, ...image },
  };
}
