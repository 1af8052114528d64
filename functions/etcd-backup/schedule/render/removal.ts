// The Job that removes what is stored of one backup: it belongs to the EtcdBackup, reaches the same
// place with the same Secrets, and is told by what it knows the backup. Pure.
import { ETCD_BACKUP_SCHEDULE_LABEL } from '../../../../shared/api/etcd-backup-schedule.ts';
import type { BackupTarget } from '../../../../shared/api/etcd-backup.ts';
import { ASKED_WRONGLY } from '../../../../shared/arguments.ts';
import {
  jobManifestOf,
  type Mounted,
  option,
  RESULT,
  programContainer,
  volumesOf,
} from '../../../../shared/jobs/manifest.ts';
import { s3Account, s3Authority, s3Keys, s3Options } from '../../../../shared/jobs/s3.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { CLAIM_DIR, destinationOf, type EtcdBackup, ownerOf } from '../../object.ts';
import { PROGRAM } from '../../render/program.ts';
import type { GoodBackup } from '../object.ts';

const CONTAINER = 'backup';

/** Names have 63 characters at most, and a uid has 36. */
const NAME_LENGTH_MAX = 23;

/** The Job that took the backup ends with the uid, whatever the name of the backup ends with. */
export const removalNameOf = ({ name, uid }: Pick<EtcdBackup, 'name' | 'uid'>): string =>
  `${name.slice(0, NAME_LENGTH_MAX)}-${uid}-rm`;

export function removalManifest(
  backup: EtcdBackup,
  { sha256, sizeBytes }: Pick<GoodBackup, 'sha256' | 'sizeBytes'>,
  image: string,
): Manifest {
  const { target, resources, deadlineSeconds, scheduled } = backup.spec;
  const owner = ownerOf(backup);
  const mounted = mountedIn(target);
  const container = programContainer({
    name: CONTAINER,
    image,
    program: PROGRAM,
    args: [
      option('remove', destinationOf(backup)),
      option('sha256', sha256),
      option('size', `${sizeBytes}`),
      ...(target.s3 === undefined ? [] : s3Options(target.s3)),
      RESULT,
    ],
    env: target.s3 === undefined ? [] : s3Keys(target.s3),
    mounted,
    resources,
  });
  const labels = { ...owner.labels, [ETCD_BACKUP_SCHEDULE_LABEL]: scheduled?.schedule ?? '' };
  return jobManifestOf({
    owner: { ...owner, labels },
    name: removalNameOf(backup),
    deadlineSeconds,
    inVain: [{ container: CONTAINER, exitCodes: [ASKED_WRONGLY] }],
    pod: { ...s3Account(target.s3), containers: [container], volumes: volumesOf(mounted) },
  });
}

function mountedIn({ s3, claim }: BackupTarget): readonly Mounted[] {
  if (claim === undefined) return s3 === undefined ? [] : s3Authority(s3);
  const volume = { persistentVolumeClaim: { claimName: claim.name } };
  return [{ name: 'target', mountPath: CLAIM_DIR, isWritten: true, volume }];
}
