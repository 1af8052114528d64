// The Job of a backup: one pod at a time that runs the program of this folder, with the Secrets
// that it needs and no token of the API server. Pure.
import type { BackupSpool } from '../../../shared/api/etcd-backup.ts';
import { keyMounted } from '../../../shared/jobs/encryption.ts';
import { jobNameOf } from '../../../shared/jobs/job-name.ts';
import {
  fileOf,
  jobManifestOf,
  type Mounted,
  mountedForReading,
  programContainer,
  volumesOf,
} from '../../../shared/jobs/manifest.ts';
import { s3Authority, s3Keys } from '../../../shared/jobs/s3.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { CLAIM_DIR, type EtcdBackup, ownerOf } from '../object.ts';
import type { Source } from '../state.ts';
import {
  argumentsOf,
  isSpooled,
  LOGIN_DIR,
  PASSWORD_FILE,
  SPOOL_DIR,
  TLS_DIR,
} from './arguments.ts';

const CONTAINER = 'backup';
/** Where the image has it. */
const PROGRAM = '/app/etcd-backup.mjs';
const ASKED_WRONGLY = 2;

/** `secret` is for attempts of this Job to know each other by, and nobody in the storage else. */
export function jobManifest(
  backup: EtcdBackup,
  source: Source,
  image: string,
  secret: string,
): Manifest {
  const mounted = mountedIn(backup, source);
  const args = argumentsOf(backup, source, secret);
  return jobManifestOf({
    owner: ownerOf(backup),
    name: jobNameOf(backup),
    deadlineSeconds: backup.spec.deadlineSeconds,
    inVain: { container: CONTAINER, exitCodes: [ASKED_WRONGLY] },
    pod: { containers: [container(backup, image, args, mounted)], volumes: volumesOf(mounted) },
  });
}

function container(
  backup: EtcdBackup,
  image: string,
  args: readonly string[],
  mounted: readonly Mounted[],
) {
  const { resources, target, spool } = backup.spec;
  const size = spool?.medium === 'Node' ? { 'ephemeral-storage': spool.size } : {};
  return programContainer({
    name: CONTAINER,
    image,
    program: PROGRAM,
    args,
    env: target.s3 === undefined ? [] : s3Keys(target.s3),
    mounted,
    resources: { ...resources, requests: { ...resources.requests, ...size } },
  });
}

function mountedIn({ spec }: EtcdBackup, { tlsSecret, login }: Source): readonly Mounted[] {
  const { target, spool, encryption } = spec;
  const { s3, claim } = target;
  const { passwordSecret } = login ?? {};
  return [
    ...(tlsSecret === undefined
      ? []
      : [mountedForReading('tls', TLS_DIR, { secret: { secretName: tlsSecret } })]),
    ...(passwordSecret === undefined
      ? []
      : [mountedForReading('login', LOGIN_DIR, { secret: fileOf(passwordSecret, PASSWORD_FILE) })]),
    ...(s3 === undefined ? [] : s3Authority(s3)),
    ...keyMounted(encryption),
    ...(isSpooled(spec)
      ? [{ name: 'spool', mountPath: SPOOL_DIR, isWritten: true, volume: spoolVolume(spool) }]
      : []),
    ...(claim === undefined
      ? []
      : [
          {
            name: 'target',
            mountPath: CLAIM_DIR,
            isWritten: true,
            volume: { persistentVolumeClaim: { claimName: claim.name } },
          },
        ]),
  ];
}

function spoolVolume(spool: BackupSpool | undefined): object {
  if (spool?.medium !== 'Volume') {
    return { emptyDir: spool === undefined ? {} : { sizeLimit: spool.size } };
  }
  const { size, storageClassName } = spool;
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: size } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
  return { ephemeral: { volumeClaimTemplate: { spec } } };
}
