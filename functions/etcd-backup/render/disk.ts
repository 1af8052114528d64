// The volume of a pod for what is large and goes with it. Pure.
import type { BackupSpool } from '../../../shared/api/etcd-backup.ts';

/** It is the disk of the node, unbounded, when nothing is said. */
export function diskVolume(disk: BackupSpool | undefined): object {
  if (disk?.medium !== 'Volume') {
    return { emptyDir: disk === undefined ? {} : { sizeLimit: disk.size } };
  }
  const { size, storageClassName } = disk;
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: size } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
  return { ephemeral: { volumeClaimTemplate: { spec } } };
}
