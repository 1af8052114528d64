// The arguments of the program in a Job's pod: paths in its pod, and never anything secret. Pure.
import type { S3Object } from '../../../shared/api/etcd-backup.ts';
import { destinationOf, type EtcdBackup } from '../object.ts';
import type { Source } from '../state.ts';

export const TLS_DIR = '/etc/ballast/tls';
export const LOGIN_DIR = '/etc/ballast/login';
export const AUTHORITY_DIR = '/etc/ballast/s3';
export const SPOOL_DIR = '/spool';

export const PASSWORD_FILE = 'password';
export const AUTHORITY_FILE = 'ca.crt';

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
    ...(s3 === undefined ? [] : ofS3(s3)),
    option('result', '/dev/termination-log'),
  ];
}

function ofS3(s3: S3Object): readonly string[] {
  const { serverSideEncryption } = s3;
  return [
    ...addressOf(s3),
    ...(serverSideEncryption === undefined ? [] : [option('s3-sse', serverSideEncryption)]),
    option('spool', SPOOL_DIR),
  ];
}

/** How the storage is reached. */
export function addressOf(s3: S3Object): readonly string[] {
  const { endpoint, region, style, certificateAuthority } = s3;
  return [
    ...(endpoint === undefined ? [] : [option('s3-endpoint', endpoint)]),
    ...(region === undefined ? [] : [option('s3-region', region)]),
    ...(style === undefined ? [] : [option('s3-style', style === 'Path' ? 'path' : 'host')]),
    ...(certificateAuthority === undefined
      ? []
      : [option('s3-cacert', `${AUTHORITY_DIR}/${AUTHORITY_FILE}`)]),
  ];
}

/** The kubelet would put a variable, such as a key of S3, in the place of `$(NAME)`. */
export const option = (name: string, value: string): string =>
  `--${name}=${value.replaceAll('$', () => '$$')}`;
