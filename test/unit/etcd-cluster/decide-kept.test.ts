// Which step comes next for members that stay: lost ones, restarts and hibernation, as tables.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { restartBlockers } from '../../../functions/etcd-cluster/safety.ts';
import type { State } from '../../../functions/etcd-cluster/state.ts';
import { forgotten, outdated, type Row, shown } from './rows.ts';
import { joining, NOW_MS, noQuorum, silent, state, withLearner } from './samples.ts';

const but =
  (name: string) =>
  <One extends { readonly name: string }>(all: readonly One[]): readonly One[] =>
    all.filter((one) => one.name !== name);
const ending =
  (name: string) =>
  (claims: State['claims']): State['claims'] =>
    claims.map((one) => ({ ...one, isEnding: one.name === name }));
const unmarked =
  (name: string) =>
  (claims: State['claims']): State['claims'] =>
    claims.map((one) => (one.name === name ? { ...one, clusterId: undefined } : one));
const lostRecord = {
  peer: 'etcd-1',
  peerUid: 'peer of etcd-1',
  memberId: '1001',
  reason: 'Why.',
  since: '2026-01-01T23:59:00Z',
};

const LOST: readonly Row[] = [
  [
    'a member whose volume is lost is recorded, to be replaced',
    { lost: { 'etcd-1': 'Why.' }, etcd: silent('etcd-1') },
    'write-records: Replace etcd-1',
  ],
  [
    'one that answers is not, whatever its volume is said to be',
    { lost: { 'etcd-1': 'Why.' } },
    'wait: Nothing',
  ],
  [
    'not while another one is away too',
    { lost: { 'etcd-1': 'Why.' }, etcd: silent('etcd-1', 'etcd-2') },
    'wait: Replace etcd-1 [MemberSilent]',
  ],
  [
    'the claim of a member that somebody removed is kept aside',
    { etcd: forgotten('1001') },
    'mark-claim: Keep claim data-etcd-1 of a removed member aside',
  ],
  [
    'then another one takes its place',
    { etcd: forgotten('1001'), claims: unmarked('data-etcd-1') },
    'write-records: Replace etcd-1',
  ],
  [
    'a voter of which nothing is left is replaced',
    {
      ordinals: [0, 1, 2],
      peers: but('etcd-1'),
      pods: but('etcd-1-0'),
      claims: but('data-etcd-1'),
    },
    'write-records: Replace etcd-1',
  ],
  [
    'of two that are lost among five, one is replaced after the other',
    {
      spec: { replicas: 5 },
      lost: { 'etcd-3': 'Why.', 'etcd-4': 'Why.' },
      etcd: silent('etcd-3', 'etcd-4'),
    },
    'write-records: Replace etcd-3',
  ],
  [
    'a member that was recorded as lost and is back stays',
    { status: { leaving: lostRecord } },
    'write-records: Replace etcd-1',
  ],
  [
    'a deleted claim keeps its pod from being restarted',
    { spec: { replicas: 1 }, claims: ending('data-etcd-0'), pods: outdated('etcd-0-0') },
    'wait: Restart etcd-0 [ClaimEnding]',
  ],
  [
    'and the other members from being taken away',
    { spec: { replicas: 1 }, ordinals: [0, 1, 2], claims: ending('data-etcd-0') },
    'wait: Take etcd-2 away [ClaimEnding]',
  ],
  [
    'peer TLS cannot be switched under a running cluster: nobody is taken for removed by it',
    {
      spec: { replicas: 1, tls: { clients: { mode: 'Mutual' }, peers: { mode: 'None' } } },
      etcd: asHttps,
    },
    'wait: Replace etcd-0 [PeerUrlDiffers]',
  ],
  [
    'a member that somebody added anew keeps its claim, whatever the record says',
    {
      status: {
        leaving: {
          peer: 'etcd-1',
          peerUid: 'peer of etcd-1',
          claim: 'data-etcd-1',
          claimUid: 'claim of etcd-1',
          reason: 'Why.',
          since: '2026-01-01T23:59:00Z',
        },
      },
    },
    'write-records: Replace etcd-1',
  ],
  [
    'a single member whose volume is lost has nobody to get its data from',
    { spec: { replicas: 1 }, lost: { 'etcd-0': 'Why.' }, etcd: noQuorum },
    'wait: Nothing [NoQuorum]',
  ],
];

/** The same members, with data of when they spoke TLS with each other. */
function asHttps(etcd: State['etcd']): State['etcd'] {
  const { list } = etcd;
  const members = list?.members.map((one) => ({
    ...one,
    peerUrls: one.peerUrls.map((url) => url.replace('http:', 'https:')),
  }));
  return { ...etcd, list: list && { ...list, members: members ?? [] } };
}

