// The arguments of the program in a Job's pod: paths in its pod, and never anything secret. Pure.
import type { S3Object } from '../../../shared/api/etcd-backup.ts';
import { option } from '../../../shared/jobs/manifest.ts';
import { s3Options } from '../../../shared/jobs/s3.ts';
import { destinationOf, type EtcdBackup } from '../object.ts';
import type { Source } from '../state.ts';

export const TLS_DIR = '/etc/ballast/tls';
export const LOGIN_DIR = '/etc/ballast/login';
export const SPOOL_DIR = '/spool';

export const PASSWORD_FILE = 'password';

export function argumentsOf(backup: EtcdBackup, source: Source): readonly string[] {
  const { endpoints, tlsSecret, login } = source;
  const { s3 } = backup.spec.target;
  return [
    ...endpoints.map((url) => option('etcd', url)),
    ...(tlsSecret === undefined
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
    option('result', '/dev/termination-log'),
  ];
}

const toS3 = (s3: S3Object): readonly string[] => [
  ...s3Options(s3),
  ...(s3.serverSideEncryption === undefined ? [] : [option('s3-sse', s3.serverSideEncryption)]),
  option('spool', SPOOL_DIR),
];
