// The Job of a restore: our program brings the backup to the volume of the first member and checks
// it, etcdutl of the etcd that is to run on it restores it there, and our program reads what came
// of that. Pure.
import type { EtcdClusterSpec } from '../../../shared/api/etcd-cluster.ts';
import { ASKED_WRONGLY } from '../../../shared/arguments.ts';
import { keyMounted } from '../../../shared/jobs/encryption.ts';
import { CHECK, CONFIRM, etcdutlContainer, REFUSED } from '../../../shared/jobs/etcdutl.ts';
import { jobNameOf } from '../../../shared/jobs/job-name.ts';
import {
  jobManifestOf,
  type Mounted,
  mountedForReading,
  programContainer,
  volumesOf,
} from '../../../shared/jobs/manifest.ts';
import { s3Account, s3Authority, s3Keys } from '../../../shared/jobs/s3.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { clusterNameOf, type EtcdRestore, ownerOf, seedClaimOf } from '../object.ts';
import type { Backup } from '../state.ts';
import { checkArguments, confirmArguments, etcdutlArguments } from './arguments.ts';
import { claimSpec } from './claim.ts';
import { roomFor } from './room.ts';
import { DATA_MOUNT, PASSWORD_FILE, ROOT_MOUNT, SOURCE_MOUNT } from './volume-paths.ts';

/** Where the image has it. */
const PROGRAM = '/app/etcd-restore.mjs';

export interface JobOf {
  readonly restore: EtcdRestore;
  readonly backup: Backup;
  readonly target: EtcdClusterSpec;
  /** That of this function. */
  readonly image: string;
}

export function jobManifest(of: JobOf): Manifest {
  const { restore, backup } = of;
  const data = dataOf(of);
  const read = readBy(of);
  return jobManifestOf({
    owner: ownerOf(restore),
    name: jobNameOf(restore),
    deadlineSeconds: restore.spec.deadlineSeconds,
    inVain: [{ container: CHECK, exitCodes: [ASKED_WRONGLY, REFUSED] }],
    pod: {
      ...s3Account(backup.s3),
      initContainers: [
        program(of, {
          name: CHECK,
          args: checkArguments(restore, backup, of.target),
          env: backup.s3 === undefined ? [] : s3Keys(backup.s3),
          mounted: [data, ...read],
        }),
        etcdutl(of, data),
      ],
      containers: [program(of, { name: CONFIRM, args: confirmArguments(), mounted: [data] })],
      volumes: volumesOf([data, ...read]),
    },
  });
}

interface Part {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly unknown[];
  readonly mounted: readonly Mounted[];
}

const program = ({ restore, image }: JobOf, part: Part) =>
  programContainer({ ...part, image, program: PROGRAM, resources: restore.spec.resources });

const etcdutl = ({ restore, target }: JobOf, data: Mounted) =>
  etcdutlContainer({
    image: target.image,
    args: etcdutlArguments(restore, target),
    data,
    // Where a volume stays on the node of its first pod, a member has to have room there.
    resources: roomFor(restore.spec.resources, target.resources),
  });

/** A dry run has a volume that goes with its pod. */
function dataOf({ restore, target }: JobOf): Mounted {
  const volume = restore.spec.dryRun
    ? { ephemeral: { volumeClaimTemplate: { spec: claimSpec(target) } } }
    : { persistentVolumeClaim: { claimName: seedClaimOf(restore) } };
  return { name: 'data', mountPath: DATA_MOUNT, isWritten: true, volume };
}

function readBy({ restore, backup, target }: JobOf): readonly Mounted[] {
  const { s3, claimName, encryption } = backup;
  return [
    ...(s3 === undefined ? [] : s3Authority(s3)),
    ...keyMounted(encryption),
    ...(claimName === undefined
      ? []
      : [
          mountedForReading('source', SOURCE_MOUNT, {
            persistentVolumeClaim: { claimName },
          }),
        ]),
    ...(target.auth === undefined ? [] : [rootPassword(clusterNameOf(restore))]),
  ];
}

/** It may lack, unless the backup asks for logins. */
function rootPassword(cluster: string): Mounted {
  const items = [{ key: PASSWORD_FILE, path: PASSWORD_FILE }];
  const secret = { secretName: `${cluster}-root`, items, optional: true };
  return mountedForReading('root', ROOT_MOUNT, { secret });
}
