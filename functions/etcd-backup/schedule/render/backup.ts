// The EtcdBackup of one run. It has no owner: deleting a schedule deletes nothing that knows of a
// stored backup. Pure.
import { ETCD_BACKUPS, type RehearsalSpec } from '../../../../shared/api/etcd-backup.ts';
import { apiVersionOf, type Manifest } from '../../../../shared/kube/objects.ts';
import { backupLabelsOf, backupNameOf, type Schedule, scheduledOf } from '../object.ts';

export const backupManifest = (
  schedule: Schedule,
  atMs: number,
  isToRehearse: boolean,
): Manifest => ({
  apiVersion: apiVersionOf(ETCD_BACKUPS),
  kind: 'EtcdBackup',
  metadata: {
    namespace: schedule.namespace,
    name: backupNameOf(schedule, atMs),
    labels: backupLabelsOf(schedule),
  },
  spec: {
    ...schedule.spec.template,
    ...(isToRehearse ? { rehearsal: rehearsalOf(schedule) } : {}),
    scheduled: scheduledOf(schedule, atMs),
  },
});

function rehearsalOf({ spec }: Schedule): RehearsalSpec {
  const { every: _, ...how } = spec.rehearsal ?? { every: 1 };
  return how;
}
