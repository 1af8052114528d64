// Which step comes next while members come and go, from what was observed, as tables.
import { describe, expect, test } from 'vitest';
import { decide, isConverged } from '../../../functions/etcd-cluster/decide.ts';
import type { LeavingMember } from '../../../shared/api/etcd-cluster.ts';
import { starts } from './memory-samples.ts';
import { forgotten, outdated, type Row, shown } from './rows.ts';
import {
  claimFor,
  type Differences,
  joining,
  noQuorum,
  peerFor,
  silent,
  state,
  withLearner,
} from './samples.ts';

const BORN = ['clusterId', 'bootstrap'] as const;
const nothing = { ordinals: [], pods: () => [], claims: () => [] };
const claims =
  (...ids: readonly (string | undefined)[]): NonNullable<Differences['claims']> =>
  () =>
    ids.map((clusterId, ordinal) => ({ ...claimFor(`etcd-${ordinal}`), clusterId }));
const keptAside: NonNullable<Differences['claims']> = () => [
  { ...claimFor('etcd-0'), clusterId: undefined, isKeptAside: true },
];
const formers: NonNullable<Differences['peers']> = (peers) =>
  peers.map((one) => ({ ...one, isOurs: false }));
const peersOf =
  (...ordinals: readonly number[]): NonNullable<Differences['peers']> =>
  (peers) =>
    peers.filter(({ spec }) => ordinals.includes(spec.ordinal));
const extraPeer =
  (ordinal: number): NonNullable<Differences['peers']> =>
  (peers) => {
    const names = [...peers.map(({ name }) => name), `etcd-${ordinal}`];
    return [...peers, peerFor(state(), `etcd-${ordinal}`, names)];
  };
const leaving = (more: Partial<LeavingMember> = {}): LeavingMember => ({
  peer: 'etcd-2',
  peerUid: 'peer of etcd-2',
  memberId: '1002',
  claim: 'data-etcd-2',
  claimUid: 'claim of etcd-2',
  reason: 'ScaleDown',
  since: '2026-01-01T23:59:00Z',
  ...more,
});
const FOREIGN = { id: '9', name: 'x', peerUrls: ['https://elsewhere:2380'], isLearner: false };

const REST: readonly Row[] = [
  ['at rest it does nothing', {}, 'wait: Nothing'],
  ['on its way out it does nothing', { deletionTimestamp: 'now' }, 'wait: Nothing'],
  ['paused it does nothing', { spec: { paused: true, replicas: 5 } }, 'wait: Nothing [Paused]'],
  ['a silent member is waited for', { etcd: silent('etcd-1') }, 'wait: Nothing [MemberSilent]'],
  [
    'a member whose pod is not ready is waited for',
    { pods: (pods) => pods.map((one) => ({ ...one, isReady: one.name !== 'etcd-1-0' })) },
    'wait: Nothing [MemberUnready]',
  ],
  [
    'a member that somebody added by hand is neither counted nor removed',
    {
      etcd: (etcd) => ({
        ...etcd,
        list: etcd.list && { ...etcd.list, members: [...etcd.list.members, FOREIGN] },
      }),
      spec: { replicas: 1 },
      ordinals: [0, 1, 2],
    },
    'wait: Take etcd-2 away [ForeignMember]',
  ],
  ['without a quorum it waits', { etcd: noQuorum }, 'wait: Nothing [NoQuorum]'],
  [
    'a member of another cluster under our name is none',
    {
      etcd: (etcd) => ({
        ...etcd,
        list: etcd.list && { ...etcd.list, clusterId: '7' },
      }),
    },
    'wait: Nothing [ForeignCluster]',
  ],
];

