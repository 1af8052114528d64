// The EtcdBackup of one run. It has no owner: deleting a schedule deletes nothing that knows of a
// stored backup. Pure.
import { ETCD_BACKUPS } from '../../../../shared/api/etcd-backup.ts';
import { apiVersionOf, type Manifest } from '../../../../shared/kube/objects.ts';
import { backupLabelsOf, backupNameOf, type Schedule, scheduledOf } from '../object.ts';

export const backupManifest = (schedule: Schedule, atMs: number): Manifest => ({
  apiVersion: apiVersionOf(ETCD_BACKUPS),
  kind: 'EtcdBackup',
  metadata: {
    namespace: schedule.namespace,
    name: backupNameOf(schedule, atMs),
    labels: backupLabelsOf(schedule),
  },
  spec: { ...schedule.spec.template, scheduled: scheduledOf(schedule, atMs) },
});
