// Pods and claims whose label somebody took off: what they keep from being done, and what is told.
import { expect, test } from 'vitest';
import { findStrays } from '../../../functions/etcd-cluster/strays.ts';
import type { Stray } from '../../../functions/etcd-cluster/state.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { forgotten, shown } from './rows.ts';
import { type Differences, NOW_MS, silent, state } from './samples.ts';

const pod = (peer: string): Stray => ({ peer, kind: 'Pod', name: `${peer}-0`, isReady: true });
const claim = (peer: string): Stray => ({
  peer,
  kind: 'Claim',
  name: `data-${peer}`,
  clusterId: 'c1',
});

const without =
  (peer: string) =>
  <Named extends { readonly name: string }>(found: readonly Named[]): readonly Named[] =>
    found.filter(({ name }) => ![peer, `${peer}-0`, `data-${peer}`].includes(name));

const unlabelled: Differences = {
  strays: [pod('etcd-1')],
  pods: without('etcd-1'),
  etcd: silent('etcd-1'),
};

test('the member of a pod without its label is away, and the line that mends it is told', () => {
  expect(shown(state(unlabelled))).toBe('wait: Nothing [LabelLost]');
  expect(decide(state(unlabelled)).waitsFor?.message).toContain(
    'kubectl -n shop label pod etcd-1-0 ballast.dev/etcd-cluster=etcd --overwrite',
  );
});

test('a member of which such a pod or claim is left is not taken for vanished', () => {
  const vanished: Differences = {
    peers: without('etcd-1'),
    pods: without('etcd-1'),
    claims: without('etcd-1'),
    etcd: silent('etcd-1'),
  };
  expect(shown(state(vanished))).toBe('write-records: Replace etcd-1');
  expect(shown(state({ ...vanished, strays: [pod('etcd-1')] }))).not.toContain('Replace');
  expect(shown(state({ ...vanished, strays: [claim('etcd-1')] }))).not.toContain('Replace');
});

test('a member that leaves waits for such a pod, and keeps its claim until then', () => {
  const leaving = {
    peer: 'etcd-2',
    peerUid: 'peer of etcd-2',
    memberId: '1002',
    claim: 'data-etcd-2',
    claimUid: 'claim of etcd-2',
    reason: 'ScaleDown',
    since: new Date(NOW_MS).toISOString(),
  };
  const left: Differences = {
    status: { leaving },
    peers: without('etcd-2'),
    pods: without('etcd-2'),
    etcd: forgotten('1002'),
  };
  expect(shown(state(left))).toBe('delete-claim: Take etcd-2 away');
  const held = { ...left, strays: [pod('etcd-2')] };
  expect(shown(state(held))).toBe('wait: Take etcd-2 away [LabelLost]');
});

test('a new member does not get the name of such a claim', () => {
  const growing: Differences = { spec: { replicas: 5 }, ordinals: [0, 1, 2] };
  expect(shown(state(growing))).toBe('add-learner: Add etcd-3, member 4 of 5');
  const taken = { ...growing, strays: [claim('etcd-3')] };
  expect(shown(state(taken))).toBe('add-learner: Add etcd-4, member 4 of 5');
});

test('nobody is born beside such a claim', () => {
  const unborn: Differences = {
    without: ['clusterId', 'bootstrap'],
    spec: { replicas: 3 },
    ordinals: [],
  };
  expect(shown(state(unborn))).toBe('write-records: Start etcd-0, the first member');
  const beside = { ...unborn, strays: [claim('etcd-2')] };
  expect(shown(state(beside))).toBe('wait: Start the first member [LabelLost] !LabelLost');
  const foreign = { ...claim('etcd-2'), clusterId: undefined };
  expect(shown(state({ ...unborn, strays: [foreign] }))).toMatch(/^write-records: Start etcd-0/);
});

test('before a birth nobody is looked up while parts are still to be made', async () => {
  const kube = new KubeModel();
  const deps = { kube: kube.client, clock: { nowMs: () => NOW_MS, sleep: async () => undefined } };
  const unborn = state({ without: ['clusterId', 'bootstrap'], ordinals: [] });
  const { signal } = new AbortController();
  const lacking = { reason: 'NameTaken', message: 'It is not ours.' };
  await findStrays(deps, { ...unborn, parts: { ...unborn.parts, lacking } }, signal);
  expect(kube.reads).toBe(0);
  await findStrays(deps, unborn, signal);
  expect(kube.reads).toBe(2 * 16);
});

test('only names that no list has are looked up, and one with its label is no stray', async () => {
  const kube = new KubeModel();
  const put = (ref: ResourceRef, name: string, labels: Record<string, string>) =>
    kube.put(ref, {
      apiVersion: 'v1',
      kind: 'Any',
      metadata: { namespace: 'shop', name, labels },
    });
  put(PODS, 'etcd-1-0', {});
  put(PODS, 'etcd-2-0', { 'ballast.dev/etcd-cluster': 'etcd' });
  put(CLAIMS, 'data-etcd-2', { 'ballast.dev/etcd-cluster': 'other' });
  const deps = { kube: kube.client, clock: { nowMs: () => NOW_MS, sleep: async () => undefined } };
  const find = (differences: Differences) =>
    findStrays(deps, state(differences), new AbortController().signal);
  expect(await find({})).toEqual([]);
  expect(kube.reads).toBe(0);
  const found = await find({
    pods: (pods) => pods.slice(0, 1),
    claims: (claims) => claims.slice(0, 2),
  });
  expect(found.map(({ name }) => name)).toEqual(['etcd-1-0', 'data-etcd-2']);
  put(CLAIMS, 'data-etcd-9', {});
  const before = await find({ without: ['clusterId', 'bootstrap'], ordinals: [] });
  expect(before.map(({ name }) => name)).toContain('data-etcd-9');
});
