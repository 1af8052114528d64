// The Job of a backup: one pod at a time that runs the program of this folder, with the Secrets
// that it needs and no token of the API server. Pure.
import type { BackupSpool, BackupTarget, S3Object } from '../../../shared/api/etcd-backup.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { owned } from '../../../shared/stateful/parts.ts';
import { CONTAINER_BOUNDS, POD_BOUNDS } from '../../../shared/stateful/pod-spec.ts';
import { CLAIM_DIR, type EtcdBackup, jobNameOf, labelsOf, ownerOf } from '../object.ts';
import type { Source } from '../state.ts';
import {
  argumentsOf,
  AUTHORITY_DIR,
  AUTHORITY_FILE,
  LOGIN_DIR,
  PASSWORD_FILE,
  SPOOL_DIR,
  TLS_DIR,
} from './arguments.ts';

const CONTAINER = 'backup';
/** Where the image has them. */
const COMMAND = ['/usr/bin/node', '/app/etcd-backup.mjs'] as const;

/** The program repeats what may pass by itself; this is for what takes longer. */
const RETRIES = 3;
const ASKED_WRONGLY = 2;
/** Time to read its log, and for this function to be away. */
const KEPT_SECONDS = 86_400;

export function jobManifest(backup: EtcdBackup, source: Source, image: string): Manifest {
  const { resources, spool } = backup.spec;
  const size = spool?.medium === 'Node' ? { 'ephemeral-storage': spool.size } : {};
  return programJob(backup, {
    name: jobNameOf(backup),
    labels: labelsOf(backup),
    args: argumentsOf(backup, source),
    mounted: volumesOf(backup, source),
    resources: { ...resources, requests: { ...resources.requests, ...size } },
    image,
  });
}

interface Program {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly mounted: readonly Mounted[];
  readonly resources: object;
  readonly image: string;
}

/** A Job that belongs to the backup, and runs the program of this folder. */
export function programJob(backup: EtcdBackup, program: Program): Manifest {
  const { name, labels } = program;
  const spec = {
    backoffLimit: RETRIES,
    activeDeadlineSeconds: backup.spec.deadlineSeconds,
    ttlSecondsAfterFinished: KEPT_SECONDS,
    // The pod before has ended before another one writes to the same place.
    podReplacementPolicy: 'Failed',
    podFailurePolicy: {
      rules: [
        {
          action: 'FailJob',
          onExitCodes: { containerName: CONTAINER, operator: 'In', values: [ASKED_WRONGLY] },
        },
        // Its node went, or it was evicted: no failure of the backup.
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ],
    },
    template: { metadata: { labels }, spec: podSpec(backup, program) },
  };
  return owned({ ...ownerOf(backup), labels }, 'batch/v1', 'Job', name, { spec });
}

export interface Mounted {
  readonly name: string;
  readonly mountPath: string;
  readonly isWritten: boolean;
  readonly volume: object;
}

function podSpec({ spec }: EtcdBackup, { args, mounted, resources, image }: Program) {
  const { target } = spec;
  return {
    ...POD_BOUNDS,
    restartPolicy: 'Never',
    containers: [
      {
        name: CONTAINER,
        image,
        command: COMMAND,
        args,
        env: target.s3 === undefined ? [] : keysOf(target.s3),
        volumeMounts: mounted.map(({ name, mountPath, isWritten }) => ({
          name,
          mountPath,
          readOnly: !isWritten,
        })),
        resources,
        ...CONTAINER_BOUNDS,
      },
    ],
    volumes: mounted.map(({ name, volume }) => ({ name, ...volume })),
  };
}

function volumesOf({ spec }: EtcdBackup, { tlsSecret, login }: Source): readonly Mounted[] {
  const { target, spool } = spec;
  const { s3 } = target;
  const read = (name: string, mountPath: string, volume: object): Mounted => ({
    name,
    mountPath,
    isWritten: false,
    volume,
  });
  const { passwordSecret } = login ?? {};
  return [
    ...(tlsSecret === undefined
      ? []
      : [read('tls', TLS_DIR, { secret: { secretName: tlsSecret } })]),
    ...(passwordSecret === undefined
      ? []
      : [read('login', LOGIN_DIR, { secret: fileOf(passwordSecret, PASSWORD_FILE) })]),
    ...targetVolumes(target),
    ...(s3 === undefined
      ? []
      : [{ name: 'spool', mountPath: SPOOL_DIR, isWritten: true, volume: spoolVolume(spool) }]),
  ];
}

/** What it takes to reach what is stored. */
export function targetVolumes({ s3, claim }: BackupTarget): readonly Mounted[] {
  return [
    ...(s3?.certificateAuthority === undefined ? [] : [authorityOf(s3.certificateAuthority)]),
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

const fileOf = ({ name, key }: { readonly name: string; readonly key: string }, path: string) => ({
  secretName: name,
  items: [{ key, path }],
});

function authorityOf({ kind, ...from }: NonNullable<S3Object['certificateAuthority']>): Mounted {
  const { secretName, items } = fileOf(from, AUTHORITY_FILE);
  const volume =
    kind === 'Secret'
      ? { secret: { secretName, items } }
      : { configMap: { name: from.name, items } };
  return { name: 'authority', mountPath: AUTHORITY_DIR, isWritten: false, volume };
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

/** The program finds them by these names. */
function keysOf({ credentials: { secretName: name } }: S3Object) {
  const of = (key: string, optional = false) => ({
    name: key,
    valueFrom: { secretKeyRef: { name, key, ...(optional ? { optional } : {}) } },
  });
  return [of('AWS_ACCESS_KEY_ID'), of('AWS_SECRET_ACCESS_KEY'), of('AWS_SESSION_TOKEN', true)];
}
