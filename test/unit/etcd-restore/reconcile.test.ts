// The life of a restore on a model of the API server, killed before and after every write: it makes
// one claim, one Job and one EtcdCluster, and nothing is left of one that fails.
import { beforeEach, expect, test } from 'vitest';
import {
  clusterSpec,
  BACKUP_SPEC,
  BACKUP_STATUS,
  LOCATION,
  said,
  saidError,
  SHA256,
} from './samples.ts';
import {
  all,
  begin,
  depsOf,
  failIn,
  made,
  messageOf,
  podSpec,
  putBackup,
  putCluster,
  putPod,
  reasonOf,
  removeAll,
  serve,
  statusOf,
  succeed,
  sweep,
  UNDONE,
  world,
} from './world.ts';

const WAITS = { state: { waiting: { reason: 'ImagePullBackOff', message: 'nobody has it' } } };
const INITIAL = { state: { waiting: { reason: 'PodInitializing' } } };
const ENDED = { state: { terminated: { exitCode: 0 } } };

beforeEach(() => begin());

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
  expect(metadata).toBeDefined();
  expect(metadata?.ownerReferences).toBeUndefined();
  expect([statusOf().phase, reasonOf()]).toEqual(['Starting', 'False EtcdClusterStarting']);
  putCluster({ type: 'Degraded', status: 'True', reason: 'PodWaits', message: 'No room.' });
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Starting', 'False EtcdClusterDegraded']);
  expect(messageOf()).toContain('EtcdCluster main starts on what was restored: No room.');
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

const KEY = '--encrypt-key-file=/etc/ballast/encryption/key';
const keyVolume = (secretName: string, key: string) => ({
  name: 'encryption',
  secret: { secretName, items: [{ key, path: 'key' }] },
});

test.each<[string, object, object]>([
  ['that of its EtcdBackup', {}, keyVolume('then', 'key')],
  ['another one', { encryption: { secretName: 'now', key: 'old' } }, keyVolume('now', 'old')],
])('the key is %s, and the check alone has it', async (_, more, volume) => {
  begin({ source: { etcdBackup: { name: 'last' }, ...more } });
  const encryption = { secretName: 'then', key: 'key' };
  putBackup(BACKUP_STATUS, { ...BACKUP_SPEC, encryption });
  await sweep();
  const { volumes, initContainers } = podSpec();
  expect(volumes).toContainEqual(volume);
  expect(initContainers.map(({ args }) => args.includes(KEY))).toEqual([true, false]);
  const mounted = initContainers.map((one) => JSON.stringify(one).includes('"encryption"'));
  expect(mounted).toEqual([true, false]);
});

/** Dozens of lives, on a machine that does something else as well. */
const LIVES_TIMEOUT_MS = 60_000;

test(
  'killed before and after each write, it makes each once and comes to its end',
  async () => {
    const ends = new Set<string>();
    for (let at = 0; at < 40; at += 1) {
      begin();
      let left = at;
      world.kube.aroundWrite = () => {
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
      const writes = world.kube.writes.filter((one) => !/^(apply|create events)/.test(one));
      const shown = writes.map((one) => one.replace(/ back-.*/, ''));
      ends.add([...shown, statusOf().phase].join(', '));
    }
    expect([...ends]).toEqual([
      'create persistentvolumeclaims data-main-0, create jobs, delete jobs, ' +
        'create etcdclusters main, patch persistentvolumeclaims data-main-0, Complete',
    ]);
  },
  LIVES_TIMEOUT_MS,
);

test('killed before and after each write of a failure, nothing is left', async () => {
  const ends = new Set<string>();
  for (let at = 0; at < 30; at += 1) {
    begin();
    let left = at;
    world.kube.aroundWrite = () => {
      left -= 1;
      if (left === -1) throw new Error('killed');
    };
    for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    failIn('check', saidError('BACKUP_CHANGED', 'It was changed.'));
    for (let life = 0; life < 3; life += 1) await sweep(depsOf()).catch(() => undefined);
    const found = [all('persistentvolumeclaims').length, all('etcdclusters').length];
    ends.add(`${found.join()} ${statusOf().phase} ${reasonOf()} ${statusOf().error?.code}`);
  }
  expect([...ends]).toEqual(['0,0 Failed False RestoreFailed BACKUP_CHANGED']);
});

test('two functions at once make one of each', async () => {
  await Promise.all([sweep(), sweep(depsOf())]);
  succeed();
  await Promise.all([sweep(), sweep(depsOf())]);
  await sweep();
  const created = world.kube.writes.filter((one) => /^create (?!events)/.test(one));
  expect(created.map((one) => one.replace(/ \S+$/, '')).toSorted()).toEqual([
    'create etcdclusters',
    'create jobs',
    'create persistentvolumeclaims',
  ]);
  expect(statusOf().phase).toBe('Starting');
});

test('while its claim is still being deleted it has not failed yet', async () => {
  await sweep();
  world.kube.lingers = (resource) => resource === 'persistentvolumeclaims';
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

test.each<[string, object]>([
  ['check', { initContainerStatuses: [WAITS], containerStatuses: [INITIAL] }],
  ['restore', { initContainerStatuses: [ENDED, WAITS], containerStatuses: [INITIAL] }],
  ['confirm', { initContainerStatuses: [ENDED, ENDED], containerStatuses: [WAITS] }],
])('why its container %s waits is told', async (_, statuses) => {
  await sweep();
  putPod({ phase: 'Pending', ...statuses });
  await sweep();
  expect(reasonOf()).toBe('False ImagePullBackOff');
  expect(messageOf()).toContain('nobody has it');
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

test('it is told where a backup is stored whose rehearsal failed', async () => {
  putBackup({ ...BACKUP_STATUS, phase: 'Failed' });
  await made();
  expect(messageOf()).toContain(`is stored at ${LOCATION}, and its rehearsal failed`);
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
  world.kube.refuses = (resource) => resource === 'etcdclusters to be created';
  expect(await made()).toEqual([]);
  expect([statusOf().phase, reasonOf()]).toEqual(['Failed', 'False EtcdClusterRefused']);
});
