// The claim of a peer. It belongs to nobody, so that data outlives the EtcdPeer and the
// EtcdCluster, and to no template, so that a lost volume is never followed by an empty one. It has
// no label app.kubernetes.io/instance: tools that deploy take what has the name of their release
// there, and no owner, for a thing of theirs that is wanted no more, and delete it. Pure.
import { claimName } from '../../../shared/api/etcd-names.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { accessModeOf } from '../../../shared/stateful/claim-template.ts';
import { type Peer, selectorOf } from '../peer.ts';

export function claimManifest(peer: Peer): Manifest {
  const { size, storageClassName, accessMode } = peer.spec.storage;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(peer.name),
      namespace: peer.namespace,
      labels: {
        'app.kubernetes.io/name': 'etcd',
        'app.kubernetes.io/managed-by': 'ballast',
        ...selectorOf(peer),
      },
    },
    spec: {
      accessModes: [accessModeOf(accessMode, undefined, [])],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}
