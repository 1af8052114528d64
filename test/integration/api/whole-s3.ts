// An object storage with every field that its type has; of its keys one of the two ways each.
import type { EtcdBackupSpec } from '../../../shared/api/etcd-backup.ts';
import type { Whole } from './whole-kind.ts';

type ReachedS3 = Omit<NonNullable<EtcdBackupSpec['target']['s3']>, 'credentials'>;

export const s3Object: Whole<ReachedS3> & { readonly credentials: { secretName: string } } = {
  bucket: 'backups',
  key: 'etcd/main.db',
  endpoint: 'https://s3.example:9000',
  region: 'eu-central-1',
  style: 'Path',
  credentials: { secretName: 's3' },
  certificateAuthority: { kind: 'ConfigMap', name: 's3-ca', key: 'ca.crt' },
  serverSideEncryption: 'aws:kms:mine',
};

export const s3OfAccount = {
  ...s3Object,
  credentials: { serviceAccountName: 'ballast-backup' },
};
