// How often the schedules of a cluster are read, and that what is wrong with them stops nothing
// else.
import { expect, test } from 'vitest';
import { observeBackups } from '../../../functions/etcd-cluster/backups/observe.ts';
import { SCHEDULES_MAX } from '../../../functions/etcd-cluster/backups/schedules.ts';
import {
  ETCD_BACKUP_SCHEDULES,
  type EtcdBackupScheduleStatus,
} from '../../../shared/api/etcd-backup-schedule.ts';
import type { ErrorCode } from '../../../shared/errors.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { NAMESPACE } from './model/etcd-model.ts';
import { Run } from './model/run.ts';
import { NOW_MS, state } from './samples.ts';

const MINUTE_MS = 60_000;

const at = (ms: number): string => new Date(ms).toISOString();

/** A backup was taken now, and is new enough for so long. */
const good = (nowMs: number, minutes: number): EtcdBackupScheduleStatus => ({
  newest: {
    name: `at-${nowMs}`,
    location: 's3://backups/x.db',
    revision: '6',
    takenAt: at(nowMs),
    isHashConfirmed: true,
    clusterId: 'c1',
  },
  goodUntil: at(nowMs + minutes * MINUTE_MS),
});

function putSchedule(kube: KubeModel, name: string, status: EtcdBackupScheduleStatus = {}): void {
  kube.put(ETCD_BACKUP_SCHEDULES, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: { namespace: NAMESPACE, name },
    spec: { suspend: false, template: { source: { etcdCluster: { name: 'etcd' } } } },
  });
  kube.change(ETCD_BACKUP_SCHEDULES, { namespace: NAMESPACE, name }, { status });
}

/** A cluster of these samples, looked at again and again. */
function looks(kube: KubeModel) {
  const memory = {};
  const { cluster } = state();
  const { signal } = new AbortController();
  return async (nowMs: number): Promise<readonly string[]> => {
    const deps = { kube: kube.client, nowMs, memory, signal };
    const { schedules } = await observeBackups(deps, cluster);
    return schedules.map(({ newest }) => newest?.shown.name ?? 'none');
  };
}

test('schedules are read each five minutes, and before one is called late', async () => {
  const kube = new KubeModel();
  const look = looks(kube);
  putSchedule(kube, 'often', good(NOW_MS, 4));
  expect(await look(NOW_MS)).toEqual([`at-${NOW_MS}`]);
  const minuteLater = NOW_MS + MINUTE_MS;
  putSchedule(kube, 'often', good(minuteLater, 20));
  expect(await look(NOW_MS + 4 * MINUTE_MS)).toEqual([`at-${NOW_MS}`]);
  expect(kube.reads).toBe(1);
  expect(await look(NOW_MS + 4 * MINUTE_MS + 1)).toEqual([`at-${minuteLater}`]);
  expect(await look(NOW_MS + 9 * MINUTE_MS)).toEqual([`at-${minuteLater}`]);
  expect(kube.reads).toBe(2);
  await look(NOW_MS + 9 * MINUTE_MS + 1);
  expect(kube.reads).toBe(3);
});

test.each<[string, EtcdBackupScheduleStatus | undefined, number]>([
  ['while nothing is promised, each five minutes', undefined, 300_000],
  ['while one is late, each ten seconds', {}, 10_000],
])('%s', async (_, status, freshMs) => {
  const kube = new KubeModel();
  if (status !== undefined) putSchedule(kube, 'often', status);
  const look = looks(kube);
  await look(NOW_MS);
  await look(NOW_MS + freshMs - 1);
  expect(kube.reads).toBe(1);
  await look(NOW_MS + freshMs);
  expect(kube.reads).toBe(2);
});

test('of very many the first ones are kept', async () => {
  const kube = new KubeModel();
  for (let index = 0; index < 250; index += 1) putSchedule(kube, `of-${index}`);
  expect(await looks(kube)(NOW_MS)).toHaveLength(SCHEDULES_MAX);
  expect(kube.reads).toBe(1);
});

