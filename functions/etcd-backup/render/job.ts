// The Job of a backup: one pod at a time that runs the program of this folder, with the Secrets
// that it needs and no token of the API server. The parts of a rehearsal follow in the same pod.
// Pure.
import type { BackupTls } from '../../../shared/api/etcd-backup.ts';
import { ASKED_WRONGLY } from '../../../shared/arguments.ts';
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
import { s3Account, s3Authority, s3Keys } from '../../../shared/jobs/s3.ts';
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
import { diskVolume } from './disk.ts';
import { PROGRAM } from './program.ts';
import { rehearsalOf } from './rehearsal.ts';
import { rehearsingOf } from './rehearsing.ts';

export const CONTAINER = 'backup';

/** `secret` is for attempts of this Job to know each other by, and nobody in the storage else. */
export function jobManifest(
  backup: EtcdBackup,
  source: Source,
  image: string,
  secret: string,
): Manifest {
  const mounted = mountedIn(backup, source);
  const args = argumentsOf(backup, source, secret);
  const taking = container(backup, image, args, mounted);
  const rehearsing = rehearsingOf(backup, source);
  const inVain = { container: CONTAINER, exitCodes: [ASKED_WRONGLY] };
  const account = s3Account(backup.spec.target.s3);
  const job = {
    owner: ownerOf(backup),
    name: jobNameOf(backup),
    deadlineSeconds: backup.spec.deadlineSeconds,
  };
  if (rehearsing === undefined) {
    const pod = { ...account, containers: [taking], volumes: volumesOf(mounted) };
    return jobManifestOf({ ...job, inVain: [inVain], pod });
  }
  const { parts, data, refused } = rehearsalOf({ backup, rehearsing, image, secret });
  return jobManifestOf({
    ...job,
    inVain: [inVain, ...refused],
    pod: {
      ...account,
      initContainers: [taking, ...parts.slice(0, -1)],
      containers: parts.slice(-1),
      volumes: volumesOf([...mounted, data]),
    },
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

/** Under the names that the arguments have. */
function tlsFiles({ secretName, keys }: BackupTls): object {
  if (keys === undefined) return { secretName };
  const items = [
    { key: keys.certificate, path: 'tls.crt' },
    { key: keys.key, path: 'tls.key' },
    { key: keys.authority, path: 'ca.crt' },
  ];
  return { secretName, items };
}

function mountedIn({ spec }: EtcdBackup, { tls, login }: Source): readonly Mounted[] {
  const { target, spool, encryption } = spec;
  const { s3, claim } = target;
  const { passwordSecret } = login ?? {};
  return [
    ...(tls === undefined ? [] : [mountedForReading('tls', TLS_DIR, { secret: tlsFiles(tls) })]),
    ...(passwordSecret === undefined
      ? []
      : [mountedForReading('login', LOGIN_DIR, { secret: fileOf(passwordSecret, PASSWORD_FILE) })]),
    ...(s3 === undefined ? [] : s3Authority(s3)),
    ...keyMounted(encryption),
    ...(isSpooled(spec)
      ? [{ name: 'spool', mountPath: SPOOL_DIR, isWritten: true, volume: diskVolume(spool) }]
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
