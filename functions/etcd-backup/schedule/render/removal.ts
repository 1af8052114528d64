// The Job that removes what is stored of one backup: it belongs to the EtcdBackup, reaches the same
// place with the same Secrets, and is told by what it knows the backup. Pure.
import { ETCD_BACKUP_SCHEDULE_LABEL } from '../../../../shared/api/etcd-backup-schedule.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { destinationOf, type EtcdBackup, labelsOf } from '../../object.ts';
import { addressOf, option } from '../../render/arguments.ts';
import { programJob, targetVolumes } from '../../render/job.ts';
import type { GoodBackup } from '../object.ts';

/** Names have 63 characters at most, and a uid has 36. */
const NAME_LENGTH_MAX = 23;

/** The Job that took the backup is called otherwise, whatever the name. */
export const removalNameOf = ({ name, uid }: Pick<EtcdBackup, 'name' | 'uid'>): string =>
  `${name.slice(0, NAME_LENGTH_MAX)}-rm-${uid}`;

export function removalManifest(
  backup: EtcdBackup,
  { sha256, sizeBytes }: Pick<GoodBackup, 'sha256' | 'sizeBytes'>,
  image: string,
): Manifest {
  const { target, resources, scheduled } = backup.spec;
  const labels = {
    ...labelsOf(backup),
    [ETCD_BACKUP_SCHEDULE_LABEL]: scheduled?.schedule ?? '',
  };
  return programJob(backup, {
    name: removalNameOf(backup),
    labels,
    args: [
      option('remove', destinationOf(backup)),
      option('sha256', sha256),
      option('size', `${sizeBytes}`),
      ...(target.s3 === undefined ? [] : addressOf(target.s3)),
      option('result', '/dev/termination-log'),
    ],
    mounted: targetVolumes(target),
    resources,
    image,
  });
}
