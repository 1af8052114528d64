// Others take names and delete objects while a restore runs. Theirs stay as
// they are, and nothing but its own claim and Job is taken back.
import { beforeEach, expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { saidError } from './samples.ts';
import {
  all,
  begin,
  failIn,
  made,
  messageOf,
  put,
  reasonOf,
  removeAll,
  statusOf,
  succeed,
  sweep,
  UNDONE,
  world,
} from './world.ts';

beforeEach(() => begin());

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
    expect(world.kube.of(ref.resource).has(`${ref.resource}/shop/${name}`)).toBe(true);
  },
);

test('an EtcdCluster that comes right before ours is neither changed nor used', async () => {
  await sweep();
  succeed();
  const create = world.kube.create.bind(world.kube);
  world.kube.create = async (ref, manifest, options) => {
    if (ref.resource === 'etcdclusters' && options?.dryRun !== true) {
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
  world.kube.aroundWrite = () => {
    // Between the note of its uid and the handing over.
    if (statusOf().etcdCluster === undefined) return;
    world.kube.aroundWrite = () => undefined;
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
