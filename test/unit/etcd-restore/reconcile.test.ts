// The life of a restore on a model of the API server: killed before and after every write, names
// that are taken at any time, and what people delete in between. It makes one claim, one Job and
// one EtcdCluster, and deletes nothing but that claim.
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { Deps } from '../../../functions/etcd-restore/deps.ts';
import { reconciler } from '../../../functions/etcd-restore/reconciler.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { ETCD_RESTORES, type EtcdRestoreStatus } from '../../../shared/api/etcd-restore.ts';
import type { Context } from '../../../shared/function/define.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import {
  BACKUP_SPEC,
  BACKUP_STATUS,
  clusterSpec,
  LOCATION,
  NOW_MS,
  said,
  saidError,
  SHA256,
  SPEC,
} from './samples.ts';

const namespace = 'shop';
const TYPE = 'ballast.dev/v1alpha1';

let kube: KubeModel;
let deps: Deps;

beforeEach(() => begin());

function begin(spec: object = {}): void {
  kube = new KubeModel();
  putBackup();
  const creationTimestamp = '2026-11-25T04:00:00Z';
  const metadata = { namespace, name: 'back', creationTimestamp };
  kube.put(ETCD_RESTORES, {
    apiVersion: TYPE,
    kind: 'EtcdRestore',
    metadata,
    spec: { ...SPEC, ...spec },
  });
  deps = depsOf();
}

const depsOf = (): Deps =>
  new Deps(
    {
      kube: kube.client,
      clock: { nowMs: () => NOW_MS, sleep: async () => undefined },
      workMs: 10_000,
      lease: { namespace: 'ballast-system', name: 'ballast-etcd-restore', sweepSeconds: 60 },
    },
    'ours:1',
  );

function putBackup(status: object = BACKUP_STATUS, spec: object = BACKUP_SPEC): void {
  const metadata = { namespace, name: 'last' };
  kube.put(ETCD_BACKUPS, { apiVersion: TYPE, kind: 'EtcdBackup', metadata, spec, status });
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

/** The claim, and the Job whose pod would hold it. */
const UNDONE = [
  'delete persistentvolumeclaims data-main-0',
  expect.stringMatching(/^delete jobs back-/),
];

/** But for those of the status. */
const made = async (by = deps): Promise<readonly string[]> =>
  (await sweep(by)).filter((one) => !one.startsWith('apply etcdrestores/status'));

const all = (resource: string): readonly KubeObject[] => [...kube.of(resource).values()];
const statusOf = () => (all('etcdrestores')[0]?.['status'] ?? {}) as EtcdRestoreStatus;

const reasonOf = (type = 'Complete'): string => {
  const found = statusOf().conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
};

const messageOf = (): string =>
  statusOf().conditions?.find(({ type }) => type === 'Complete')?.message ?? '';

interface PodSpec {
  readonly initContainers: readonly { readonly args: readonly string[]; readonly env: unknown }[];
  readonly volumes: readonly object[];
}

const podSpec = () => Object(all('jobs')[0]?.['spec']).template.spec as PodSpec;

const ended = (name: string, exitCode: number, message: string) => ({
  name,
  state: { terminated: { exitCode, message, finishedAt: '2026-11-25T04:10:00Z' } },
});

/** As the Job's controller and the kubelet do. */
function endJob(type: 'Complete' | 'Failed', status: object): void {
  const [job] = all('jobs');
  if (job === undefined) throw new Error('there is no Job');
  const { name, uid } = job.metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
  const labels = { 'batch.kubernetes.io/controller-uid': uid };
  const metadata = { namespace, name: 'pod', labels, ownerReferences: [owner] };
  kube.put(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, status });
  const condition = { type, status: 'True', lastTransitionTime: '2026-11-25T04:10:00Z' };
  kube.put(JOBS, { ...job, status: { conditions: [condition] } });
}

const succeed = (message = said()): void =>
  endJob('Complete', {
    phase: 'Succeeded',
    initContainerStatuses: [ended('check', 0, saidError('X', 'y')), ended('restore', 0, '')],
    containerStatuses: [ended('confirm', 0, message)],
  });

const failIn = (name: 'check' | 'restore', message: string): void =>
  endJob('Failed', { phase: 'Failed', initContainerStatuses: [ended(name, 3, message)] });

