// Which step comes next once a quorum is lost for good, from what was observed, as tables.
import { describe, expect, test } from 'vitest';
import type { MemberAnswer } from '../../../functions/etcd-cluster/etcd-state.ts';
import { proposalOf } from '../../../functions/etcd-cluster/recovery-plan.ts';
import type { EtcdClusterSpec, Recovering } from '../../../shared/api/etcd-cluster.ts';
import type { PeerRecovery } from '../../../shared/api/etcd-peer.ts';
import { type Row, shown } from './rows.ts';
import { type Differences, state } from './samples.ts';

const LOST = { 'etcd-1': 'Its claim is gone.', 'etcd-2': 'Its claim is gone.' };
const SINCE = { quorumLostSince: '2026-01-01T23:59:00Z' };

/** These alone answer, each by itself and without a leader. */
const alone =
  (answers: Readonly<Record<string, Partial<MemberAnswer>>>): NonNullable<Differences['etcd']> =>
  (etcd) => {
    const names = Object.keys(answers);
    const list = etcd.list ?? { clusterId: '', members: [] };
    const told = [...etcd.answers].filter(([name]) => names.includes(name));
    return {
      ...etcd,
      list: undefined,
      answers: new Map(
        told.map(([name, answer]) => [name, { ...answer, leaderId: undefined, ...answers[name] }]),
      ),
      views: new Map(names.map((name) => [name, { ...list, clusterVersion: '3.6.0' }])),
    };
  };

/** Pods of others are not ready without a quorum, nor is the survivor's. */
const unready: NonNullable<Differences['pods']> = (pods) =>
  pods.map((one) => ({ ...one, isReady: false }));

const gone: Differences = {
  lost: LOST,
  status: SINCE,
  etcd: alone({ 'etcd-0': {} }),
  pods: unready,
};

const idOf = (differences: Differences): string =>
  proposalOf(state(differences))?.plan.id ?? 'none';

const confirm = (id: string): Partial<EtcdClusterSpec> => ({ recovery: { confirm: id } });

const ASKED = 'wait: Recover from etcd-0, once confirmed [QuorumLost] !QuorumLost';
const QUIET = 'wait: Nothing [NoQuorum]';

const PLANS: readonly Row[] = [
  ['two of three lost for good: it asks', gone, ASKED],
  ['before it is in the status there is no plan', { ...gone, status: {} }, QUIET],
  ['paused it does nothing', { ...gone, spec: { paused: true } }, 'wait: Nothing [Paused]'],
  ['of two that only are silent it waits ten minutes', { ...gone, lost: {} }, QUIET],
  [
    'and then it asks',
    { ...gone, lost: {}, status: { quorumLostSince: '2026-01-01T23:40:00Z' } },
    ASKED,
  ],
  [
    'one of two lost for good may come back with the other',
    { ...gone, lost: { 'etcd-1': 'gone' } },
    QUIET,
  ],
  [
    'a member that knows a leader has not lost the quorum',
    { ...gone, etcd: alone({ 'etcd-0': { leaderId: '1001' } }) },
    QUIET,
  ],
  [
    'a ready pod that we do not reach may be one of a quorum',
    {
      ...gone,
      lost: {},
      status: { quorumLostSince: '2026-01-01T23:40:00Z' },
      pods: (pods) => pods,
    },
    QUIET,
  ],
  ['nobody is left', { ...gone, etcd: alone({}) }, QUIET],
  [
    'a survivor whose claim is being deleted is none',
    { ...gone, claims: (all) => all.map((one) => ({ ...one, isEnding: true })) },
    QUIET,
  ],
  [
    'a survivor of another cluster is none',
    { ...gone, etcd: alone({ 'etcd-0': { clusterId: '7' } }) },
    QUIET,
  ],
  [
    'a corrupt survivor is none',
    {
      ...gone,
      etcd: (etcd, own) => ({
        ...alone({ 'etcd-0': {} })(etcd, own),
        alarms: [{ memberId: '1000', type: 'CORRUPT' }],
      }),
    },
    QUIET,
  ],
  [
    'a member that somebody else runs cannot be stopped',
    {
      ...gone,
      etcd: (etcd, own) => {
        const { views, ...rest } = alone({ 'etcd-0': {} })(etcd, own);
        const of = (urls: readonly string[]) => ({ id: '9', name: 'x', peerUrls: urls });
        const foreign = { ...of(['https://elsewhere:2380']), isLearner: false };
        const seen = [...views].map(([name, view]) => {
          return [name, { ...view, members: [...view.members, foreign] }] as const;
        });
        return { ...rest, views: new Map(seen) };
      },
    },
    QUIET,
  ],
  [
    'of two survivors the one with the longer log is proposed',
    {
      ...gone,
      spec: { replicas: 5 },
      lost: { ...LOST, 'etcd-3': 'gone' },
      etcd: alone({ 'etcd-0': { raftIndex: 10 }, 'etcd-4': { raftIndex: 11 } }),
    },
    'wait: Recover from etcd-4, once confirmed [QuorumLost] !QuorumLost',
  ],
  ['another id confirms nothing', { ...gone, spec: confirm('etcd-0-000000000000') }, ASKED],
  [
    'the id of the plan is recorded first',
    { ...gone, spec: confirm(idOf(gone)) },
    'write-records: Recover from etcd-0',
  ],
];