const refusing = (code: ErrorCode): KubeClient =>
  ({
    pages: () => {
      throw new KubeError(code, 'No.', { verb: 'list', ref: ETCD_BACKUP_SCHEDULES });
    },
  }) as unknown as KubeClient;

test.each<[ErrorCode, string | undefined]>([
  ['KUBE_FORBIDDEN', 'RightsMissing'],
  ['KUBE_NOT_FOUND', undefined],
])('%s is no reason to look after nothing: %s', async (code, reason) => {
  const { signal } = new AbortController();
  const deps = { kube: refusing(code), nowMs: NOW_MS, memory: {}, signal };
  const { schedules, lacking } = await observeBackups(deps, state().cluster);
  expect([schedules, lacking?.reason]).toEqual([[], reason]);
  if (lacking === undefined) return;
  expect(lacking.message).toContain('npm run -s rights -- etcd-cluster -n shop | kubectl apply');
});

test('an API server that does not answer is asked again', async () => {
  const { signal } = new AbortController();
  const deps = { kube: refusing('KUBE_UNAVAILABLE'), nowMs: NOW_MS, memory: {}, signal };
  await expect(observeBackups(deps, state().cluster)).rejects.toThrow('No.');
});

/** Ready, with a backup that is new enough for another five minutes. */
async function backedUp(): Promise<Run> {
  const run = new Run();
  await run.converge();
  expect(run.condition('BackupReady')).toMatchObject({ status: 'Unknown', reason: 'NoSchedule' });
  const { model } = run;
  const { clusterId } = Object(model.status());
  const status = good(model.nowMs, 10);
  const newest = status.newest && { ...status.newest, clusterId };
  putSchedule(model.kube, 'often', { ...status, ...(newest === undefined ? {} : { newest }) });
  model.nowMs += 5 * MINUTE_MS;
  await run.sweep();
  expect(run.condition('BackupReady')).toMatchObject({ status: 'True', reason: 'NewEnough' });
  return run;
}

test('a cluster at rest turns to False by itself when its time has come', async () => {
  const run = await backedUp();
  const { model } = run;
  const before = run.writes.length;
  model.nowMs += 5 * MINUTE_MS;
  await run.sweep();
  expect(run.writes.slice(before)).toEqual([]);
  model.nowMs += 1_000;
  await run.sweep();
  expect(run.condition('BackupReady')).toMatchObject({ status: 'False', reason: 'TooOld' });
  expect(run.isReady()).toBe(true);
});

test('where the function may not look at the members, it says nothing of the backup', async () => {
  const run = await backedUp();
  const { kube } = run.model;
  const ref = { group: '', version: 'v1', resource: 'pods' };
  const message = 'User "u" cannot list resource "pods" in API group ""';
  const answer = { statusCode: 403, reason: 'Forbidden', message, causes: [] };
  const pages = kube.pages.bind(kube);
  kube.pages = (of, selection) => {
    if (of.resource !== 'pods') return pages(of, selection);
    throw new KubeError('KUBE_FORBIDDEN', message, { verb: 'list', ref }, { answer });
  };
  await run.sweep();
  expect(run.condition('BackupReady')).toMatchObject({ status: 'Unknown' });
  expect(run.condition('BackupReady').reason).toBe('RightsMissing');
});

test('metrics have both times, and nothing of a cluster that is gone', async () => {
  const run = await backedUp();
  const { model, metrics } = run;
  const shown = (): readonly number[] =>
    [...metrics.all()]
      .filter(({ name }) => name.startsWith('ballast_etcd_cluster_backup_'))
      .flatMap(({ cells }) => [...cells].map((cell) => Object(cell).value));
  const takenMs = model.nowMs - 5 * MINUTE_MS;
  expect(shown()).toEqual([takenMs, takenMs + 10 * MINUTE_MS].map((ms) => ms / 1_000));
  run.deleteCluster();
  await run.sweep();
  expect(shown()).toEqual([]);
});
