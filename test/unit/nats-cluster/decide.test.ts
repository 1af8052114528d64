// Which step comes next, from what was seen, as tables.
import { describe, expect, test } from 'vitest';
import { decide, isConverged } from '../../../functions/nats-cluster/decide.ts';
import type { Decision } from '../../../functions/nats-cluster/decision.ts';
import type { Peer } from '../../../functions/nats-cluster/view.ts';
import type { NatsClusterStatus } from '../../../shared/api/nats-cluster.ts';
import {
  type Differences,
  misconfigured,
  NOW_MS,
  outdated,
  peer,
  stream,
  withGroups,
  world,
} from './samples.ts';

/** What it is, what differs from a cluster at rest, and the decision in a word. */
type Row = readonly [what: string, differences: Differences, decision: string];

function shown({ step, next, waitsFor, trouble }: Decision): string {
  const what = step === undefined ? `wait: ${next}` : `${step.take}: ${next}`;
  const waits = waitsFor === undefined ? '' : ` [${waitsFor.reason}]`;
  return `${what}${waits}${trouble === undefined ? '' : ` !${trouble.reason}`}`;
}

const restarting = (podUid: string): NatsClusterStatus => ({
  restarting: { server: 'nats-2', podUid, reason: 'Why.', since: '2026-01-01T23:59:00Z' },
});
const leaving: NatsClusterStatus = {
  leaving: {
    server: 'nats-4',
    peerId: 'peer-nats-4',
    claim: 'data-nats-4',
    claimUid: 'claim-nats-4',
    since: 'then',
  },
};
/** As a leader that has not heard of this server since it leads. */
const nameless = (server: string): Peer => ({
  server: `Server name unknown at this time (peerID: peer-${server})`,
  peerId: `peer-${server}`,
  isCurrent: false,
});
const without =
  (server: string): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.filter(({ name }) => name !== server);
const silent =
  (server: string): NonNullable<Differences['nats']> =>
  (nats) => ({ ...nats, servers: new Map([...nats.servers].filter(([name]) => name !== server)) });
/** It answers, but not when it is asked for its streams. */
const reticent =
  (server: string): NonNullable<Differences['nats']> =>
  (nats) => ({
    ...nats,
    servers: new Map(
      [...nats.servers].map(([name, seen]) => [name, { ...seen, tellsStreams: name !== server }]),
    ),
  });
/** They have pods that never ran, and the meta group has not heard of them. */
const stillborn = (...servers: readonly string[]): Pick<Differences, 'pods' | 'nats'> => ({
  pods: (pods) =>
    pods.map((one) => (servers.includes(one.name) ? { ...one, isReady: false } : one)),
  nats: counting(3),
});
/** The first three servers answer, and the meta group has so many. */
const counting =
  (size: number): NonNullable<Differences['nats']> =>
  (nats) => ({
    ...nats,
    servers: new Map([...nats.servers].slice(0, 3)),
    meta: { leader: 'nats-0', size, peers: [0, 1, 2].map((one) => peer(`nats-${one}`)) },
  });
const unready =
  (server: string): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.map((one) => ({ ...one, isReady: one.isReady && one.name !== server }));
const ending =
  (server: string): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.map((one) => ({ ...one, isEnding: one.name === server }));
const late = stream({ members: [peer('nats-0'), peer('nats-1'), peer('nats-2', false)] });
const lone = stream({ members: [peer('nats-2')] });

const REST: readonly Row[] = [
  ['at rest it does nothing', {}, 'wait: Nothing'],
  [
    'on its way out it does nothing',
    { deletionTimestamp: 'now', pods: outdated('nats-1') },
    'wait: Nothing',
  ],
  [
    'paused it does nothing',
    { spec: { paused: true }, pods: outdated('nats-1') },
    'wait: Nothing [Paused]',
  ],
  [
    'a server without a pod is waited for',
    { pods: without('nats-1') },
    'wait: Nothing [ServerAway]',
  ],
  [
    'a server whose claim gets no volume is trouble',
    { pods: unready('nats-1'), parts: { pending: new Map([['nats-1', 'Why.']]) } },
    'wait: Nothing [ClaimPending] !ClaimPending',
  ],
  [
    'what was said of its claim before it was ready is old',
    { parts: { pending: new Map([['nats-1', 'Why.']]) } },
    'wait: Nothing',
  ],
  [
    'a server that does not answer is waited for',
    { nats: silent('nats-1') },
    'wait: Nothing [ServerAway]',
  ],
  ['a late stream is waited for', { nats: withGroups(late) }, 'wait: Nothing [StreamAtRisk]'],
  [
    'a late stream that is waived is not',
    { spec: { waive: [{ account: 'SHOP', stream: 'ORDERS' }] }, nats: withGroups(late) },
    'wait: Nothing',
  ],
];

