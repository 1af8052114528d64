// Gives a Job's program the way to an object storage: options, keys as variables, and the
// authority as a file. Never a value of a Secret. Pure.
import type { S3Object } from '../api/etcd-backup.ts';
import { fileOf, type Mounted, mountedForReading, option } from './manifest.ts';

const AUTHORITY_DIR = '/etc/ballast/s3';
const AUTHORITY_FILE = 'ca.crt';

type Reached = Omit<S3Object, 'key'>;

export function s3Options(s3: Reached): readonly string[] {
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

export function s3Authority({ certificateAuthority }: Reached): readonly Mounted[] {
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
export function s3Keys({ credentials: { secretName: name } }: Reached) {
  if (name === undefined) return [];
  const of = (key: string, optional = false) => ({
    name: key,
    valueFrom: { secretKeyRef: { name, key, ...(optional ? { optional } : {}) } },
  });
  return [of('AWS_ACCESS_KEY_ID'), of('AWS_SECRET_ACCESS_KEY'), of('AWS_SESSION_TOKEN', true)];
}

/** The platform puts the way to the keys of its identity into the pod by itself. */
export const s3Account = (s3: Reached | undefined): { readonly serviceAccountName?: string } => {
  const { serviceAccountName } = s3?.credentials ?? {};
  return serviceAccountName === undefined ? {} : { serviceAccountName };
};
