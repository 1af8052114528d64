// The claim of the first member, while it is filled: it goes with the EtcdRestore, and neither
// etcd-cluster nor etcd-peer knows it for that of a member. Pure.
import type { EtcdClusterSpec } from '../../../shared/api/etcd-cluster.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { accessModeOf } from '../../../shared/stateful/claim-template.ts';
import { owned } from '../../../shared/stateful/parts.ts';
import { type EtcdRestore, ownerOf, seedClaimOf } from '../object.ts';

export const claimManifest = (restore: EtcdRestore, target: EtcdClusterSpec): Manifest =>
  owned(ownerOf(restore), 'v1', 'PersistentVolumeClaim', seedClaimOf(restore), {
    spec: claimSpec(target),
  });

/** As etcd-peer makes it. */
export function claimSpec({ storage }: Pick<EtcdClusterSpec, 'storage'>) {
  const { size, storageClassName, accessMode } = storage;
  return {
    accessModes: [accessModeOf(accessMode, undefined, [])],
    resources: { requests: { storage: size } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
}