const ROLL: readonly Row[] = [
  [
    'another image is written to the first follower',
    { spec: { image: 'quay.io/coreos/etcd:v3.6.17' }, peers: onOldImage },
    'update-peer: Restart etcd-1',
  ],
  [
    'the StatefulSet gets the new template first',
    {
      peers: (all) =>
        all.map((one) =>
          one.name === 'etcd-1'
            ? { ...one, status: { ...one.status, observedGeneration: 0 } }
            : one,
        ),
    },
    'wait: Restart etcd-1 [TemplatePending]',
  ],
  [
    'its pod is recorded before it is deleted',
    { pods: outdated('etcd-0-0', 'etcd-2-0') },
    'write-records: Restart etcd-2',
  ],
  [
    'the leader goes last, and hands over',
    { pods: outdated('etcd-0-0') },
    'move-leader: Restart etcd-0: let etcd-1 lead',
  ],
  [
    'not while another one is away',
    { pods: outdated('etcd-1-0'), etcd: silent('etcd-2') },
    'wait: Restart etcd-1 [MemberSilent]',
  ],
  [
    'the recorded pod is deleted',
    { pods: outdated('etcd-1-0'), status: { restarting: restarting('pod of etcd-1') } },
    'restart: Restart etcd-1',
  ],
  [
    'the new one is waited for',
    { status: { restarting: restarting('another') }, etcd: silent('etcd-1') },
    'wait: Restart etcd-1 [MemberSilent]',
  ],
  [
    'one that does not come back stops the rollout',
    {
      status: { restarting: restarting('another') },
      etcd: silent('etcd-1'),
      nowMs: NOW_MS + 3_600_000,
    },
    'wait: Restart etcd-1 [MemberSilent] !RolloutPaused',
  ],
  [
    'two members on their way to one are not kept from it by a restart that would risk both',
    { spec: { replicas: 1 }, ordinals: [0, 1], pods: outdated('etcd-1-0') },
    'write-records: Take etcd-1 away',
  ],
  [
    'a restart that would risk the quorum is left off, so that another member can join first',
    {
      ordinals: [0, 1],
      pods: outdated('etcd-1-0'),
      status: { restarting: restarting('pod of etcd-1') },
    },
    'write-records: Restart etcd-1: leave it off',
  ],
  [
    'and then it joins',
    { ordinals: [0, 1], pods: outdated('etcd-1-0') },
    'add-learner: Add etcd-2, member 3 of 3',
  ],
  [
    'two minor versions at once are refused',
    { spec: { image: 'quay.io/coreos/etcd:v3.8.0' }, peers: onOldImage },
    'wait: Change the image to quay.io/coreos/etcd:v3.8.0 [UpgradeRefused] !UpgradeRefused',
  ],
  [
    'an older version is refused',
    { spec: { image: 'quay.io/coreos/etcd:v3.6.15' }, peers: onOldImage },
    'wait: Change the image to quay.io/coreos/etcd:v3.6.15 [UpgradeRefused] !UpgradeRefused',
  ],
  [
    'a refused image holds up no other edit',
    { spec: { image: 'quay.io/coreos/etcd:v3.8.0', quota: '4Gi' }, peers: onOldImage },
    'update-peer: Restart etcd-1',
  ],
];

function onOldImage(peers: State['peers']): State['peers'] {
  const image = 'quay.io/coreos/etcd:v3.6.16';
  return peers.map((one) => ({ ...one, spec: { ...one.spec, image, quota: '2Gi' } }));
}

function restarting(podUid: string) {
  return { peer: 'etcd-1', podUid, reason: 'Why.', since: '2026-01-01T23:59:00Z' };
}

const HIBERNATE: readonly Row[] = [
  [
    'not while a claim is deleted, whose data its pod alone keeps',
    {
      spec: { replicas: 0 },
      ordinals: [0, 1, 2],
      peers: (peers) => peers.map(running(true)),
      claims: ending('data-etcd-1'),
    },
    'wait: Hibernate [ClaimEnding] !ClaimEnding',
  ],
  [
    'every member is told to stop',
    { spec: { replicas: 0 }, ordinals: [0, 1, 2], peers: (peers) => peers.map(running(true)) },
    'update-peer: Hibernate: etcd-0',
  ],
  [
    'their pods are waited for',
    { spec: { replicas: 0 }, ordinals: [0, 1, 2] },
    'wait: Hibernate [PeerEnding]',
  ],
  ['then nothing', { spec: { replicas: 0 }, ordinals: [0, 1, 2], pods: () => [] }, 'wait: Nothing'],
  [
    'and all wake up again',
    { peers: (peers) => peers.map(running(false)), pods: () => [], etcd: noQuorum },
    'update-peer: Wake up: etcd-0',
  ],
];

function running(isRunning: boolean) {
  return (one: State['peers'][number]) => ({ ...one, spec: { ...one.spec, running: isRunning } });
}

describe.each([
  ['lost members', LOST],
  ['restarts', ROLL],
  ['hibernation', HIBERNATE],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });
});

test('of two voters neither may be restarted: the one that is left is no quorum', () => {
  const reasons = restartBlockers(state({ ordinals: [0, 1] }), '1001');
  expect(reasons.map(({ reason }) => reason)).toEqual(['QuorumAtRisk']);
  expect(restartBlockers(state({ ordinals: [0, 1, 2] }), '1001')).toEqual([]);
});

test('a member is brought back with itself alone in the list: an empty volume joins nobody', () => {
  const { step } = decide(state({ peers: but('etcd-1'), pods: but('etcd-1-0') }));
  const { bootstrap } = step?.type === 'make-peer' ? step.spec : {};
  expect(bootstrap).toMatchObject({ state: 'Existing', initialCluster: [{ name: 'etcd-1' }] });
  expect(bootstrap?.initialCluster).toHaveLength(1);
});

test('a member that joins while the image is refused gets the one that the others run', () => {
  const image = 'quay.io/coreos/etcd:v3.8.0';
  const spec = { replicas: 5, image };
  const of = state({ spec, ordinals: [0, 1, 2], etcd: withLearner(3), parts: joining(3) });
  const before = 'quay.io/coreos/etcd:v3.6.16';
  const peers = of.peers.map((one) => ({ ...one, spec: { ...one.spec, image: before } }));
  const { step } = decide({ ...of, peers });
  expect(step?.type === 'make-peer' ? step.spec.image : step?.type).toBe(before);
});