const recovering = (more: Partial<Recovering> = {}): Recovering => ({
  id: idOf(gone),
  number: 1,
  survivor: 'etcd-0',
  peerUid: 'peer of etcd-0',
  memberId: '1000',
  revision: '500',
  raftIndex: 20_000,
  others: ['etcd-1', 'etcd-2'].map((peer) => ({ peer, peerUid: `peer of ${peer}` })),
  since: '2026-01-01T23:59:30Z',
  ...more,
});

const underway = (differences: Differences, more: Partial<Recovering> = {}): Differences => ({
  ...gone,
  spec: confirm(idOf(gone)),
  ...differences,
  status: { ...SINCE, recovering: recovering(more), ...differences.status },
});

const stopped: NonNullable<Differences['peers']> = (peers) =>
  peers.map((one) => ({ ...one, spec: { ...one.spec, running: one.name === 'etcd-0' } }));
const podsOf =
  (...names: readonly string[]): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.filter(({ name }) => names.includes(name)).map((one) => ({ ...one, isReady: false }));
const marked: NonNullable<Differences['claims']> = (claims) =>
  claims.map((one) => (one.name === 'data-etcd-0' ? one : { ...one, clusterId: undefined }));
const survivor =
  (recovery?: PeerRecovery, templateHash = 't1'): NonNullable<Differences['peers']> =>
  (peers) =>
    peers
      .filter(({ name }) => name === 'etcd-0')
      .map((one) => ({
        ...one,
        spec: { ...one.spec, ...(recovery === undefined ? {} : { recovery }) },
        status: { ...one.status, templateHash },
      }));
const single = { pods: podsOf('etcd-0-0'), claims: marked };
const forced = { number: 1, force: true };
const released = { number: 1, force: false };
const leadsAlone: NonNullable<Differences['etcd']> = (etcd) => ({
  ...etcd,
  list: etcd.list && {
    ...etcd.list,
    members: etcd.list.members.filter(({ id }) => id === '1000'),
  },
});
const readyPod: NonNullable<Differences['pods']> = (pods) =>
  pods.filter(({ name }) => name === 'etcd-0-0');

