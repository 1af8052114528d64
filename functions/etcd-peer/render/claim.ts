// The claim of a peer. It belongs to nobody, so that data outlives the EtcdPeer and the
// EtcdCluster, and to no template, so that a lost volume is never followed by an empty one. Pure.
import { claimName } from '../../../shared/api/etcd-names.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { accessModeOf } from '../../../shared/stateful/claim-template.ts';
import { labelsOf, type Peer } from '../peer.ts';

export function claimManifest(peer: Peer): Manifest {
  const { size, storageClassName, accessMode } = peer.spec.storage;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(peer.name),
      namespace: peer.namespace,
      labels: labelsOf(peer),
    },
    spec: {
      accessModes: [accessModeOf(accessMode, undefined, [])],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}
