// EtcdRestore: what is restored and what it becomes are said as in EtcdBackup and EtcdCluster.
import type { Part } from '../part.ts';
import { encryption } from '../parts/encryption.ts';
import { workTimes } from './etcd-backup.ts';
import { etcdClusterSpec } from './etcd-cluster.ts';

export const ETCD_RESTORE: readonly Part[] = [
  encryption(['spec', 'source', 'encryption']),
  ...etcdClusterSpec(['spec', 'etcdCluster', 'spec']),
  ...workTimes,
];
