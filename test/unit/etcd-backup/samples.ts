// A backup of an EtcdCluster into S3 whose Job runs. Each test in this folder says only what
// differs.
import { etcdBackupOf, type EtcdBackup } from '../../../functions/etcd-backup/object.ts';
import type { State } from '../../../functions/etcd-backup/state.ts';
import type { EtcdBackupSpec, EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import type { FoundJob, FoundPod, PodEnd } from '../../../shared/jobs/job.ts';

export const NOW_MS = Date.parse('2026-11-25T05:00:00Z');
export const UID = '0b1f7c1e-6a58-4a3c-8a53-5f4c9f3c2d11';
/** The attempts of a Job share it. */
export const SECRET = 'known-to-attempts';
export const JOB_NAME = `now-${UID}`;
export const LOCATION = `s3://backups/shop/now/20261125T040000Z-${UID}.db`;

export const SPEC: EtcdBackupSpec = {
  source: { etcdCluster: { name: 'main' } },
  target: { s3: { bucket: 'backups', credentials: { secretName: 's3' } } },
  confirmUpTo: '2Gi',
  deadlineSeconds: 3_600,
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
};

export const FACTS = {
  takenAt: '2026-11-25T04:42:16.825Z',
  sizeBytes: 3_039_264,
  sha256: 'a'.repeat(64),
  revision: '6',
  compactRevision: '1',
  keys: 5,
  hashKv: 1_234_567_890,
  isHashConfirmed: true,
  etcdVersion: '3.6.16',
  clusterId: 'cdf818194e3a8c32',
  memberId: '8e9e05c52164694d',
};

export const said = (facts: object = {}, location = LOCATION): string => {
  const whole = { kind: 'etcd-backup/v1', ...FACTS, ...facts };
  return `${JSON.stringify({ outcome: 'done', backup: location, facts: whole })}\n`;
};

export const REHEARSAL = {
  rehearsedAt: '2026-11-25T04:09:58Z',
  durationSeconds: 12,
  keys: 5,
  revision: '6',
  hashKv: 1_234_567_890,
  storedVersions: {
    objects: 3,
    total: 1,
    most: [{ resource: 'deployments.apps', version: 'apps/v1', objects: 3 }],
  },
};

export const saidRehearsed = (rehearsal: object = {}): string =>
  JSON.stringify({ ...JSON.parse(said()), rehearsal: { ...REHEARSAL, ...rehearsal } });

export const saidError = (code: string, message: string): string =>
  JSON.stringify({ outcome: 'failed', error: { code, message } });

export interface Differences {
  readonly spec?: Partial<EtcdBackupSpec>;
  readonly status?: EtcdBackupStatus;
  readonly isEnding?: boolean;
  readonly name?: string;
}

export function backup({ spec, status, isEnding, name = 'now' }: Differences = {}): EtcdBackup {
  return etcdBackupOf({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      namespace: 'shop',
      name,
      uid: UID,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-25T04:00:00Z',
      ...(isEnding === true ? { deletionTimestamp: '2026-11-25T04:30:00Z' } : {}),
    },
    spec: { ...SPEC, ...spec },
    status: status ?? {},
  });
}

export const job = (changes: Partial<FoundJob> = {}): FoundJob => ({
  name: JOB_NAME,
  uid: 'j1',
  isOurs: true,
  isEnding: false,
  startedAt: '2026-11-25T04:00:01Z',
  end: undefined,
  trouble: undefined,
  ...changes,
});

export const ended = (isComplete: boolean, reason = '', message = ''): Partial<FoundJob> => ({
  end: { isComplete, reason, message, at: '2026-11-25T04:10:00Z' },
});

export const pod = (changes: Partial<FoundPod> = {}): FoundPod => ({
  name: `${JOB_NAME}-x`,
  phase: 'Running',
  trouble: undefined,
  ended: undefined,
  ends: [],
  ...changes,
});

const AT = '2026-11-25T04:09:59Z';

export const podEnd = (message: string, exitCode = 0, at = AT, container = 'backup'): PodEnd => ({
  container,
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  message,
  at,
});

/** Behind what ended before. */
export function podEnded(
  message: string,
  exitCode = 0,
  at = AT,
  { container = 'backup', before = [] }: PodBefore = {},
): FoundPod {
  const last = podEnd(message, exitCode, at, container);
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  return pod({ phase, ended: last, ends: [...before, last] });
}

interface PodBefore {
  readonly container?: string;
  readonly before?: readonly PodEnd[];
}

export function state(changes: Partial<State> = {}, differences: Differences = {}): State {
  return {
    backup: backup(differences),
    nowMs: NOW_MS,
    source: undefined,
    job: undefined,
    pods: [],
    ...changes,
  };
}
