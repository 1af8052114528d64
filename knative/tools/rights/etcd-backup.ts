// Rights that an administrator grants to `etcd-backup` in a namespace that has EtcdBackups, by
// themselves or of an EtcdBackupSchedule.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { granted, rule, type Rule } from './manifests.ts';

const ETCD_BACKUP = 'etcd-backup';

/** It reads no Secret: the kubelet gives them to the pod of a Job. */
const NAMESPACE_RULES: readonly Rule[] = [
  rule('batch', 'jobs', ['create', 'get']),
  rule('', 'pods', ['list']),
  // The runs of a schedule.
  rule('ballast.dev', 'etcdbackups', ['create', 'delete']),
  // How an EtcdCluster is reached.
  rule('ballast.dev', 'etcdclusters', ['get']),
  // Says on the EtcdBackup what was done, and what is told of a pod that waits.
  rule('', 'events', ['create', 'get', 'list']),
];

export const etcdBackupRights = (namespace: string): readonly Manifest[] =>
  granted(ETCD_BACKUP, { namespace, name: 'ballast-etcd-backup' }, NAMESPACE_RULES);
