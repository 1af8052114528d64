// Which step comes next, from what was seen, as tables.
import { describe, expect, test } from 'vitest';
import { decide, isConverged } from '../../../functions/nats-cluster/decide.ts';
import type { NatsClusterStatus } from '../../../shared/api/nats-cluster.ts';
import { NOW_MS } from '../stateful/samples.ts';
import { reticent, type Row, shown, silent } from './rows.ts';
import {
  type Differences,
  misconfigured,
  outdated,
  peer,
  stream,
  withGroups,
  state,
} from './samples.ts';

const restarting = (podUid: string): NatsClusterStatus => ({
  restarting: { server: 'nats-2', podUid, reason: 'Why.', since: '2026-01-01T23:59:00Z' },
});
const without =
  (server: string): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.filter(({ name }) => name !== server);
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
    'write-records: Restart nats-2',
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
    'write-records: Restart nats-1',
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
    'write-records: Restart nats-2',
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
    'write-records: Restart nats-2',
  ],
  [
    'a new pod that is whole ends it',
    { status: restarting('gone') },
    'write-records: Restart nats-2',
  ],
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
    'write-records: Restart nats-1',
  ],
  [
    'a pod that has to be made anew anyway is not reloaded',
    { nats: misconfigured('nats-1'), pods: outdated('nats-1') },
    'write-records: Restart nats-1',
  ],
];

describe.each([
  ['at rest', REST],
  ['rolling', ROLL],
  ['restarting', RESTART],
  ['reloading', RELOAD],
])('%s', (_, rows) => {
  test.each(rows)('%s', (_what, differences, decision) => {
    expect(shown(decide(state(differences)))).toBe(decision);
  });
});

test('only a whole cluster counts as converged', () => {
  const judge = (differences: Differences): boolean => {
    const one = state(differences);
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
  expect(decide(state(one)).trouble?.reason).toBe('DowngradeRefused');
});

test('a version that cannot read the files of the one that runs is refused', () => {
  const decision = decide(state({ spec: { image: 'nats:2.13.1' } }));
  expect(decision.trouble?.reason).toBe('DowngradeRefused');
  expect(decide(state({ spec: { image: 'nats:2.14.9' } })).trouble).toBeUndefined();
});
