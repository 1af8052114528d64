// The life of a backup on a model of the API server: killed before and after every write, two at
// once, and its Job deleted by hand. It never has a second Job once one was noted.
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { Deps } from '../../../functions/etcd-backup/deps.ts';
import { reconciler } from '../../../functions/etcd-backup/reconciler.ts';
import { ETCD_BACKUPS, type EtcdBackupStatus } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import type { Context } from '../../../shared/function/define.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import { errorFromAnswer } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { PODS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { NOW_MS, said, saidError, SPEC } from './samples.ts';

const namespace = 'shop';
const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
const BACKUP = { namespace, name: 'now' };
const BORN = { clusterId: 'cdf818194e3a8c32' };
const TLS = { clients: { mode: 'Mutual' } };

let kube: KubeModel;
let deps: Deps;

beforeEach(() => {
  kube = new KubeModel();
  putBackup();
  putCluster({ replicas: 3, tls: TLS });
  deps = depsOf();
});

const depsOf = (): Deps =>
  new Deps(
    {
      kube: kube.client,
      clock: { nowMs: () => NOW_MS, sleep: async () => undefined },
      workMs: 10_000,
      lease: { namespace: 'ballast-system', name: 'ballast-etcd-backup', sweepSeconds: 60 },
    },
    'ours:1',
  );

function putBackup(spec: object = SPEC): void {
  const creationTimestamp = '2026-11-25T04:00:00Z';
  const metadata = { ...BACKUP, creationTimestamp };
  kube.put(ETCD_BACKUPS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata,
    spec,
  });
}

function putCluster(spec: object, status: object = BORN): void {
  const metadata = { namespace, name: 'main' };
  const type = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdCluster' };
  kube.put(ETCD_CLUSTERS, { ...type, metadata, spec, status });
}

async function sweep(by = deps): Promise<readonly string[]> {
  const before = kube.writes.length;
  const context = {
    deps: by,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  };
  await reconciler.sweepAll(context as unknown as Context<Deps>);
  const own = kube.writes.slice(before).filter((one) => !one.includes(' leases '));
  return own.filter((one) => !one.startsWith('create events'));
}

const all = (resource: string): readonly KubeObject[] =>
  [...kube.objects].filter(([key]) => key.startsWith(`${resource}/`)).map(([, one]) => one);
const statusOf = () => (all('etcdbackups')[0]?.['status'] ?? {}) as EtcdBackupStatus;
const reasonOf = (type = 'Complete') => {
  const found = statusOf().conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
};
const argsOf = () => Object(all('jobs')[0]?.['spec']).template.spec.containers[0].args as string[];

/** As the Job's controller and the kubelet do. */
function putPod(status: object, owner: object = {}, name = 'pod'): void {
  const [job] = all('jobs');
  if (job === undefined) throw new Error('there is no Job');
  const { name: jobName, uid } = job.metadata;
  kube.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      labels: { 'batch.kubernetes.io/controller-uid': uid },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: jobName, uid, controller: true, ...owner },
      ],
    },
    status,
  });
}

const NOW = '2026-11-25T04:10:00Z';

const ended = (message: string, exitCode = 0) => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  containerStatuses: [
    { state: { terminated: { exitCode, message, finishedAt: '2026-11-25T04:10:00Z' } } },
  ],
});

function endJob(type: 'Complete' | 'Failed'): void {
  const [found] = all('jobs');
  if (found === undefined) throw new Error('there is no Job');
  const condition = { type, status: 'True', lastTransitionTime: '2026-11-25T04:10:00Z' };
  kube.put(JOBS, { ...found, status: { conditions: [condition] } });
}

const locationOf = (): string => statusOf().location ?? '';

/** As somebody does by hand. */
function removeAll(resource: string): void {
  for (const key of kube.objects.keys()) {
    const [of = '', , name = ''] = key.split('/');
    if (of === resource) kube.remove({ group: '', version: '', resource }, { namespace, name });
  }
}

test('the Job is made, its uid is noted, and the end of it is written once', async () => {
  const [made, ...more] = await sweep();
  expect(made).toMatch(/^create jobs now-/);
  expect(more).toEqual(['apply etcdbackups/status now']);
  expect(argsOf()).toContain('--etcd=https://main.shop.svc:2379');
  expect(await sweep()).toEqual([]);
  putPod(ended(said({}, locationOf())));
  endJob('Complete');
  expect(await sweep()).toEqual(['apply etcdbackups/status now']);
  expect(statusOf()).toMatchObject({ phase: 'Complete', backup: { keys: 5 } });
  const reads = kube.reads;
  expect(await sweep()).toEqual([]);
  // The list alone.
  expect(kube.reads).toBe(reads + 1);
  removeAll('jobs');
  expect(await sweep()).toEqual([]);
});

