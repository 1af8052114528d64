// One object of each of our kinds with every field that the types in shared/api have, however deep.
import type {
  Account,
  FeedReading,
  NatsClusterSpec,
  NatsClusterStatus,
  User,
} from '../../../shared/api/nats-cluster.ts';
import type { MetadataFeedSpec, MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import type {
  StorageMigrationSpec,
  StorageMigrationStatus,
} from '../../../shared/api/storage-migration.ts';
import { AT as at, CONDITION as condition, type Whole, type WholeKind } from './whole-kind.ts';
import { ETCD_KINDS } from './whole-etcd.ts';
import { RESTORE_KIND } from './whole-restore.ts';
import { SCHEDULE_KIND } from './whole-schedule.ts';
import { TAKEOVER_KIND } from './whole-takeover.ts';

/** Namespaces are included or excluded, never both. */
const rest: Whole<Omit<MetadataFeedSpec, 'namespaces'>> = {
  resources: [
    {
      group: 'example.com',
      version: 'v1beta1',
      resource: 'widgets',
      matchLabels: { tier: 'gold' },
      fields: [{ name: 'size', path: '.spec.size' }],
    },
  ],
  pods: { labels: ['app'], annotations: ['example.com/*'] },
  stream: { name: 'other', replicas: 3, storage: 'Memory' },
  retention: { tombstoneSeconds: 7_200, historySeconds: 1_800 },
  sweepSeconds: 120,
  nats: { secretRef: { name: 'nats' } },
};
const namespaces: Whole<Required<MetadataFeedSpec>['namespaces']> = {
  include: ['web'],
  exclude: ['kube-system'],
};
const feedStatus: Whole<Omit<MetadataFeedStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  epoch: 2,
  streamId: 'f3b1',
  version: 9_007_199_254_740_991,
  sweptAt: at,
  floorSequence: 12,
  resources: [
    {
      name: 'pods',
      resourceVersion: '123',
      verifiedAt: at,
      objects: 4,
      lacking: 1,
      stray: 2,
      oversize: 3,
      oversizeNames: ['shop/huge'],
    },
  ],
  scopes: [{ name: 'node', scopes: 5, objects: 6, digest: '0123456789abcdef' }],
  events: {
    received: 1,
    published: 2,
    unchanged: 3,
    overtaken: 4,
    healed: 5,
    unfounded: 6,
    oversize: 7,
  },
  conditions: [condition],
};

const login: Whole<Omit<User, 'writes' | 'reads' | 'permissions'>> = {
  name: 'shop',
  passwordSecret: { name: 'passwords', key: 'shop' },
};
const permissions: Whole<User>['permissions'] = {
  publish: { allow: ['orders.>'], deny: ['orders.secret'] },
  subscribe: { allow: ['_INBOX.>'], deny: ['>'] },
  allowResponses: true,
};
const reading: Whole<Omit<FeedReading, 'node' | 'namespaces'>> = { feed: 'orders', scope: 'Node' };
const node: Whole<FeedReading>['node'] = 'node-1';
const teams: Whole<FeedReading>['namespaces'] = ['shop'];
const writes: Whole<User>['writes'] = ['orders'];
const holder: Whole<Omit<Account, 'users'>> = { name: 'SHOP', jetStream: true, feeds: ['orders'] };

const natsSpec: Whole<Omit<NatsClusterSpec, 'jetStream' | 'accounts'>> & {
  readonly accounts: object;
} = {
  replicas: 5,
  image: 'docker.io/library/nats:2.15.2',
  tls: { clients: { secretName: 'clients' }, routes: { secretName: 'routes' } },
  accounts: [
    {
      ...holder,
      users: [
        { ...login, permissions },
        { name: 'metadata', writes },
      ],
    },
    {
      name: 'READERS',
      jetStream: false,
      users: [
        { name: 'agent', reads: { ...reading, node } },
        { name: 'team', reads: { ...reading, scope: 'Namespaces', namespaces: teams } },
      ],
    },
  ],
  clusterName: 'old',
  extraRoutes: ['old-1.old-mgmt.shop.svc:6222'],
  lameDuck: { graceSeconds: 5, durationSeconds: 60 },
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
  monitoringPort: 8223,
  networkPolicy: 'Closed',
  spread: 'Required',
  unreplicatedStreams: 'Wait',
  waive: [{ account: 'SHOP', stream: 'ORDERS', consumer: 'broken' }],
  paused: true,
};
const fileStorage: Whole<NatsClusterSpec['jetStream']>['fileStorage'] = {
  size: '20Gi',
  storageClassName: 'fast',
  accessMode: 'ReadWriteOnce',
};