const BIRTH: readonly Row[] = [
  [
    'the seed is recorded before anything is made',
    { ...nothing, without: BORN },
    'write-records: Start etcd-0, the first member',
  ],
  [
    'then its peer is made',
    { ...nothing, without: ['clusterId'], parts: starts({ 'etcd-0': 'new' }) },
    'make-peer: Start etcd-0, the first member',
  ],
  [
    'as long as the seed is silent nothing else happens',
    { without: ['clusterId'], ordinals: [0], claims: claims(undefined), etcd: noQuorum },
    'wait: Start etcd-0, the first member [MemberSilent]',
  ],
  [
    'when it answers its id is recorded',
    { without: ['clusterId'], ordinals: [0], claims: claims(undefined) },
    'write-records: Go on with the data of cluster c1',
  ],
  [
    'and written onto its claim',
    { ordinals: [0], claims: claims(undefined) },
    'mark-claim: Mark claim data-etcd-0 as one of cluster c1',
  ],
  [
    'claims of before are gone on with, and nothing is born',
    { ...nothing, without: BORN, claims: claims('c1', 'c1', 'c1') },
    'write-records: Go on with the data of cluster c1',
  ],
  [
    'each of them gets its peer',
    { ...nothing, claims: claims('c1', 'c1', 'c1') },
    'make-peer: Bring back etcd-0',
  ],
  [
    'a former claim that no member ever joined with is no reason not to be born',
    { ...nothing, without: BORN, claims: claims(undefined) },
    'write-records: Start etcd-0, the first member',
  ],
  [
    'claims of others than the seed that do not say whose they are need a person',
    { ...nothing, without: BORN, claims: () => [{ ...claimFor('etcd-1'), clusterId: undefined }] },
    'wait: Start the first member [ClaimsUnmarked] !ClaimsUnmarked',
  ],
  [
    'the claim of the seed that is kept aside needs one, too: no member starts with it any more',
    { ...nothing, without: BORN, claims: keptAside },
    'wait: Start the first member [ClaimsUnmarked] !ClaimsUnmarked',
  ],
  [
    'claims of two clusters need a person',
    { ...nothing, without: BORN, claims: claims('c1', 'd2') },
    'wait: Start from the claims [ClaimsDiffer] !ClaimsDiffer',
  ],
  [
    'with all claims gone it does not come up empty',
    { ...nothing },
    'wait: Nothing [DataGone] !DataGone',
  ],
  [
    'and so it does with claims alone that are kept aside',
    { ...nothing, claims: keptAside },
    'wait: Nothing [DataGone] !DataGone',
  ],
  [
    'peers of a former EtcdCluster are waited for',
    {
      without: BORN,
      peers: formers,
      etcd: noQuorum,
      nowMs: Date.parse('2026-01-01T00:05:00Z'),
    },
    'wait: Start the first member [NameTaken]',
  ],
  [
    'and need a person when they stay',
    { without: BORN, peers: formers, etcd: noQuorum },
    'wait: Start the first member [NameTaken] !NameTaken',
  ],
  [
    'born to hibernate it waits',
    { ...nothing, without: BORN, spec: { replicas: 0 } },
    'wait: Nothing',
  ],
];

const UP: readonly Row[] = [
  [
    'a learner is told to the others first',
    { spec: { replicas: 5 }, ordinals: [0, 1, 2] },
    'add-learner: Add etcd-3, member 4 of 5',
  ],
  [
    'the lowest free ordinal is taken',
    { ordinals: [0, 2] },
    'add-learner: Add etcd-1, member 3 of 3',
  ],
  [
    'one whose claim is kept is not free',
    { ordinals: [0, 2], claims: (now) => [...now, claimFor('etcd-1')].map(unmarked('etcd-1')) },
    'add-learner: Add etcd-3, member 3 of 3',
  ],
  [
    'with every name taken by a claim that is kept it needs a person',
    { spec: { replicas: 5 }, ordinals: [0, 1, 2], claims: (now) => [...now, ...kept()] },
    'wait: Add etcd-16, member 4 of 5 [NoFreeOrdinal] !NoFreeOrdinal',
  ],
  [
    'not while a member is silent',
    { spec: { replicas: 5 }, ordinals: [0, 1, 2], etcd: silent('etcd-2') },
    'wait: Add etcd-3, member 4 of 5 [MemberSilent]',
  ],
  [
    'a learner without a peer gets one: whoever added it died',
    { spec: { replicas: 5 }, ordinals: [0, 1, 2], etcd: withLearner(3), parts: joining(3) },
    'make-peer: Let etcd-3 join',
  ],
  [
    'a learner that has not started is waited for',
    { spec: { replicas: 5 }, ordinals: [0, 1, 2], etcd: withLearner(3), peers: extraPeer(3) },
    'wait: Let etcd-3 join [MemberAway]',
  ],
  [
    'a learner that is behind is waited for',
    {
      ordinals: [0, 1, 2],
      etcd: withLearner(3, { raftAppliedIndex: 500 }),
      peers: extraPeer(3),
    },
    'wait: Let etcd-3 join [LearnerBehind]',
  ],
  [
    'a learner that cannot start gets another spec without a turn',
    {
      spec: { quota: '4Gi' },
      ordinals: [0, 1, 2],
      etcd: withLearner(3),
      peers: (peers) => extraPeer(3)(peers),
    },
    'update-peer: Let etcd-3 join',
  ],
  [
    'a learner that has caught up votes',
    { ordinals: [0, 1, 2], etcd: withLearner(3, {}), peers: extraPeer(3) },
    'promote: Let etcd-3 join',
  ],
  [
    'a learner is finished before another spec is rolled out',
    { ordinals: [0, 1, 2], etcd: withLearner(3), peers: extraPeer(3), pods: outdated('etcd-1-0') },
    'wait: Let etcd-3 join [MemberAway]',
  ],
  [
    'a learner that was told of itself alone finds nobody to join, and is given up',
    {
      ordinals: [0, 1, 2],
      etcd: withLearner(3),
      peers: (all) => [...all, peerFor(state(), 'etcd-3', ['etcd-3'])],
      claims: (now) => [...now, { ...claimFor('etcd-3'), clusterId: undefined }],
    },
    'write-records: Replace etcd-3',
  ],
  [
    'a learner whose volume is lost is given up',
    { ordinals: [0, 1, 2], etcd: withLearner(3), peers: extraPeer(3), lost: { 'etcd-3': 'Why.' } },
    'write-records: Replace etcd-3',
  ],
];

