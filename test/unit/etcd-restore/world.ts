// The world of a restore on a model of the API server, in which a test plays the Job's controller,
// the kubelet, etcd-cluster and people.
import { pino } from 'pino';
import { expect } from 'vitest';
import { Deps } from '../../../functions/etcd-restore/deps.ts';
import { reconciler } from '../../../functions/etcd-restore/reconciler.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES, type EtcdRestoreStatus } from '../../../shared/api/etcd-restore.ts';
import type { Context } from '../../../shared/function/define.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { PODS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { BACKUP_SPEC, BACKUP_STATUS, NOW_MS, said, saidError, SPEC } from './samples.ts';

const namespace = 'shop';
const TYPE = 'ballast.dev/v1alpha1';

/** Begun anew before each test. */
export const world = { kube: new KubeModel(), deps: undefined as Deps | undefined };

export function begin(spec: object = {}): void {
  world.kube = new KubeModel();
  putBackup();
  const creationTimestamp = '2026-11-25T04:00:00Z';
  const metadata = { namespace, name: 'back', creationTimestamp };
  world.kube.put(ETCD_RESTORES, {
    apiVersion: TYPE,
    kind: 'EtcdRestore',
    metadata,
    spec: { ...SPEC, ...spec },
  });
  world.deps = depsOf();
}

export const depsOf = (): Deps =>
  new Deps(
    {
      kube: world.kube.client,
      clock: { nowMs: () => NOW_MS, sleep: async () => undefined },
      workMs: 10_000,
      lease: { namespace: 'ballast-system', name: 'ballast-etcd-restore', sweepSeconds: 60 },
    },
    'ours:1',
  );

export function putBackup(status: object = BACKUP_STATUS, spec: object = BACKUP_SPEC): void {
  const metadata = { namespace, name: 'last' };
  world.kube.put(ETCD_BACKUPS, { apiVersion: TYPE, kind: 'EtcdBackup', metadata, spec, status });
}

export async function sweep(by = world.deps ?? depsOf()): Promise<readonly string[]> {
  const before = world.kube.writes.length;
  const context = {
    deps: by,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  };
  await reconciler.sweepAll(context as unknown as Context<Deps>);
  const own = world.kube.writes.slice(before).filter((one) => !one.includes(' leases '));
  return own.filter((one) => !one.startsWith('create events'));
}

/** The claim, and the Job whose pod would hold it. */
export const UNDONE = [
  'delete persistentvolumeclaims data-main-0',
  expect.stringMatching(/^delete jobs back-/),
];

/** But for those of the status. */
export const made = async (by = world.deps ?? depsOf()): Promise<readonly string[]> =>
  (await sweep(by)).filter((one) => !one.startsWith('apply etcdrestores/status'));

export const all = (resource: string): readonly KubeObject[] => [
  ...world.kube.of(resource).values(),
];
export const statusOf = () => (all('etcdrestores')[0]?.['status'] ?? {}) as EtcdRestoreStatus;

export const reasonOf = (type = 'Complete'): string => {
  const found = statusOf().conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
};

export const messageOf = (): string =>
  statusOf().conditions?.find(({ type }) => type === 'Complete')?.message ?? '';

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: unknown;
  readonly resources: unknown;
}

interface PodSpec {
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly object[];
}

export const podSpec = () => Object(all('jobs')[0]?.['spec']).template.spec as PodSpec;

const ended = (name: string, exitCode: number, message: string) => ({
  name,
  state: { terminated: { exitCode, message, finishedAt: '2026-11-25T04:10:00Z' } },
});

/** As the Job's controller and the kubelet do. */
export function putPod(status: object): void {
  const { name, uid } = theJob().metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
  const labels = { 'batch.kubernetes.io/controller-uid': uid };
  const metadata = { namespace, name: 'pod', labels, ownerReferences: [owner] };
  world.kube.put(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, status });
}

function theJob(): KubeObject {
  const [job] = all('jobs');
  if (job === undefined) throw new Error('there is no Job');
  return job;
}

function endJob(type: 'Complete' | 'Failed', status: object): void {
  putPod(status);
  const condition = { type, status: 'True', lastTransitionTime: '2026-11-25T04:10:00Z' };
  world.kube.put(JOBS, { ...theJob(), status: { conditions: [condition] } });
}

export const succeed = (message = said()): void =>
  endJob('Complete', {
    phase: 'Succeeded',
    initContainerStatuses: [ended('check', 0, saidError('X', 'y')), ended('restore', 0, '')],
    containerStatuses: [ended('confirm', 0, message)],
  });

export const failIn = (name: 'check' | 'restore', message: string): void =>
  endJob('Failed', { phase: 'Failed', initContainerStatuses: [ended(name, 3, message)] });

/** As etcd-cluster says of one that it finds. */
export function putCluster(condition: object): void {
  const [cluster] = all('etcdclusters');
  if (cluster === undefined) throw new Error('there is no EtcdCluster');
  const clusterId = cluster.metadata.annotations?.['ballast.dev/etcd-cluster-id'];
  world.kube.put(ETCD_CLUSTERS, { ...cluster, status: { clusterId, conditions: [condition] } });
}

export const serve = (): void =>
  putCluster({ type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' });

/** As somebody does by hand. */
export function removeAll(resource: string): void {
  for (const { metadata } of all(resource)) {
    world.kube.remove({ group: '', version: '', resource }, { namespace, name: metadata.name });
  }
}

export function put(ref: ResourceRef, kind: string, name: string, more: object = {}): void {
  world.kube.put(ref, { apiVersion: 'v1', kind, metadata: { namespace, name }, ...more });
}