const ROLL: readonly Row[] = [
  [
    'the last follower goes first',
    { pods: outdated('nats-0', 'nats-1', 'nats-2') },
    'remember: Restart nats-2',
  ],
  [
    'the meta leader steps down last',
    { pods: outdated('nats-0') },
    'step-down: Let nats-0 step down',
  ],
  [
    'who serves nobody goes before all others',
    {
      pods: (pods) =>
        outdated(
          'nats-1',
          'nats-2',
        )(pods).map((one) => ({ ...one, isReady: one.name !== 'nats-1' })),
    },
    'remember: Restart nats-1',
  ],
  [
    'nobody goes while another one is away',
    { pods: (pods) => without('nats-1')(outdated('nats-2')(pods)) },
    'wait: Restart nats-2 [ServerAway]',
  ],
  [
    'nor while a stream is late',
    { pods: outdated('nats-2'), nats: withGroups(late) },
    'wait: Restart nats-2 [StreamAtRisk]',
  ],
  [
    'nor while the meta group has no leader',
    { pods: outdated('nats-2'), nats: (nats) => ({ ...nats, meta: undefined }) },
    'wait: Restart nats-2 [NoMetaLeader]',
  ],
  [
    'nor while it does not say which streams it has: one may be in its memory alone',
    { pods: outdated('nats-2'), nats: reticent('nats-2') },
    'wait: Restart nats-2 [ServerAway]',
  ],
  [
    'nor while another one does not',
    { pods: outdated('nats-2'), nats: reticent('nats-1') },
    'wait: Restart nats-2 [ServerAway]',
  ],
  [
    'a lone stream in files is interrupted',
    { pods: outdated('nats-2'), nats: withGroups(lone) },
    'remember: Restart nats-2',
  ],
  [
    'unless the spec wants to wait',
    { spec: { unreplicatedStreams: 'Wait' }, pods: outdated('nats-2'), nats: withGroups(lone) },
    'wait: Restart nats-2 [UnreplicatedStream]',
  ],
  [
    'a lone stream in memory is always waited for',
    { pods: outdated('nats-2'), nats: withGroups({ ...lone, isInMemory: true }) },
    'wait: Restart nats-2 [UnreplicatedStream]',
  ],
];

const RESTART: readonly Row[] = [
  [
    'the pod that was written down is deleted',
    { status: restarting('pod-nats-2'), pods: outdated('nats-2') },
    'restart: Restart nats-2',
  ],
  [
    'not in doubt',
    { status: restarting('pod-nats-2'), pods: outdated('nats-2'), nats: withGroups(late) },
    'wait: Restart nats-2 [StreamAtRisk]',
  ],
  [
    'not when it is no longer wanted',
    { status: restarting('pod-nats-2') },
    'remember: Restart nats-2',
  ],
  ['a new pod that is whole ends it', { status: restarting('gone') }, 'remember: Restart nats-2'],
  [
    'nobody else goes before',
    { status: restarting('gone'), pods: outdated('nats-1'), nats: silent('nats-2') },
    'wait: Restart nats-2 [ServerAway]',
  ],
  [
    'after ten minutes that is trouble, and nothing is killed',
    { status: restarting('gone'), nats: silent('nats-2'), nowMs: NOW_MS + 600_000 },
    'wait: Restart nats-2 [ServerAway] !RolloutPaused',
  ],
];

const RELOAD: readonly Row[] = [
  [
    'another configuration is reloaded',
    { nats: misconfigured('nats-1', 'nats-2') },
    'reload: Reload nats-1',
  ],
  [
    'a server that ends is not: nobody can ask it any more',
    { nats: misconfigured('nats-1', 'nats-2'), pods: ending('nats-1') },
    'reload: Reload nats-2',
  ],
  [
    'what a server refuses is trouble',
    { nats: misconfigured('nats-1'), refusals: new Map([['nats-1', 'Parse error']]) },
    'wait: Reload nats-1 [ReloadRefused] !ReloadRefused',
  ],
  [
    'what it cannot take over while it runs is rolled',
    {
      nats: misconfigured('nats-1'),
      refusals: new Map([['nats-1', 'config reload not supported for X']]),
    },
    'remember: Restart nats-1',
  ],
  [
    'a pod that has to be made anew anyway is not reloaded',
    { nats: misconfigured('nats-1'), pods: outdated('nats-1') },
    'remember: Restart nats-1',
  ],
];

