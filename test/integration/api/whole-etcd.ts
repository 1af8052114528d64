// One object of each kind of etcd with every field that the types in shared/api have, however deep.
import type { EtcdBackupSpec, EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import type {
  EtcdClusterSpec,
  EtcdClusterStatus,
  EtcdSettings,
} from '../../../shared/api/etcd-cluster.ts';
import type { EtcdPeerSpec, EtcdPeerStatus } from '../../../shared/api/etcd-peer.ts';
import { s3Object, s3OfAccount } from './whole-s3.ts';
import { AT as at, CONDITION as condition, type Whole, type WholeKind } from './whole-kind.ts';

const etcdSettings: Whole<EtcdSettings> = {
  image: 'quay.io/coreos/etcd:v3.6.16',
  storage: {
    medium: 'Volume',
    size: '20Gi',
    storageClassName: 'fast',
    accessMode: 'ReadWriteOnce',
  },
  tls: {
    clients: { mode: 'Mutual', secretName: 'clients' },
    peers: { mode: 'Mutual', secretName: 'peers' },
  },
  quota: '4Gi',
  compaction: { mode: 'Revision', retention: '10000' },
  heartbeatMilliseconds: 200,
  electionMilliseconds: 2_000,
  snapshotCount: 20_000,
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
  spread: 'Required',
};

const etcdSpec: Whole<EtcdClusterSpec> = {
  ...etcdSettings,
  replicas: 5,
  auth: {
    users: [
      {
        name: 'orders',
        login: 'Password',
        passwordSecret: { name: 'orders-etcd', key: 'password' },
        roles: ['orders'],
      },
    ],
    roles: [{ name: 'orders', permissions: [{ prefix: '/orders/', access: 'ReadWrite' }] }],
  },
  networkPolicy: 'Closed',
  defragmentation: { mode: 'None', window: '01:00-05:00' },
  paused: true,
  recovery: { confirm: 'whole-0-0123456789ab' },
};

const etcdStatus: Whole<Omit<EtcdClusterStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  replicas: 3,
  selector: 'ballast.dev/etcd-cluster=main',
  voters: '2/3',
  version: '3.5.35 to 3.6.16',
  leader: 'main-0',
  database: '1.2GiB of 2GiB',
  clusterId: 'cdf818194e3a8c32',
  backup: {
    name: 'daily-202601020304',
    schedule: 'daily',
    location: 's3://backups/etcd/main.db',
    revision: '6',
    takenAt: at,
    isHashConfirmed: true,
  },
  joining: [{ name: 'old-0000', url: 'http://old-0000.old.shop.svc:2380' }],
  bootstrap: { seed: 'main-0', since: at, version: '3.6.16' },
  leaving: {
    peer: 'main-4',
    peerUid: 'p4',
    memberId: '9372538179322589801',
    claim: 'data-main-4',
    claimUid: 'c4',
    reason: 'There are to be fewer.',
    since: at,
  },
  restarting: { peer: 'main-1', podUid: 'p1', reason: 'Another image.', since: at },
  refusing: { peer: 'main-2', podUid: 'p2', restarts: 3, since: at },
  refused: {
    peer: 'main-3',
    claim: 'data-main-3',
    claimUid: 'c3',
    why: 'its database is damaged',
    at,
  },
  quorumLostSince: at,
  recovery: {
    id: 'main-0-0123456789ab',
    survivor: 'main-0',
    memberId: '8e9e05c52164694d',
    revision: '1234567890',
    lost: ['main-1'],
    others: ['main-2'],
    command: 'kubectl',
  },
  recovering: {
    id: 'main-0-0123456789ab',
    number: 2,
    survivor: 'main-0',
    peerUid: 'p0',
    memberId: '10276657743932975437',
    revision: '1234567890',
    raftIndex: 1_234_567_890,
    others: [{ peer: 'main-1', peerUid: 'p1' }],
    podUid: 'u0',
    since: at,
  },
  recovered: {
    id: 'main-2-ba9876543210',
    number: 1,
    survivor: 'main-2',
    revision: '1234567',
    at,
  },
  defragmenting: {
    peer: 'main-2',
    memberId: '9372538179322589801',
    databaseBytes: 1_288_490_188,
    since: at,
  },
  compacting: { revision: '123456', since: at, defragmented: ['main-2'] },
  auth: {
    phase: 'On',
    rootSecret: 'main-root',
    users: [{ name: 'orders', login: 'Password', secret: 'orders-etcd', madeAs: '0a1b2c' }],
    roles: ['orders'],
  },
  members: [
    {
      name: 'main-0',
      id: '8e9e05c52164694d',
      role: 'Leader',
      version: '3.6.16',
      ready: true,
      databaseBytes: 1_288_490_188,
      databaseBytesInUse: 644_245_094,
      revision: 123_456,
      upToDate: true,
      startingSince: at,
      lastContact: at,
    },
  ],
  plan: { next: 'Restart main-1', waitsFor: 'main-2 is not ready.' },
  conditions: [condition],
};

