// Reads which schedules take backups of a cluster. One list of its namespace each five minutes: a
// look at a cluster at rest should cost next to nothing, and a time that was promised stays true.
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { isKubeError, type KubeError } from '../../../shared/kube/errors.ts';
import type { Cluster } from '../cluster.ts';
import { backupsOf } from './ready.ts';
import { type Backups, type Schedule, scheduleOf, SCHEDULES_MAX } from './schedules.ts';

/** Some three kilobytes each. */
const SCHEDULES_PER_PAGE = 100;
const FRESH_MS = 300_000;
/** A newer backup may be there since; nothing is called too old before that was looked up. */
const FRESH_IN_DOUBT_MS = 10_000;

export interface BackupsMemory {
  seen?: { readonly value: Backups; readonly atMs: number };
}

export interface BackupsDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly memory: BackupsMemory;
  readonly signal: AbortSignal;
}

export async function observeBackups(deps: BackupsDeps, cluster: Cluster): Promise<Backups> {
  const { nowMs, memory } = deps;
  const { seen } = memory;
  if (seen !== undefined && nowMs - seen.atMs < freshMs(seen.value, cluster, nowMs)) {
    return seen.value;
  }
  const value = await read(deps, cluster);
  memory.seen = { value, atMs: nowMs };
  return value;
}

function freshMs(backups: Backups, cluster: Cluster, nowMs: number): number {
  const { status, reason } = backupsOf({ backups, cluster, nowMs }).condition;
  return status === 'True' || reason === 'NoSchedule' ? FRESH_MS : FRESH_IN_DOUBT_MS;
}

async function read({ kube, signal }: BackupsDeps, cluster: Cluster): Promise<Backups> {
  const { namespace } = cluster;
  const schedules: Schedule[] = [];
  try {
    const options = { namespace, limit: SCHEDULES_PER_PAGE, signal };
    for await (const { items } of kube.pages(ETCD_BACKUP_SCHEDULES, options)) {
      const room = SCHEDULES_MAX - schedules.length;
      schedules.push(...items.flatMap((one) => scheduleOf(cluster, one) ?? []).slice(0, room));
      if (schedules.length >= SCHEDULES_MAX) break;
    }
  } catch (error) {
    // The kind is not installed.
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return { schedules };
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    return { schedules: [], lacking: rightsMissing(error, namespace) };
  }
  return { schedules };
}

/** Rights of before there were schedules: members are looked after all the same. */
function rightsMissing({ answer, message }: KubeError, namespace: string): Reason {
  return {
    reason: 'RightsMissing',
    message:
      `The function may not see which backups are taken (${answer?.message ?? message}). ` +
      'All else goes on. Grant it its rights there: ' +
      `npm run -s rights -- etcd-cluster -n ${namespace} | kubectl apply -f -`,
  };
}