const SCALE: readonly Row[] = [
  [
    'it grows when all is whole',
    { spec: { replicas: 5 }, size: 3 },
    'apply: Scale from 3 to 5 servers',
  ],
  [
    'and not before',
    { spec: { replicas: 5 }, size: 3, nats: silent('nats-1') },
    'wait: Scale from 3 to 5 servers [ServerAway]',
  ],
  [
    'servers whose claims are there are brought back, whatever lacks',
    { size: 1, parts: { claims: world().parts.claims } },
    'apply: Bring back nats-1 and nats-2',
  ],
  [
    'where none is left all are',
    { spec: { jetStream: { memory: { size: '1Gi' } } }, size: 0 },
    'apply: Bring back nats-0 and nats-1 and nats-2',
  ],
  ['the last server is written down first', { size: 5 }, 'remember: Take nats-4 away'],
  ['then the StatefulSet shrinks', { size: 5, status: leaving }, 'apply: Take nats-4 away'],
  [
    'streams on it are moved before',
    {
      size: 5,
      nats: withGroups(stream({ members: [peer('nats-0'), peer('nats-1'), peer('nats-4')] })),
    },
    'move: Move stream ORDERS of account SHOP off nats-4',
  ],
  [
    'a server that does not say which streams it has is not taken away',
    { size: 5, nats: reticent('nats-4') },
    'wait: Take nats-4 away [ServerAway]',
  ],
  [
    'nor one that is away: a stream may be on it alone',
    { size: 5, nats: silent('nats-4') },
    'wait: Take nats-4 away [ServerAway]',
  ],
  [
    'new ones that never came may go again',
    { size: 5, ...stillborn('nats-3', 'nats-4') },
    'remember: Take nats-4 away',
  ],
  [
    'not while the leader counts one that it cannot name',
    { size: 5, ...stillborn('nats-3', 'nats-4'), nats: counting(4) },
    'wait: Take nats-4 away [ServerAway]',
  ],
  [
    'nobody waits for those that never came when their record is done',
    { size: 4, status: leaving, ...stillborn('nats-3') },
    'remember: Take nats-4 away',
  ],
  [
    'but what it had in memory is gone',
    { spec: { jetStream: { memory: { size: '1Gi' } } }, size: 5, nats: silent('nats-4') },
    'remember: Take nats-4 away',
  ],
  [
    'streams that need five servers keep them',
    {
      size: 5,
      nats: withGroups(
        stream({ members: [0, 1, 2, 3, 4].map((ordinal) => peer(`nats-${ordinal}`)) }),
      ),
    },
    'wait: Take nats-4 away [ScaleDownRefused] !ScaleDownRefused',
  ],
  [
    'nothing is deleted while its pod is there',
    {
      spec: { replicas: 3 },
      size: 4,
      status: leaving,
      pods: (pods) => [...pods, { ...pods[0], name: 'nats-4' } as never],
    },
    'wait: Take nats-4 away [ServerEnding]',
  ],
  [
    'the others forget it',
    {
      size: 4,
      status: leaving,
      nats: (nats) => ({
        ...nats,
        meta: {
          leader: 'nats-0',
          size: 5,
          peers: [0, 1, 2, 3, 4].map((ordinal) => peer(`nats-${ordinal}`)),
        },
      }),
    },
    'remove-peer: Take nats-4 away',
  ],
  ['without its claim the record goes', { size: 4, status: leaving }, 'remember: Take nats-4 away'],
];

describe.each([
  ['at rest', REST],
  ['rolling', ROLL],
  ['restarting', RESTART],
  ['reloading', RELOAD],
  ['scaling', SCALE],
])('%s', (_, rows) => {
  test.each(rows)('%s', (_what, differences, decision) => {
    expect(shown(decide(world(differences)))).toBe(decision);
  });
});

test('the peer that left is forgotten, and no other whose name the leader lacks', () => {
  const other = decide(world({ size: 4, status: leaving, nats: withPeers(nameless('nats-3')) }));
  expect(shown(other)).toBe('wait: Take nats-4 away [MetaGroup]');
  const both = withPeers(nameless('nats-3'), nameless('nats-4'));
  const { step } = decide(world({ size: 4, status: leaving, nats: both }));
  expect(step).toEqual({ take: 'remove-peer', server: 'nats-4', peerId: 'peer-nats-4' });
});

function withPeers(...others: readonly Peer[]): NonNullable<Differences['nats']> {
  const peers = [0, 1, 2].map((ordinal) => peer(`nats-${ordinal}`));
  return (nats) => ({ ...nats, meta: { leader: 'nats-0', size: 5, peers: [...peers, ...others] } });
}

test('only a whole cluster counts as converged', () => {
  const judge = (differences: Differences): boolean => {
    const one = world(differences);
    return isConverged(one, decide(one));
  };
  expect(judge({})).toBe(true);
  expect(judge({ spec: { paused: true } })).toBe(false);
  expect(judge({ nats: withGroups(late) })).toBe(false);
});

test('nor is it taken while the servers that wrote these files do not answer', () => {
  const nats: Differences['nats'] = (seen) => ({ ...seen, servers: new Map(), meta: undefined });
  const status = { servers: [{ name: 'nats-0', version: '2.15.2' }] };
  const one = { spec: { image: 'nats:2.13.1', replicas: 1 }, status, nats };
  expect(decide(world(one)).trouble?.reason).toBe('DowngradeRefused');
});

test('a version that cannot read the files of the one that runs is refused', () => {
  const decision = decide(world({ spec: { image: 'nats:2.13.1' } }));
  expect(decision.trouble?.reason).toBe('DowngradeRefused');
  expect(decide(world({ spec: { image: 'nats:2.14.9' } })).trouble).toBeUndefined();
});