const STEPS: readonly Row[] = [
  ['the others are stopped', underway({}), 'update-peer: Recover from etcd-0: stop the others'],
  [
    'their pods are waited for',
    underway({ peers: stopped }),
    'wait: Recover from etcd-0 [PeerEnding]',
  ],
  [
    'after two minutes a person is asked about the nodes',
    underway({ peers: stopped }, { since: '2026-01-01T23:50:00Z' }),
    'wait: Recover from etcd-0 [PeerEnding] !PeerEnding',
  ],
  [
    'their claims are kept aside',
    underway({ peers: stopped, pods: podsOf('etcd-0-0') }),
    'mark-claim: Recover from etcd-0: keep claim data-etcd-1 aside',
  ],
  ['their peers go', underway({ peers: stopped, ...single }), 'delete-peer: Recover from etcd-0'],
  [
    'and are waited for',
    underway({
      peers: (peers) => stopped(peers).map((one) => ({ ...one, isEnding: one.name !== 'etcd-0' })),
      ...single,
    }),
    'wait: Recover from etcd-0 [PeerEnding]',
  ],
  [
    'only then the survivor is forced',
    underway({ peers: survivor(), ...single }),
    'update-peer: Recover from etcd-0: let it go on alone',
  ],
  [
    'its pod is recorded',
    underway({ peers: survivor(forced, 't2'), ...single, etcd: alone({}) }),
    'write-records: Recover from etcd-0: let it go on alone',
  ],
  [
    'and restarted',
    underway({ peers: survivor(forced, 't2'), ...single }, { podUid: 'pod of etcd-0' }),
    'restart: Recover from etcd-0: let it go on alone',
  ],
  [
    'until it is ready',
    underway({ peers: survivor(forced), ...single, etcd: alone({}) }),
    'wait: Recover from etcd-0: let it go on alone [MemberAway]',
  ],
  [
    'then the flag goes',
    underway({ peers: survivor(forced), claims: marked, pods: readyPod, etcd: alone({}) }),
    'update-peer: Recover from etcd-0: let clients in',
  ],
  [
    'and its pod once more',
    underway({ peers: survivor(released, 't3'), ...single }, { podUid: 'pod of etcd-0' }),
    'restart: Recover from etcd-0: let clients in',
  ],
  [
    'then it is done',
    underway({ peers: survivor(released), claims: marked, pods: readyPod, etcd: leadsAlone }),
    'write-records: Recover from etcd-0',
  ],
  [
    'members that nobody expects are told',
    underway({ peers: survivor(released), claims: marked, pods: readyPod, etcd: (etcd) => etcd }),
    'wait: Recover from etcd-0 [RecoveryFailed] !RecoveryFailed',
  ],
  [
    'a silent survivor stops everything before it is forced',
    underway({ etcd: alone({}) }),
    'wait: Recover from etcd-0 [MemberSilent]',
  ],
  [
    'a quorum that is back ends it',
    underway({ etcd: (etcd) => etcd, peers: stopped }),
    'write-records: Recover from etcd-0: leave it off',
  ],
  [
    'a confirmation that is taken back ends it',
    underway({ spec: {} }),
    'write-records: Recover from etcd-0: leave it off',
  ],
  [
    'a survivor that has less than it had ends it',
    underway({ etcd: alone({ 'etcd-0': { raftIndex: 19_999 } }) }),
    'write-records: Recover from etcd-0: leave it off',
  ],
  [
    'a survivor that is lost too ends it',
    underway({ lost: { ...LOST, 'etcd-0': 'gone' } }),
    'write-records: Recover from etcd-0: leave it off',
  ],
  [
    'but not once it may have forgotten the others',
    underway({
      peers: survivor(forced),
      ...single,
      lost: { 'etcd-0': 'gone' },
      etcd: alone({}),
    }),
    'wait: Recover from etcd-0: let it go on alone [VolumeLost] !VolumeLost',
  ],
  [
    'a peer that was made since ends it',
    underway({}, { others: [{ peer: 'etcd-1', peerUid: 'peer of etcd-1' }] }),
    'write-records: Recover from etcd-0: leave it off',
  ],
  [
    'hibernation waits until it is done',
    underway({ spec: { ...confirm(idOf(gone)), replicas: 0 }, ordinals: [0, 1, 2] }),
    'wait: Recover from etcd-0 [PeerEnding]',
  ],
];

const AFTER: readonly Row[] = [
  [
    'with a quorum a confirmation is refused',
    { spec: confirm('etcd-0-000000000000') },
    'wait: Nothing [RecoveryRefused] !RecoveryRefused',
  ],
  [
    'that of the last recovery may stay',
    {
      spec: confirm('etcd-0-000000000000'),
      status: {
        recovered: {
          id: 'etcd-0-000000000000',
          number: 1,
          survivor: 'etcd-0',
          revision: '500',
          at: '2026-01-01T00:00:00Z',
        },
      },
    },
    'wait: Nothing',
  ],
];

describe.each([
  ['a plan', PLANS],
  ['a recovery', STEPS],
  ['afterwards', AFTER],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });
});

test('each loss has a plan of its own, also of the same member with the same data', () => {
  const later = { ...gone, status: { quorumLostSince: '2026-01-01T23:59:01Z' } };
  expect(idOf(gone)).toMatch(/^etcd-0-[0-9a-f]{12}$/);
  expect(idOf(later)).not.toBe(idOf(gone));
  expect(idOf({ ...gone, etcd: alone({ 'etcd-0': { raftIndex: 20_001 } }) })).not.toBe(idOf(gone));
});
