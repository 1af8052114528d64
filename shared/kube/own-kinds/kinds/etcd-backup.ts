// EtcdBackup: keys of Secrets, and times, are named as elsewhere.
import type { Part } from '../part.ts';
import { encryption } from '../parts/encryption.ts';
import { renamed } from '../parts/renamed.ts';

/** The times of work that ends, named as those of a Job. */
export const workTimes: readonly Part[] = [
  renamed(['status'], 'startedAt', 'startTime'),
  renamed(['status'], 'completedAt', 'completionTime'),
];

export const ETCD_BACKUP: readonly Part[] = [encryption(['spec', 'encryption']), ...workTimes];
