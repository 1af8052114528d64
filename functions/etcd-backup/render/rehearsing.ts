// How a backup is rehearsed: by which etcdutl, and on how much of which disk. Pure.
import type { BackupSpool } from '../../../shared/api/etcd-backup.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import type { EtcdBackup } from '../object.ts';
import type { Source } from '../state.ts';

export interface Rehearsing {
  readonly image: string;
  /** Undefined for the disk of the node without a bound. */
  readonly disk: BackupSpool | undefined;
  /** The most that may be taken there, where the disk does not show it. */
  readonly roomBytes: number | undefined;
}

/** The first files of etcd's log are made as large as this at once, and more. */
const BESIDE_BYTES = 256 * 1024 * 1024;

/** Undefined for a backup that is not to be rehearsed. */
export function rehearsingOf({ spec }: EtcdBackup, { etcd }: Source): Rehearsing | undefined {
  if (spec.rehearsal === undefined) return undefined;
  const { image = etcd?.image ?? '', disk = etcd && nodeDisk(etcd.quota) } = spec.rehearsal;
  const roomBytes = disk?.medium === 'Node' ? Math.floor(quantityOf(disk.size)) : undefined;
  return { image, disk, roomBytes };
}

/** For the backup and what is restored from it. */
const nodeDisk = (quota: string): BackupSpool => ({
  medium: 'Node',
  size: `${2 * Math.ceil(quantityOf(quota)) + BESIDE_BYTES}`,
});