const kept = () =>
  Array.from({ length: 13 }, (_, index) => ({
    ...claimFor(`etcd-${index + 3}`),
    clusterId: undefined,
    isKeptAside: true,
  }));

function unmarked(peer: string) {
  return (one: ReturnType<typeof claimFor>) =>
    one.name === `data-${peer}` ? { ...one, clusterId: undefined } : one;
}

const third = { peer: 'etcd-3', peerUid: 'peer of etcd-3', claim: 'data-etcd-3' } as const;
const first = leaving({ peer: 'etcd-0', peerUid: 'peer of etcd-0', memberId: '1000' });

const DOWN: readonly Row[] = [
  [
    'the one with the highest ordinal is recorded first',
    { ordinals: [0, 1, 2, 9, 10] },
    'write-records: Take etcd-10 away',
  ],
  [
    'then the others forget it',
    { ordinals: [0, 1, 2, 3], status: { leaving: leaving({ ...third, memberId: '1003' }) } },
    'remove-member: Take etcd-3 away',
  ],
  [
    'a leader hands over before it goes',
    { ordinals: [0, 1, 2], spec: { replicas: 1 }, status: { leaving: first } },
    'move-leader: Take etcd-0 away: let etcd-1 lead',
  ],
  [
    'then its peer goes',
    {
      ordinals: [0, 1],
      peers: extraPeer(2),
      status: { leaving: leaving() },
      spec: { replicas: 1 },
    },
    'delete-peer: Take etcd-2 away',
  ],
  [
    'its pod is waited for',
    {
      ordinals: [0, 1, 2],
      peers: peersOf(0, 1),
      etcd: forgotten('1002'),
      status: { leaving: leaving() },
      spec: { replicas: 1 },
    },
    'wait: Take etcd-2 away [PeerEnding]',
  ],
  [
    'a pod that does not end needs a person, who knows of its node',
    {
      ordinals: [0, 1, 2],
      peers: peersOf(0, 1),
      etcd: forgotten('1002'),
      status: { leaving: leaving({ since: '2026-01-01T23:40:00Z' }) },
      spec: { replicas: 1 },
    },
    'wait: Take etcd-2 away [PeerEnding] !PeerEnding',
  ],
  [
    'and so does a claim that does not end',
    {
      ordinals: [0, 1],
      claims: (now) => [...now, { ...claimFor('etcd-2'), isEnding: true }],
      status: { leaving: leaving({ since: '2026-01-01T23:40:00Z' }) },
      spec: { replicas: 1 },
    },
    'wait: Take etcd-2 away [ClaimEnding] !ClaimEnding',
  ],
  [
    'and its claim goes last',
    {
      ordinals: [0, 1],
      claims: (now) => [...now, claimFor('etcd-2')],
      status: { leaving: leaving() },
      spec: { replicas: 1 },
    },
    'delete-claim: Take etcd-2 away',
  ],
  [
    'a claim of the same name that is another one stays',
    {
      ordinals: [0, 1],
      claims: (now) => [...now, { ...claimFor('etcd-2'), uid: 'another', clusterId: undefined }],
      status: { leaving: leaving() },
      spec: { replicas: 1 },
    },
    'write-records: Take etcd-2 away',
  ],
  [
    'wanted again before anything was done it stays',
    { ordinals: [0, 1, 2], status: { leaving: leaving() } },
    'write-records: Take etcd-2 away',
  ],
  [
    'not while another one is away',
    { ordinals: [0, 1, 2], spec: { replicas: 1 }, etcd: silent('etcd-0') },
    'wait: Take etcd-2 away [MemberSilent]',
  ],
  [
    'one that was to go stays while another one is lost',
    {
      ordinals: [0, 1, 2],
      spec: { replicas: 1 },
      status: { leaving: leaving() },
      etcd: silent('etcd-1'),
      lost: { 'etcd-1': 'Its volume is lost.' },
    },
    'write-records: Take etcd-2 away: leave it off',
  ],
  [
    'without a quorum nothing is concluded from the record',
    { ordinals: [0, 1, 2], status: { leaving: leaving() }, etcd: noQuorum },
    'wait: Take etcd-2 away [NoQuorum]',
  ],
];

describe.each([
  ['at rest', REST],
  ['birth', BIRTH],
  ['more members', UP],
  ['fewer members', DOWN],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });
});

test('at rest and whole it is converged, and without a marked claim or a member it is not', () => {
  const converged = (differences: Differences): boolean => {
    const of = state(differences);
    return isConverged(of, decide(of));
  };
  expect(converged({})).toBe(true);
  expect(converged({ claims: claims('c1', 'c1', undefined) })).toBe(false);
  expect(converged({ etcd: silent('etcd-2') })).toBe(false);
  expect(converged({ spec: { replicas: 5 }, ordinals: [0, 1, 2] })).toBe(false);
});
