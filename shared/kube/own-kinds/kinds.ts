// Every kind that is converted, and what its versions say differently.
import { ETCD_BACKUP } from './kinds/etcd-backup.ts';
import { ETCD_BACKUP_SCHEDULE } from './kinds/etcd-backup-schedule.ts';
import { ETCD_CLUSTER } from './kinds/etcd-cluster.ts';
import { ETCD_PEER } from './kinds/etcd-peer.ts';
import { ETCD_RESTORE } from './kinds/etcd-restore.ts';
import { METADATA_FEED } from './kinds/metadata-feed.ts';
import { STORAGE_MIGRATION } from './kinds/storage-migration.ts';
import { TAKEOVER } from './kinds/takeover.ts';
import type { Part } from './part.ts';

export const KINDS: ReadonlyMap<string, readonly Part[]> = new Map([
  ['EtcdBackup', ETCD_BACKUP],
  ['EtcdBackupSchedule', ETCD_BACKUP_SCHEDULE],
  ['EtcdCluster', ETCD_CLUSTER],
  ['EtcdPeer', ETCD_PEER],
  ['EtcdRestore', ETCD_RESTORE],
  ['MetadataFeed', METADATA_FEED],
  // Nothing differs.
  ['NatsCluster', []],
  ['StorageMigration', STORAGE_MIGRATION],
  ['Takeover', TAKEOVER],
]);

/** As paths and definitions have it. */
export const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`;
