// A restore of an EtcdBackup in S3 into EtcdCluster shop/main. Each test in this folder says only
// what differs.
import type { EtcdBackupSpec, EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import type { EtcdRestoreSpec } from '../../../shared/api/etcd-restore.ts';

export const NOW_MS = Date.parse('2026-11-25T05:00:00Z');
export const SHA256 = 'a'.repeat(64);

/** With the defaults that the API server would fill in. */
const CLUSTER_SPEC = {
  replicas: 3,
  image: 'quay.io/coreos/etcd:v3.6.16',
  storage: { medium: 'Volume', size: '10Gi' },
  tls: { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } },
  quota: '2Gi',
  resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '2Gi' } },
};

export const clusterSpec = (changes: object = {}): Record<string, unknown> => ({
  ...CLUSTER_SPEC,
  ...changes,
});

export const SPEC: EtcdRestoreSpec = {
  source: { etcdBackup: { name: 'last' } },
  etcdCluster: { name: 'main', spec: CLUSTER_SPEC },
  dryRun: false,
  deadlineSeconds: 3_600,
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
};

const FACTS = {
  takenAt: '2026-11-25T04:42:16.825Z',
  sizeBytes: 3_039_264,
  sha256: SHA256,
  revision: '6',
  compactRevision: '1',
  keys: 5,
  hashKv: 1_234_567_890,
  isHashConfirmed: true,
  etcdVersion: '3.6.16',
  clusterId: 'cdf818194e3a8c32',
  memberId: '8e9e05c52164694d',
};

export const BACKUP_SPEC: EtcdBackupSpec = {
  source: { etcdCluster: { name: 'old' } },
  target: {
    s3: {
      bucket: 'backups',
      credentials: { secretName: 's3' },
      endpoint: 'https://s3.example:9000',
      serverSideEncryption: 'AES256',
    },
  },
  deadlineSeconds: 3_600,
  resources: {},
};

export const LOCATION = 's3://backups/shop/last/now.db';

export const BACKUP_STATUS: EtcdBackupStatus = {
  phase: 'Complete',
  location: LOCATION,
  backup: FACTS,
};

export const said = (facts: object = {}, revision: unknown = '1000000006'): string => {
  const whole = { kind: 'etcd-backup/v1', ...FACTS, ...facts };
  return `${JSON.stringify({ outcome: 'done', revision, facts: whole })}\n`;
};

export const saidError = (code: string, message: string): string =>
  JSON.stringify({ outcome: 'failed', error: { code, message } });
