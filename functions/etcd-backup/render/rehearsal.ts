// The parts of a Job that rehearse a backup, behind the one that took it: our program brings it
// back from its target, etcdutl restores it, and our program reads what came of that. None of them
// is told how the etcd is reached that the backup is of. Pure.
import type { BackupTarget } from '../../../shared/api/etcd-backup.ts';
import { ASKED_WRONGLY } from '../../../shared/arguments.ts';
import { keyMounted } from '../../../shared/jobs/encryption.ts';
import { CHECK, CONFIRM, etcdutlContainer, REFUSED } from '../../../shared/jobs/etcdutl.ts';
import {
  type Mounted,
  mountedForReading,
  programContainer,
} from '../../../shared/jobs/manifest.ts';
import { s3Authority, s3Keys } from '../../../shared/jobs/s3.ts';
import { CLAIM_DIR, type EtcdBackup } from '../object.ts';
import { checkArguments, confirmArguments, etcdutlArguments, REHEARSAL_DIR } from './arguments.ts';
import { diskVolume } from './disk.ts';
import { PROGRAM } from './program.ts';
import type { Rehearsing } from './rehearsing.ts';

export interface RehearsalOf {
  readonly backup: EtcdBackup;
  readonly rehearsing: Rehearsing;
  readonly image: string;
  /** By it the facts beside the backup are known. */
  readonly secret: string;
}

/** The parts in their order, and the volume that is theirs alone. */
export function rehearsalOf({ backup, rehearsing, image, secret }: RehearsalOf) {
  const { resources, target, encryption, rehearsal: { disk } = {} } = backup.spec;
  const { s3 } = target;
  const size = disk?.medium === 'Node' ? { 'ephemeral-storage': disk.size } : {};
  const data = dataOf(rehearsing);
  const of = { image, program: PROGRAM, resources };
  const check = {
    name: CHECK,
    args: checkArguments(backup, rehearsing, secret),
    env: s3 === undefined ? [] : s3Keys(s3),
    mounted: [data, ...readIn(target), ...keyMounted(encryption)],
    resources: { ...resources, requests: { ...resources.requests, ...size } },
  };
  const confirm = { name: CONFIRM, args: confirmArguments(backup), mounted: [data] };
  return {
    parts: [
      programContainer({ ...of, ...check }),
      etcdutlContainer({ image: rehearsing.image, args: etcdutlArguments(), data, resources }),
      programContainer({ ...of, ...confirm }),
    ],
    data,
    refused: [CHECK, CONFIRM].map((container) => ({
      container,
      exitCodes: [ASKED_WRONGLY, REFUSED],
    })),
  };
}

const dataOf = ({ disk }: Rehearsing): Mounted => ({
  name: 'rehearsal',
  mountPath: REHEARSAL_DIR,
  isWritten: true,
  volume: diskVolume(disk),
});

/** Nothing is changed there. */
function readIn({ s3, claim }: BackupTarget): readonly Mounted[] {
  if (claim === undefined) return s3 === undefined ? [] : s3Authority(s3);
  const volume = { persistentVolumeClaim: { claimName: claim.name } };
  return [mountedForReading('target', CLAIM_DIR, volume)];
}