/** As etcd-cluster does with one that it finds. */
function serve(): void {
  const [cluster] = all('etcdclusters');
  if (cluster === undefined) throw new Error('there is no EtcdCluster');
  const clusterId = cluster.metadata.annotations?.['ballast.dev/etcd-cluster-id'];
  const ready = { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' };
  kube.put(ETCD_CLUSTERS, { ...cluster, status: { clusterId, conditions: [ready] } });
}

/** As somebody does by hand. */
function removeAll(resource: string): void {
  for (const { metadata } of all(resource)) {
    kube.remove({ group: '', version: '', resource }, { namespace, name: metadata.name });
  }
}

function put(ref: ResourceRef, kind: string, name: string, more: object = {}): void {
  kube.put(ref, { apiVersion: 'v1', kind, metadata: { namespace, name }, ...more });
}

test('claim, Job and EtcdCluster are made, and the claim is handed over', async () => {
  const [claim, job, ...more] = await made();
  expect(claim).toBe('create persistentvolumeclaims data-main-0');
  expect(job).toMatch(/^create jobs back-/);
  expect(more).toEqual([]);
  const unowned = all('persistentvolumeclaims')[0]?.metadata;
  expect(unowned?.labels).toEqual(expect.objectContaining({ 'ballast.dev/etcd-restore': 'back' }));
  expect(unowned?.labels).not.toHaveProperty('ballast.dev/etcd-cluster');
  expect(await made()).toEqual([]);
  succeed();
  expect(await made()).toEqual([
    expect.stringMatching(/^delete jobs back-/),
    'create etcdclusters main',
    'patch persistentvolumeclaims data-main-0',
  ]);
  const { clusterId = '', etcdCluster } = statusOf();
  const [cluster] = all('etcdclusters');
  expect(cluster?.metadata.annotations).toEqual({ 'ballast.dev/etcd-cluster-id': clusterId });
  expect(cluster?.metadata.uid).toBe(etcdCluster?.uid);
  const { metadata } = all('persistentvolumeclaims')[0] ?? {};
  expect(metadata?.annotations).toMatchObject({
    'ballast.dev/etcd-cluster-id': clusterId,
    'ballast.dev/etcd-version': '3.6.16',
    'ballast.dev/etcd-born': '3.6.16',
  });
  expect(metadata?.labels).toMatchObject({
    'ballast.dev/etcd-cluster': 'main',
    'ballast.dev/etcd-peer': 'main-0',
  });
  expect(metadata).toMatchObject({ ownerReferences: null });
  expect([statusOf().phase, reasonOf()]).toEqual(['Starting', 'False EtcdClusterStarting']);
  serve();
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Complete', 'True Restored']);
  expect(messageOf()).toContain(
    'has 5 keys as of revision 6, and counts on from revision 1000000006',
  );
  removeAll('jobs');
  removeAll('etcdclusters');
  expect(await sweep()).toEqual([]);
});

test('killed before and after each write, it makes each once and comes to its end', async () => {
  const ends = new Set<string>();
  for (let at = 0; at < 40; at += 1) {
    begin();
    let left = at;
    kube.aroundWrite = () => {
      left -= 1;
      if (left === -1) throw new Error('killed');
    };
    const live = async (): Promise<void> => {
      for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    };
    await live();
    succeed();
    await live();
    serve();
    await live();
    const writes = kube.writes.filter((one) => !/^(apply|create events)/.test(one));
    const shown = writes.map((one) => one.replace(/ back-.*/, ''));
    ends.add([...shown, statusOf().phase].join(', '));
  }
  expect([...ends]).toEqual([
    'create persistentvolumeclaims data-main-0, create jobs, delete jobs, ' +
      'create etcdclusters main, patch persistentvolumeclaims data-main-0, Complete',
  ]);
});

test('killed before and after each write of a failure, nothing is left', async () => {
  const ends = new Set<string>();
  for (let at = 0; at < 30; at += 1) {
    begin();
    let left = at;
    kube.aroundWrite = () => {
      left -= 1;
      if (left === -1) throw new Error('killed');
    };
    for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    failIn('check', saidError('BACKUP_CHANGED', 'It was changed.'));
    for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    const left_ = [all('persistentvolumeclaims').length, all('etcdclusters').length];
    ends.add(`${left_.join()} ${statusOf().phase} ${reasonOf()} ${statusOf().error?.code}`);
  }
  expect([...ends]).toEqual(['0,0 Failed False RestoreFailed BACKUP_CHANGED']);
});

test('two functions at once make one of each', async () => {
  await Promise.all([sweep(), sweep(depsOf())]);
  succeed();
  await Promise.all([sweep(), sweep(depsOf())]);
  await sweep();
  const created = kube.writes.filter((one) => /^create (?!events)/.test(one));
  expect(created.map((one) => one.replace(/ \S+$/, '')).toSorted()).toEqual([
    'create etcdclusters',
    'create jobs',
    'create persistentvolumeclaims',
  ]);
  expect(statusOf().phase).toBe('Starting');
});

const names: readonly [string, ResourceRef, string, string][] = [
  ['EtcdCluster main', ETCD_CLUSTERS, 'EtcdCluster', 'main'],
  ['EtcdPeer main-3', ETCD_PEERS, 'EtcdPeer', 'main-3'],
  ['StatefulSet main-15', STATEFUL_SETS, 'StatefulSet', 'main-15'],
  ['claim data-main-0', CLAIMS, 'PersistentVolumeClaim', 'data-main-0'],
  ['claim data-main-2', CLAIMS, 'PersistentVolumeClaim', 'data-main-2'],
];

test.each(names)('%s is there: nothing is made, and it is over', async (what, ref, kind, name) => {
  put(ref, kind, name);
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False NameTaken']);
  expect(messageOf()).toContain(`there is already: ${what}.`);
  removeAll(ref.resource);
  expect(await sweep()).toEqual([]);
});

test.each(names.filter(([what]) => what !== 'claim data-main-0'))(
  '%s comes while it is restored: that stays, and our claim goes',
  async (what, ref, kind, name) => {
    await sweep();
    put(ref, kind, name);
    succeed();
    expect(await made()).toEqual(UNDONE);
    expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False NameTaken']);
    expect(messageOf()).toContain(`there is already: ${what}.`);
    expect(kube.of(ref.resource).has(`${ref.resource}/shop/${name}`)).toBe(true);
  },
);

test('an EtcdCluster that comes right before ours is neither changed nor used', async () => {
  await sweep();
  succeed();
  const create = kube.create.bind(kube);
  kube.create = async (ref, manifest, options: { dryRun?: boolean } = {}) => {
    if (ref.resource === 'etcdclusters' && options.dryRun !== true) {
      put(ETCD_CLUSTERS, 'EtcdCluster', 'main');
    }
    return create(ref, manifest, options);
  };
  expect(await made()).toEqual(UNDONE.toReversed());
  expect(reasonOf()).toBe('False NameTaken');
  expect(all('etcdclusters')[0]?.['spec']).toBeUndefined();
});

test('a claim of the name that was made meanwhile by somebody else is never deleted', async () => {
  await sweep();
  removeAll('persistentvolumeclaims');
  put(CLAIMS, 'PersistentVolumeClaim', 'data-main-0');
  failIn('check', saidError('BACKUP_CHANGED', 'It was changed.'));
  expect(await made()).toEqual(UNDONE.slice(1));
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False RestoreFailed']);
  expect(all('persistentvolumeclaims')).toHaveLength(1);
});

test('our claim is deleted by hand: it is over, and no other is made', async () => {
  await sweep();
  removeAll('persistentvolumeclaims');
  expect(await made()).toEqual(UNDONE.slice(1));
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False ClaimGone']);
});

test('the claim is deleted after the EtcdCluster was made: it says what to delete', async () => {
  await sweep();
  succeed();
  await sweep();
  removeAll('persistentvolumeclaims');
  expect(await made()).toEqual([]);
  expect(reasonOf()).toBe('False ClaimGone');
  expect(messageOf()).toContain('Delete EtcdCluster main');
});

test('the EtcdCluster is deleted before it is Ready: the claim stays with its data', async () => {
  await sweep();
  succeed();
  await sweep();
  removeAll('etcdclusters');
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False EtcdClusterGone']);
  expect(messageOf()).toContain('Claim data-main-0 has the restored data');
  expect(all('persistentvolumeclaims')).toHaveLength(1);
});

test('another EtcdCluster of the name in place of ours is not given the claim', async () => {
  await sweep();
  succeed();
  kube.aroundWrite = () => {
    // Between the note of its uid and the handing over.
    if (statusOf().etcdCluster === undefined) return;
    kube.aroundWrite = () => undefined;
    removeAll('etcdclusters');
    put(ETCD_CLUSTERS, 'EtcdCluster', 'main');
  };
  const writes = await made();
  expect(writes.filter((one) => one.startsWith('patch'))).toEqual([]);
  expect(reasonOf()).toBe('False EtcdClusterGone');
  expect(all('persistentvolumeclaims')).toEqual([]);
});

test('a Job that was deleted by hand is not made again, and the claim goes', async () => {
  await sweep();
  removeAll('jobs');
  expect(await made()).toEqual(UNDONE.slice(0, 1));
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False JobGone']);
});

test('while its claim is still being deleted it has not failed yet', async () => {
  await sweep();
  kube.lingers = (resource) => resource === 'persistentvolumeclaims';
  failIn('check', saidError('BACKUP_NEWER', 'It is newer.'));
  await sweep();
  expect([statusOf().phase, reasonOf()]).toEqual(['Running', 'False RestoreFailed']);
  removeAll('persistentvolumeclaims');
  await sweep();
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False RestoreFailed']);
});

test.each<[string, () => void, string]>([
  ['etcdutl', () => failIn('restore', 'panic: no'), 'RESTORE_FAILED'],
  ['the check', () => failIn('check', saidError('BACKUP_NEWER', 'Newer.')), 'BACKUP_NEWER'],
])('the failure of %s is told', async (_, fails, code) => {
  await sweep();
  fails();
  await sweep();
  expect(statusOf().error?.code).toBe(code);
  expect(messageOf()).toMatch(new RegExp(`^${code}: `));
});

test.each<[string, string]>([
  ['has another form', 'done'],
  ['has no facts', said({ sha256: 'none' })],
  ['has no revision', said({}, 6)],
  ['is too long', said({ more: 'x'.repeat(5_000) })],
])('a last word that %s makes no EtcdCluster', async (_, message) => {
  await sweep();
  succeed(message);
  expect(await made()).toEqual(UNDONE);
  expect(reasonOf()).toBe('False ResultLost');
});

test('a dry run makes a Job alone, on a volume that goes with its pod', async () => {
  begin({ dryRun: true });
  const [job, ...more] = await made();
  expect([job?.startsWith('create jobs back-'), more]).toEqual([true, []]);
  expect(podSpec().volumes[0]).toHaveProperty('ephemeral');
  succeed();
  expect(await made()).toEqual(UNDONE.slice(1));
  expect([statusOf().phase, reasonOf()]).toEqual(['Complete', 'True DryRun']);
  expect(all('etcdclusters')).toEqual([]);
});

test('the backup is where its EtcdBackup says, and is to have its sha256', async () => {
  await sweep();
  const { args } = podSpec().initContainers[0] ?? { args: [] };
  expect(args).toEqual(
    expect.arrayContaining([`--from=${LOCATION}`, `--sha256=${SHA256}`, '--etcd-version=3.6.16']),
  );
  expect(args).toContain('--s3-endpoint=https://s3.example:9000');
});

test.each<[string, () => void, string]>([
  ['is not there', () => removeAll('etcdbackups'), 'EtcdBackupMissing'],
  ['runs', () => putBackup({ phase: 'Running', location: LOCATION }), 'EtcdBackupUnfinished'],
])('it waits for an EtcdBackup that %s', async (_, change, reason) => {
  change();
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Pending', `False ${reason}`]);
  putBackup();
  expect(await made()).toHaveLength(2);
});

test.each<[string, object, string]>([
  ['has failed', { phase: 'Failed' }, 'EtcdBackupFailed'],
  ['lies elsewhere', { ...BACKUP_STATUS, location: 's3://others/x' }, 'EtcdBackupUnclear'],
])('an EtcdBackup that %s is refused, and nothing is made', async (_, status, reason) => {
  putBackup(status);
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', `False ${reason}`]);
});

test.each<[string, object]>([
  ['in memory', { storage: { medium: 'Memory', size: '1Gi' } }],
  ['that hibernates', { replicas: 0 }],
])('an EtcdCluster %s is refused, and nothing is made', async (_, changes) => {
  begin({ etcdCluster: { name: 'main', spec: clusterSpec(changes) } });
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False EtcdClusterRefused']);
});

test('an EtcdCluster that the API server refuses is refused before anything is made', async () => {
  kube.refuses = (resource) => resource === 'etcdclusters to be created';
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False EtcdClusterRefused']);
});