const natsStatus: Whole<Omit<NatsClusterStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  replicas: 3,
  selector: 'ballast.dev/nats-cluster=nats',
  ready: '2/3',
  version: '2.14.9 to 2.15.2',
  metaLeader: 'nats-0',
  servers: [
    {
      name: 'nats-0',
      version: '2.15.2',
      role: 'MetaLeader',
      ready: true,
      configDigest: 'sha256:00',
      upToDate: true,
      startingSince: at,
      lastContact: at,
    },
  ],
  streamsAtRisk: [
    { account: 'SHOP', stream: 'ORDERS', consumer: 'worker', reason: 'has no leader' },
  ],
  plan: { next: 'Restart nats-1', waitsFor: 'nats-2 is not ready.' },
  restarting: { server: 'nats-1', podUid: 'p1', reason: 'Another image.', since: at },
  leaving: {
    server: 'nats-4',
    peerId: 'p4',
    claim: 'data-nats-4',
    claimUid: 'c4',
    since: at,
  },
  replacing: {
    server: 'nats-2',
    podUid: 'p2',
    claim: 'data-nats-2',
    claimUid: 'c2',
    reason: 'It is lost.',
    since: at,
  },
  conditions: [condition],
};

const migrationSpec: Whole<StorageMigrationSpec> = {
  resource: { group: 'example.com', resource: 'widgets' },
  budget: { requestsPerSecond: 50, concurrency: 4 },
  mode: 'Ballast',
  trim: 'Never',
  pause: true,
  dryRun: true,
  retries: 5,
  acceptedLoss: ['.spec.legacy'],
  verify: ['SecondPass', 'Etcd'],
  cleanManagedFields: false,
};

const migrationStatus: Whole<Omit<StorageMigrationStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  phase: 'Blocked',
  blockedIn: 'Verifying',
  target: {
    version: 'v1',
    kind: 'Widget',
    dryRun: false,
    mode: 'InTree',
    cleansManagedFields: true,
    servedVersions: ['v1'],
    crdUid: 'u1',
    crdGeneration: 2,
    crdResourceVersion: '123',
  },
  storedVersions: ['v1alpha1', 'v1'],
  settledAt: at,
  writesEndAt: at,
  delegate: {
    apiVersion: 'storagemigration.k8s.io/v1',
    name: 'widgets.example.com-1',
    uid: 'd1',
    result: 'Failed',
    message: 'It may not change.',
  },
  pass: 2,
  passStartedAt: at,
  cursor: { after: 'web/w1', continue: 'token', resourceVersion: '123' },
  progress: {
    total: 9,
    done: 8,
    changed: 1,
    current: 2,
    conflicts: 3,
    gone: 1,
    failed: 1,
    perSecond: 4,
    left: '1s',
  },
  rewritten: 1,
  cleaned: 1,
  failed: [{ namespace: 'web', name: 'w2', reason: 'Forbidden', message: 'It may not change.' }],
  retriesLeft: 2,
  etcdDisagreed: 1,
  worker: { id: 'a1', until: at },
  proof: {
    oracle: 'SecondPassAndEtcd',
    version: 'v1',
    objects: 9,
    resourceVersion: '123',
    crdGeneration: 2,
    etcdRevision: '124',
    etcdValues: 9,
    at,
  },
  trimmed: ['v1alpha1'],
  restored: ['v1beta1'],
  conditions: [condition],
};

export const WHOLE_KINDS: readonly WholeKind[] = [
  ...ETCD_KINDS,
  RESTORE_KIND,
  TAKEOVER_KIND,
  SCHEDULE_KIND,
  {
    kind: 'MetadataFeed',
    path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/metadatafeeds',
    specs: {
      include: { ...rest, namespaces: { include: namespaces.include } },
      exclude: { ...rest, namespaces: { exclude: namespaces.exclude } },
    },
    status: feedStatus,
    least: { spec: {}, filled: { sweepSeconds: 60 } },
  },
  {
    kind: 'NatsCluster',
    path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/natsclusters',
    specs: {
      files: { ...natsSpec, jetStream: { fileStorage } },
      memory: { ...natsSpec, jetStream: { memory: { size: '256Mi' } } },
    },
    status: natsStatus,
    least: { spec: {}, filled: { replicas: 3, jetStream: { fileStorage: { size: '10Gi' } } } },
  },
  {
    kind: 'StorageMigration',
    path: '/apis/ballast.dev/v1alpha1/storagemigrations',
    specs: { whole: migrationSpec },
    status: migrationStatus,
    least: { spec: { resource: migrationSpec.resource }, filled: { trim: 'OnProof' } },
  },
];
