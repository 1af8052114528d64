// Gives a Job's program the way to an object storage: options, keys as variables, and the
// authority as a file. Never a value of a Secret. Pure.
import type { S3Object } from '../api/etcd-backup.ts';
import { fileOf, type Mounted, mountedForReading, option } from './manifest.ts';

const AUTHORITY_DIR = '/etc/ballast/s3';
const AUTHORITY_FILE = 'ca.crt';

export function s3Options(s3: S3Object): readonly string[] {
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

export function s3Authority({ certificateAuthority }: S3Object): readonly Mounted[] {
  if (certificateAuthority === undefined) return [];
  const { kind, ...from } = certificateAuthority;
  const { secretName, items } = fileOf(from, AUTHORITY_FILE);
  const volume =
    kind === 'Secret'
      ? { secret: { secretName, items } }
      : { configMap: { name: from.name, items } };
  return [mountedForReading('authority', AUTHORITY_DIR, volume)];
}

/** Programs find them by these names. */
export function s3Keys({ credentials: { secretName: name } }: S3Object) {
  const of = (key: string, optional = false) => ({
    name: key,
    valueFrom: { secretKeyRef: { name, key, ...(optional ? { optional } : {}) } },
  });
  return [of('AWS_ACCESS_KEY_ID'), of('AWS_SECRET_ACCESS_KEY'), of('AWS_SESSION_TOKEN', true)];
}
