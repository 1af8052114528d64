// An EtcdRestore with every field that the types in shared/api have, however deep.
import type { EtcdRestoreSpec, EtcdRestoreStatus } from '../../../shared/api/etcd-restore.ts';
import { backupStatus, jobSettings } from './whole-etcd.ts';
import { s3Object, s3OfAccount } from './whole-s3.ts';
import { AT as at, CONDITION as condition, type Whole, type WholeKind } from './whole-kind.ts';

const { serverSideEncryption: _, ...restoreS3 } = s3Object;

const restoreSpecs: Readonly<Record<string, EtcdRestoreSpec>> = {
  backup: {
    ...jobSettings,
    source: { etcdBackup: { name: 'now' } },
    etcdCluster: { name: 'main', spec: {} },
    dryRun: true,
  },
  s3: {
    ...jobSettings,
    source: { s3: restoreS3, encryption: { secretName: 'backup-key', key: 'key' } },
    etcdCluster: { name: 'main' },
    dryRun: false,
  },
  identity: {
    ...jobSettings,
    source: { s3: { ...restoreS3, credentials: s3OfAccount.credentials } },
    etcdCluster: { name: 'main' },
    dryRun: false,
  },
  claim: {
    ...jobSettings,
    source: { claim: { name: 'backups', path: 'etcd/main.db' } },
    etcdCluster: { name: 'main' },
    dryRun: false,
  },
};

const restoreStatus: Whole<Omit<EtcdRestoreStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  phase: 'Starting',
  location: 's3://backups/etcd/main.db',
  image: 'quay.io/coreos/etcd:v3.6.16',
  clusterId: 'cdf818194e3a8c32',
  claim: { name: 'data-main-0', uid: 'c1' },
  job: { name: 'back-u1', uid: 'j1' },
  etcdCluster: { name: 'main', uid: 'e1' },
  revision: '1000000006',
  startedAt: at,
  completedAt: at,
  backup: backupStatus.backup,
  error: { code: 'BACKUP_CHANGED', message: 'It was changed.' },
  failure: { reason: 'RestoreFailed', message: 'BACKUP_CHANGED: It was changed.' },
  conditions: [condition],
};

export const RESTORE_KIND: WholeKind = {
  kind: 'EtcdRestore',
  path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/etcdrestores',
  specs: restoreSpecs,
  status: restoreStatus,
  least: {
    spec: { source: { etcdBackup: { name: 'now' } }, etcdCluster: { name: 'main' } },
    filled: { deadlineSeconds: 3_600, dryRun: false },
  },
};