test('killed before and after each write, it has one Job and the same end', async () => {
  const whole = new Set<string>();
  for (let at = 0; at < 12; at += 1) {
    kube = new KubeModel();
    putBackup();
    putCluster({ replicas: 3, tls: TLS });
    let left = at;
    kube.aroundWrite = () => {
      left -= 1;
      if (left === -1) throw new Error('killed');
    };
    for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    putPod(ended(said({}, locationOf())));
    endJob('Complete');
    for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    whole.add(`${all('jobs').length} ${statusOf().phase} ${statusOf().backup?.keys}`);
    expect(kube.writes.filter((one) => one.startsWith('create jobs'))).toHaveLength(1);
  }
  expect([...whole]).toEqual(['1 Complete 5']);
});

test('two functions at once make one Job', async () => {
  await Promise.all([sweep(), sweep(depsOf())]);
  expect(all('jobs')).toHaveLength(1);
  expect(statusOf().phase).toBe('Running');
});

test('a Job that was deleted by hand is not made again', async () => {
  await sweep();
  removeAll('jobs');
  expect(await sweep()).toEqual(['apply etcdbackups/status now']);
  expect(reasonOf()).toBe('False JobGone');
  expect(all('jobs')).toEqual([]);
  expect(await sweep()).toEqual([]);
});

test('a Job of the name that is not ours is left alone', async () => {
  const { uid = '' } = all('etcdbackups')[0]?.metadata ?? {};
  const metadata = { namespace, name: `now-${uid}` };
  kube.put(JOBS, { apiVersion: 'batch/v1', kind: 'Job', metadata, status: {} });
  expect(await sweep()).toEqual(['apply etcdbackups/status now']);
  expect(reasonOf('Degraded')).toBe('True NameTaken');
});

test.each<[string, object, object]>([
  ['which has no member yet', { replicas: 3, tls: TLS }, {}],
  ['which hibernates', { replicas: 0, tls: TLS }, BORN],
])('it waits for its EtcdCluster, %s', async (_, spec, status) => {
  putCluster(spec, status);
  await sweep();
  expect(reasonOf()).toBe('False EtcdClusterAway');
  putCluster({ replicas: 1, tls: TLS });
  await sweep();
  expect(all('jobs')).toHaveLength(1);
});

test('it waits for an EtcdCluster that is not there, and says which', async () => {
  removeAll('etcdclusters');
  await sweep();
  expect(reasonOf()).toBe('False EtcdClusterMissing');
  expect(statusOf().conditions?.[0]?.message).toContain('EtcdCluster shop/main');
});

test.each<[object, readonly (string | RegExp)[]]>([
  [{ replicas: 1, tls: { clients: { mode: 'None' } } }, ['--etcd=http://main.shop.svc:2379']],
  [{ replicas: 1, tls: TLS, auth: {} }, ['--user=root']],
])('the EtcdCluster %j is reached with %j', async (spec, args) => {
  putCluster(spec);
  await sweep();
  expect(argsOf()).toEqual(expect.arrayContaining([...args]));
});

test.each<[string, object, string]>([
  ['main-client', { replicas: 1, tls: TLS }, 'tls'],
  ['mine', { replicas: 1, tls: { clients: { mode: 'Mutual', secretName: 'mine' } } }, 'tls'],
  ['main-root', { replicas: 1, tls: TLS, auth: {} }, 'login'],
])('Secret %s is mounted for %j', async (secretName, spec, name) => {
  putCluster(spec);
  await sweep();
  const { volumes } = Object(all('jobs')[0]?.['spec']).template.spec;
  expect(volumes).toContainEqual({ name, secret: expect.objectContaining({ secretName }) });
});

test('a pod that is not of the Job is not believed', async () => {
  await sweep();
  putPod(ended(said({ keys: 666 }, locationOf())), { uid: 'another' }, 'forged');
  putPod(ended(said({ keys: 667 }, locationOf())), { controller: false }, 'forged-too');
  putPod(ended(said({}, locationOf())));
  endJob('Complete');
  await sweep();
  expect(statusOf()).toMatchObject({ phase: 'Complete', backup: { keys: 5 } });
});

test.each<[string, string]>([
  ['is too long', said({ more: 'x'.repeat(5_000) })],
  ['was never written', ''],
])('a message that %s makes no backup', async (_, message) => {
  await sweep();
  putPod(ended(message));
  endJob('Complete');
  await sweep();
  expect(reasonOf()).toBe('False ResultLost');
});

test('a failed Job ends it with the error of its pod', async () => {
  await sweep();
  putPod(ended(saidError('S3_REFUSED', 'No rights.'), 1));
  endJob('Failed');
  await sweep();
  expect(statusOf()).toMatchObject({ phase: 'Failed', error: { code: 'S3_REFUSED' } });
  expect(await sweep()).toEqual([]);
});

