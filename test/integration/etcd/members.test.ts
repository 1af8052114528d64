// Members of a real cluster, changed as an operator does it, and everything that etcd has against
// a change.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { EtcdMember } from '../../../shared/etcd/admin/members.ts';
import { EtcdCluster, type Place } from './cluster.ts';

let cluster: EtcdCluster;
let places: Place[];

beforeAll(async () => {
  cluster = await EtcdCluster.start(3);
  places = [0, 1, 2].map((index) => cluster.placeOf(index));
});

afterAll(async () => {
  await cluster?.stop();
});

const NOT_DONE = { code: 'ETCD_REFUSED', isInDoubt: false };

async function members(isLinearizable = true): Promise<readonly EtcdMember[]> {
  return (await cluster.admin().members.list({ isLinearizable })).members;
}

async function idOf(index: number): Promise<string> {
  const { peerUrl } = cluster.placeOf(index);
  return (await members()).find(({ peerUrls }) => peerUrls.includes(peerUrl))?.id ?? '';
}

/** For five seconds after a member came or went etcd finds its cluster unhealthy. */
async function settled<Result>(change: () => Promise<Result>): Promise<Result> {
  let result: Result | undefined;
  await expect
    .poll(async () => {
      try {
        result = await change();
        return 'done';
      } catch (error) {
        if (isEtcdFailure(error, 'UNHEALTHY')) return 'unhealthy';
        throw error;
      }
    })
    .toBe('done');
  return result as Result;
}

test('members are told by a quorum or by one, each with its own answer about itself', async () => {
  const all = await members();
  expect(all.map(({ name }) => name).toSorted()).toEqual(['member-0', 'member-1', 'member-2']);
  expect(await members(false)).toEqual(all);
  const statuses = await Promise.all([0, 1, 2].map((index) => cluster.at(index).status()));
  expect(new Set(statuses.map(({ header }) => header.clusterId)).size).toBe(1);
  expect(new Set(statuses.map(({ leaderId }) => leaderId)).size).toBe(1);
  expect(statuses.map(({ header }) => header.memberId).toSorted()).toEqual(
    all.map(({ id }) => id).toSorted(),
  );
  for (const status of statuses) {
    expect(status).toMatchObject({ version: expect.stringMatching(/^3\./), alarms: [] });
    expect(status.dbSizeBytes).toBeGreaterThanOrEqual(status.dbSizeInUseBytes);
    expect(status.raftIndex).toBeGreaterThanOrEqual(status.raftAppliedIndex);
    expect(status.raftAppliedIndex).toBeGreaterThan(0);
  }
});

test('a learner comes, catches up, is promoted, and says meanwhile what it cannot do', async () => {
  const { members: door } = cluster.admin();
  const place = await cluster.place();
  const peerUrls = [place.peerUrl];
  const learner = await settled(() => door.addLearner(peerUrls));
  expect(learner).toMatchObject({ name: '', peerUrls, clientUrls: [], isLearner: true });
  await expect(door.addLearner(peerUrls)).rejects.toMatchObject({
    ...NOT_DONE,
    reason: 'MEMBER_EXISTS',
  });
  const one = { ...NOT_DONE, reason: 'TOO_MANY_LEARNERS' };
  await expect(door.addLearner(['http://127.0.0.1:1'])).rejects.toMatchObject(one);
  const early = { ...NOT_DONE, reason: 'LEARNER_NOT_READY' };
  await expect(door.promote(learner.id)).rejects.toMatchObject(early);
  await cluster.run(place, [...places, place], 'existing');
  const asked = cluster.at(3);
  expect((await asked.status()).isLearner).toBe(true);
  const cannot = { ...NOT_DONE, reason: 'NOT_FOR_LEARNERS' };
  await expect(asked.members.list({ isLinearizable: false })).rejects.toMatchObject(cannot);
  await expect(asked.defragment({ timeoutMs: 5_000 })).rejects.toMatchObject(cannot);
  await expect
    .poll(() =>
      door.promote(learner.id).then(
        () => 'done',
        (error: unknown) => isEtcdFailure(error) && error.reason,
      ),
    )
    .toBe('done');
  // It hears of it a moment after those that decided.
  await expect.poll(async () => (await asked.status()).isLearner).toBe(false);
  const voter = { ...NOT_DONE, reason: 'NOT_A_LEARNER' };
  await expect(door.promote(learner.id)).rejects.toMatchObject(voter);
});

test('an address that changes, and a member that leaves, are gone from the list', async () => {
  const { members: door } = cluster.admin();
  const id = await idOf(3);
  const { peerUrl } = cluster.placeOf(3);
  const there = [peerUrl, 'http://127.0.0.1:1'];
  const { members: all } = await door.updatePeerUrls(id, there);
  expect(all.find((one) => one.id === id)?.peerUrls).toEqual(there);
  await settled(() => door.remove(id));
  expect((await members()).map((one) => one.id)).not.toContain(id);
  const unknown = { ...NOT_DONE, reason: 'MEMBER_NOT_FOUND' };
  await expect(door.remove(id)).rejects.toMatchObject(unknown);
  await expect(door.remove('8')).rejects.toMatchObject(unknown);
  await expect(door.updatePeerUrls('8', there)).rejects.toMatchObject(unknown);
  const bad = { ...NOT_DONE, reason: 'BAD_URLS' };
  await expect(door.add(['not a url'])).rejects.toMatchObject(bad);
});

test('where too few have started, none of them may go', async () => {
  const { members: door } = cluster.admin();
  const unstarted = await settled(() => door.add(['http://127.0.0.1:1']));
  expect(unstarted).toMatchObject({ name: '', isLearner: false });
  await settled(async () => door.remove(await idOf(2)));
  const few = { ...NOT_DONE, reason: 'NOT_ENOUGH_STARTED' };
  await expect(door.remove(await idOf(1))).rejects.toMatchObject(few);
  await settled(() => door.remove(unstarted.id));
  expect(await members()).toHaveLength(2);
});

test('without a quorum members are still told, and a change is in doubt', async () => {
  const { members: door } = cluster.at(0);
  const id = await idOf(1);
  await cluster.part(1).kill();
  // Until then etcd takes a change that it can never make, and says nothing.
  await expect.poll(async () => (await cluster.at(0).status()).leaderId).toBeUndefined();
  expect((await cluster.at(0).status()).errors).toContain('etcdserver: no leader');
  const unhealthy = { ...NOT_DONE, reason: 'UNHEALTHY' };
  await expect(door.addLearner(['http://127.0.0.1:1'])).rejects.toMatchObject(unhealthy);
  expect((await door.list({ isLinearizable: false })).members).toHaveLength(2);
  const asked = door.list({ isLinearizable: true, timeoutMs: 1_000 });
  await expect(asked).rejects.toMatchObject({ code: 'ETCD_UNAVAILABLE', isInDoubt: false });
  const there = ['http://127.0.0.1:1'];
  const change = door.updatePeerUrls(id, there, { timeoutMs: 1_000 });
  await expect(change).rejects.toMatchObject({ code: 'ETCD_IN_DOUBT', isInDoubt: true });
});
