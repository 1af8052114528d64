// An EtcdBackupSchedule with every field that its types have, however deep.
import type {
  EtcdBackupScheduleSpec,
  EtcdBackupScheduleStatus,
  ExponentialRetention,
} from '../../../shared/api/etcd-backup-schedule.ts';
import { backupSettings, whereEndpoints, wholeRehearsal } from './whole-etcd.ts';
import { s3Object, s3OfAccount } from './whole-s3.ts';
import { AT as at, CONDITION as condition, type Whole, type WholeKind } from './whole-kind.ts';

const scheduleFields: Whole<Omit<EtcdBackupScheduleSpec, 'retention' | 'template'>> = {
  schedule: '30 4 * * MON-FRI',
  timeZone: 'Europe/Berlin',
  suspend: true,
  concurrencyPolicy: 'Allow',
  startingDeadlineSeconds: 600,
  rehearsal: { every: 7, ...wholeRehearsal },
  failedHistory: 5,
  maxAgeSeconds: 86_400,
};
const { key: _, ...keyless } = s3Object;
const ofCluster: EtcdBackupScheduleSpec['template'] = {
  ...backupSettings,
  source: { etcdCluster: { name: 'main' } },
  target: { s3: keyless },
  spool: { medium: 'Volume', size: '20Gi', storageClassName: 'fast' },
  encryption: { secretName: 'backup-key', key: 'key' },
};
const ofAccount: EtcdBackupScheduleSpec['template'] = {
  ...ofCluster,
  target: { s3: { ...keyless, credentials: s3OfAccount.credentials } },
};
const ofEndpoints: EtcdBackupScheduleSpec['template'] = {
  ...backupSettings,
  source: whereEndpoints,
  target: { claim: { name: 'backups' } },
};
const exponential: Whole<ExponentialRetention> = { hours: 12, days: 3, weeks: 2 };

const scheduleStatus: Whole<Omit<EtcdBackupScheduleStatus, 'conditions'>> & {
  readonly conditions: unknown[];
} = {
  observedGeneration: 1,
  lastScheduleTime: at,
  lastSuccessfulTime: at,
  nextScheduleTime: at,
  active: ['main-202601020304'],
  newest: {
    name: 'main-202601020304',
    location: 'claim://backups/main.db',
    revision: '6',
    takenAt: at,
    isHashConfirmed: true,
    clusterId: 'cdf818194e3a8c32',
  },
  goodUntil: at,
  removing: ['main-202601010304'],
  kept: 3,
  rehearsals: {
    goodSince: 2,
    countedUntil: at,
    last: { name: 'main-202601010304', rehearsedAt: at, unreadable: 1 },
  },
  conditions: [condition],
};

export const SCHEDULE_KIND: WholeKind = {
  kind: 'EtcdBackupSchedule',
  path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/etcdbackupschedules',
  specs: {
    count: { ...scheduleFields, template: ofCluster, retention: { count: 3 } },
    age: { ...scheduleFields, template: ofCluster, retention: { ageSeconds: 86_400 } },
    exponential: { ...scheduleFields, template: ofEndpoints, retention: { exponential } },
    account: { ...scheduleFields, template: ofAccount, retention: { count: 3 } },
  },
  refused: ['.template.target.claim.path', '.template.target.s3.key'],
  status: scheduleStatus,
  least: {
    spec: {
      schedule: '0 4 * * *',
      template: { source: { etcdCluster: { name: 'main' } }, target: { claim: { name: 'a' } } },
    },
    filled: { timeZone: 'UTC', suspend: false, concurrencyPolicy: 'Forbid', failedHistory: 3 },
  },
};