test('one that is stored and to be rehearsed says so, also when its time is over', async () => {
  putCluster({ replicas: 1, tls: TLS, image: 'quay.io/coreos/etcd:v3.6.16', quota: '2Gi' });
  putBackup({ ...SPEC, rehearsal: {} });
  await sweep();
  const { initContainers } = Object(all('jobs')[0]?.['spec']).template.spec;
  expect(initContainers[2].image).toBe('quay.io/coreos/etcd:v3.6.16');
  const terminated = { exitCode: 0, message: said({}, locationOf()), finishedAt: NOW };
  putPod({
    phase: 'Running',
    initContainerStatuses: [
      { name: 'backup', state: { terminated } },
      { name: 'check', state: { running: {} } },
    ],
  });
  await sweep();
  expect(statusOf()).toMatchObject({ phase: 'Running', backup: { keys: 5 } });
  expect(await sweep()).toEqual([]);
  removeAll('pods');
  const [job] = all('jobs');
  const late = { type: 'Failed', status: 'True', reason: 'DeadlineExceeded' };
  kube.put(JOBS, { ...job, status: { conditions: [late] } } as KubeObject);
  await sweep();
  expect(reasonOf()).toBe('False RehearsalFailed');
  expect(statusOf()).toMatchObject({ phase: 'Failed', backup: { keys: 5 } });
});

test('what cannot be mounted is said, by the newest warning about the pod', async () => {
  await sweep();
  putPod({ phase: 'Pending' });
  const { uid = '' } = all('pods')[0]?.metadata ?? {};
  const event = (name: string, lastTimestamp: string, message: string, more: object = {}) => {
    const about = { involvedObject: { uid }, type: 'Warning', lastTimestamp, message, ...more };
    const metadata = { namespace, name };
    kube.put(EVENTS, { apiVersion: 'v1', kind: 'Event', metadata, ...about });
  };
  event('a', '2026-11-25T04:00:01Z', 'old');
  event('b', '2026-11-25T04:00:02Z', 'secret "main-client"\nnot found');
  event('c', '2026-11-25T04:00:03Z', 'all is well', { type: 'Normal' });
  event('d', '2026-11-25T04:00:03Z', 'of another', { involvedObject: { uid: 'other' } });
  await sweep();
  expect(reasonOf()).toBe('False PodWaits');
  expect(statusOf().conditions?.[0]?.message).toBe('Pod pod: secret "main-client" not found.');
});

test('rights that lack are told as what they are for a backup', async () => {
  const message =
    'jobs.batch is forbidden: User "x" cannot create resource "jobs" in API group "b"';
  kube.aroundWrite = () => {
    kube.aroundWrite = () => undefined;
    const about = { verb: 'create', ref: JOBS } as const;
    throw errorFromAnswer(about, { statusCode: 403, reason: 'Forbidden', message, causes: [] });
  };
  await sweep();
  expect(reasonOf()).toBe('False RightsMissing');
  const [told] = statusOf().conditions ?? [];
  expect(told?.message).toMatch(/No Job is made, .* npm run -s rights -- etcd-backup -n shop/);
  expect(told?.message).not.toContain('servers');
});

test('a Job that gets no pod says why, by the newest warning about it', async () => {
  await sweep();
  const { uid = '' } = all('jobs')[0]?.metadata ?? {};
  kube.put(EVENTS, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: 'refused' },
    involvedObject: { uid },
    type: 'Warning',
    lastTimestamp: '2026-11-25T04:00:01Z',
    message: 'Error creating: pods "now-x" is forbidden: exceeded quota: few.',
  });
  await sweep();
  expect(reasonOf()).toBe('False PodRefused');
  expect(statusOf().conditions?.[0]?.message).toMatch(
    /^Job now-\S+ gets no pod: Error creating: .* exceeded quota: few\.$/,
  );
  putPod({ phase: 'Running' });
  await sweep();
  expect(reasonOf()).toBe('False Running');
});

test('a Job that somebody has suspended says so, and goes on when it may', async () => {
  await sweep();
  const [job] = all('jobs');
  if (job === undefined) throw new Error('there is no Job');
  kube.put(JOBS, { ...job, spec: { ...Object(job['spec']), suspend: true } });
  await sweep();
  expect(reasonOf()).toBe('False JobSuspended');
  expect(reasonOf('Degraded')).toBe('True JobSuspended');
  kube.put(JOBS, job);
  await sweep();
  expect(reasonOf()).toBe('False Running');
});

test('a pod that was killed says so by the word of the kubelet', async () => {
  await sweep();
  const terminated = { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-11-25T04:10:00Z' };
  putPod({ phase: 'Failed', containerStatuses: [{ state: { terminated } }] });
  endJob('Failed');
  await sweep();
  expect(statusOf().conditions?.[0]?.message).toContain('spec.resources.limits.memory');
});

test('the pod that succeeded is found behind any number that were evicted', async () => {
  await sweep();
  for (let index = 0; index < 60; index += 1) {
    putPod({ phase: 'Failed', reason: 'Evicted' }, {}, `a-${index}`);
  }
  putPod(ended(said({}, locationOf())), {}, 'z');
  endJob('Complete');
  await sweep();
  expect(statusOf()).toMatchObject({ phase: 'Complete', backup: { keys: 5 } });
});
