// The arguments of the program in a Job's pod: paths in its pod, and no secret but one that is of
// this Job alone. Pure.
import type { S3Object } from '../../../shared/api/etcd-backup.ts';
import { volumeIn } from '../../../shared/backups/volume.ts';
import { versionOfImage } from '../../../shared/etcd/version.ts';
import { keyOptions } from '../../../shared/jobs/encryption.ts';
import { CHECK, CONFIRM } from '../../../shared/jobs/etcdutl.ts';
import { option, RESULT } from '../../../shared/jobs/manifest.ts';
import { s3Options } from '../../../shared/jobs/s3.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { destinationOf, type EtcdBackup, isNameOwn } from '../object.ts';
import type { Source } from '../state.ts';
import type { Rehearsing } from './rehearsing.ts';

export const TLS_DIR = '/etc/ballast/tls';
export const LOGIN_DIR = '/etc/ballast/login';
export const SPOOL_DIR = '/spool';
export const REHEARSAL_DIR = '/rehearsal';

export const PASSWORD_FILE = 'password';

export function argumentsOf(backup: EtcdBackup, source: Source, secret: string): readonly string[] {
  const { endpoints, tls, login } = source;
  const { target, spool, encryption, confirmUpTo } = backup.spec;
  const { s3 } = target;
  return [
    ...endpoints.map((url) => option('etcd', url)),
    ...(tls === undefined
      ? []
      : [
          option('cacert', `${TLS_DIR}/ca.crt`),
          option('cert', `${TLS_DIR}/tls.crt`),
          option('key', `${TLS_DIR}/tls.key`),
        ]),
    ...(login === undefined
      ? []
      : [option('user', login.user), option('password-file', `${LOGIN_DIR}/${PASSWORD_FILE}`)]),
    option('to', destinationOf(backup)),
    ...(s3 === undefined ? [] : toS3(s3)),
    ...(isSpooled(backup.spec) ? [option('spool', SPOOL_DIR)] : []),
    ...keyOptions(encryption),
    // The disk of a node does not show it, and the kubelet ends the pod that takes more.
    ...(spool?.medium === 'Node' ? [option('spool-bytes', bytesOf(spool.size))] : []),
    ...(confirmUpTo === undefined ? [] : [option('confirm-up-to', bytesOf(confirmUpTo))]),
    // One attempt knows by it what an earlier one has left.
    option('writer', secret),
    ...(isNameOwn(backup) ? ['--own-name'] : []),
    RESULT,
  ];
}

const bytesOf = (size: string): string => `${Math.floor(quantityOf(size))}`;

/** A file on a claim is its own copy, unless it is sealed. */
export const isSpooled = ({ target, encryption }: EtcdBackup['spec']): boolean =>
  target.s3 !== undefined || encryption !== undefined;

const toS3 = (s3: S3Object): readonly string[] => [
  ...s3Options(s3),
  ...(s3.serverSideEncryption === undefined ? [] : [option('s3-sse', s3.serverSideEncryption)]),
];

/** It reads the backup as a restore would, and the secret tells whose facts lie beside it. */
export function checkArguments(
  backup: EtcdBackup,
  { image, roomBytes }: Pick<Rehearsing, 'image' | 'roomBytes'>,
  secret: string,
): readonly string[] {
  const { target, encryption } = backup.spec;
  const { s3 } = target;
  return [
    CHECK,
    option('from', destinationOf(backup)),
    ...(s3 === undefined ? [] : s3Options(s3)),
    ...keyOptions(encryption),
    option('etcd-version', versionOfImage(image)),
    ...(roomBytes === undefined ? [] : [option('room-bytes', `${roomBytes}`)]),
    option('writer', secret),
    option('dir', REHEARSAL_DIR),
    RESULT,
  ];
}

/** Nothing is bumped, so that it has to have the same hash afterwards. */
export function etcdutlArguments(): readonly string[] {
  const { backup, dataDir } = volumeIn(REHEARSAL_DIR);
  return ['snapshot', 'restore', backup, option('data-dir', dataDir)];
}

export const confirmArguments = (backup: EtcdBackup): readonly string[] => [
  CONFIRM,
  option('of', destinationOf(backup)),
  option('dir', REHEARSAL_DIR),
  RESULT,
];