const peerSpec: Whole<EtcdPeerSpec> = {
  ...etcdSettings,
  cluster: 'main',
  ordinal: 2,
  bootstrap: {
    state: 'Existing',
    token: 'u1',
    initialCluster: [{ name: 'main-0', url: 'https://main-0-0.main-headless.shop.svc:2380' }],
    start: 'main-2.cdf818194e3a8c32',
  },
  running: true,
  certificatesHash: '0123456789abcdef',
  recovery: { number: 2, force: true },
};

const peerStatus: Whole<Omit<EtcdPeerStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  claimUid: 'c2',
  podUid: 'p2',
  templateHash: '0123456789abcdef',
  phase: 'Running',
  conditions: [condition],
};

export const jobSettings: Pick<EtcdBackupSpec, 'deadlineSeconds' | 'resources'> = {
  deadlineSeconds: 600,
  resources: etcdSettings.resources,
};

export const backupSettings = { ...jobSettings, confirmUpTo: '1Gi' };

export const whereEndpoints: Whole<Omit<EtcdBackupSpec['source'], 'etcdCluster'>> = {
  endpoints: ['https://10.0.0.1:2379'],
  tls: {
    secretName: 'etcd',
    keys: { certificate: 'client.crt', key: 'client.key', authority: 'ca.pem' },
  },
  login: { user: 'root', passwordSecret: { name: 'etcd-root', key: 'password' } },
};

export const wholeRehearsal: Whole<NonNullable<EtcdBackupSpec['rehearsal']>> = {
  image: 'quay.io/coreos/etcd:v3.6.16',
  disk: { medium: 'Volume', size: '40Gi', storageClassName: 'fast' },
};

const backupSpecs: Readonly<Record<string, EtcdBackupSpec>> = {
  cluster: {
    ...backupSettings,
    source: { etcdCluster: { name: 'main' } },
    target: { s3: s3Object },
    spool: { medium: 'Volume', size: '20Gi', storageClassName: 'fast' },
    encryption: { secretName: 'backup-key', key: 'key' },
    rehearsal: wholeRehearsal,
  },
  scheduled: {
    ...backupSettings,
    source: { etcdCluster: { name: 'main' } },
    target: { claim: { name: 'backups' } },
    scheduled: { schedule: 'main', uid: 's1', at },
  },
  identity: {
    ...backupSettings,
    source: { etcdCluster: { name: 'main' } },
    target: { s3: s3OfAccount },
  },
  endpoints: {
    ...backupSettings,
    source: whereEndpoints,
    target: { claim: { name: 'backups', path: 'etcd/main.db' } },
  },
};

export const backupStatus: Whole<Omit<EtcdBackupStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  phase: 'Complete',
  location: 's3://backups/etcd/main.db',
  job: { name: 'now-u1', uid: 'j1' },
  startedAt: at,
  completedAt: at,
  backup: {
    takenAt: at,
    sizeBytes: 3_039_264,
    sha256: '0'.repeat(64),
    revision: '6',
    compactRevision: '1',
    keys: 5,
    hashKv: 1_234_567_890,
    isHashConfirmed: false,
    unconfirmed: 'no member told the hash of revision 6',
    etcdVersion: '3.6.16',
    clusterId: 'cdf818194e3a8c32',
    memberId: '8e9e05c52164694d',
    alarms: ['CORRUPT'],
    encryption: {
      format: 'ballast-sealed/v1',
      keyId: '0123456789abcdef',
      plainSizeBytes: 3_039_264,
      plainSha256: '1'.repeat(64),
    },
  },
  rehearsal: {
    rehearsedAt: at,
    durationSeconds: 12,
    keys: 5,
    revision: '6',
    hashKv: 1_234_567_890,
    storedVersions: {
      objects: 3,
      total: 2,
      most: [{ resource: 'deployments.apps', version: 'apps/v1', objects: 2 }],
    },
    unreadable: { objects: 1, such: '/registry/pods/shop/b is cut off' },
  },
  error: { code: 'S3_UNAVAILABLE', message: 'It is away.' },
  conditions: [condition],
};

export const ETCD_KINDS: readonly WholeKind[] = [
  {
    kind: 'EtcdBackup',
    path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/etcdbackups',
    specs: backupSpecs,
    status: backupStatus,
    least: {
      spec: { source: { etcdCluster: { name: 'main' } }, target: { claim: { name: 'backups' } } },
      filled: { deadlineSeconds: 3_600 },
    },
  },
  {
    kind: 'EtcdCluster',
    path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/etcdclusters',
    specs: { whole: etcdSpec },
    status: etcdStatus,
    least: { spec: {}, filled: { replicas: 3, storage: { medium: 'Volume', size: '10Gi' } } },
  },
  {
    kind: 'EtcdPeer',
    path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/etcdpeers',
    specs: { whole: peerSpec },
    status: peerStatus,
    least: { spec: peerSpec, filled: { ordinal: 2 } },
  },
];
