// EtcdBackupSchedule: what it makes is said as in an EtcdBackup.
import type { Part } from '../part.ts';
import { encryption } from '../parts/encryption.ts';

export const ETCD_BACKUP_SCHEDULE: readonly Part[] = [
  encryption(['spec', 'template', 'encryption']),
];
