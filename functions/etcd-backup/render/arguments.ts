// The arguments of the program in a Job's pod: paths in its pod, and no secret but one that is of
// this Job alone. Pure.
import type { BackupSpool, S3Object } from '../../../shared/api/etcd-backup.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { destinationOf, type EtcdBackup } from '../object.ts';
import type { Source } from '../state.ts';

export const TLS_DIR = '/etc/ballast/tls';
export const LOGIN_DIR = '/etc/ballast/login';
export const AUTHORITY_DIR = '/etc/ballast/s3';
export const SPOOL_DIR = '/spool';

export const PASSWORD_FILE = 'password';
export const AUTHORITY_FILE = 'ca.crt';

export function argumentsOf(backup: EtcdBackup, source: Source, secret: string): readonly string[] {
  const { endpoints, tlsSecret, login } = source;
  const { target, spool } = backup.spec;
  const { s3 } = target;
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
    ...(spool?.medium === 'Node' ? [option('spool-bytes', bytesOf(spool))] : []),
    // One attempt knows by it what an earlier one has left.
    option('writer', secret),
    option('result', '/dev/termination-log'),
  ];
}

/** The disk of a node does not show it, and the kubelet ends the pod that takes more. */
const bytesOf = ({ size }: BackupSpool): string => `${Math.floor(quantityOf(size))}`;

function ofS3(s3: S3Object): readonly string[] {
  const { endpoint, region, style, certificateAuthority, serverSideEncryption } = s3;
  return [
    ...(endpoint === undefined ? [] : [option('s3-endpoint', endpoint)]),
    ...(region === undefined ? [] : [option('s3-region', region)]),
    ...(style === undefined ? [] : [option('s3-style', style === 'Path' ? 'path' : 'host')]),
    ...(certificateAuthority === undefined
      ? []
      : [option('s3-cacert', `${AUTHORITY_DIR}/${AUTHORITY_FILE}`)]),
    ...(serverSideEncryption === undefined ? [] : [option('s3-sse', serverSideEncryption)]),
    option('spool', SPOOL_DIR),
  ];
}

/** The kubelet would put a variable, such as a key of S3, in the place of `$(NAME)`. */
const option = (name: string, value: string): string =>
  `--${name}=${value.replaceAll('$', () => '$$')}`;
