// Which step comes next when servers come and go for good, as a table.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import type { Peer } from '../../../functions/nats-cluster/nats-state.ts';
import type { NatsClusterStatus } from '../../../shared/api/nats-cluster.ts';
import { reticent, type Row, shown, silent } from './rows.ts';
import { type Differences, peer, stream, withGroups, state } from './samples.ts';

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
    { size: 1, parts: { claims: state().parts.claims } },
    'apply: Bring back nats-1 and nats-2',
  ],
  [
    'where none is left all are',
    { spec: { jetStream: { memory: { size: '1Gi' } } }, size: 0 },
    'apply: Bring back nats-0 and nats-1 and nats-2',
  ],
  ['the last server is written down first', { size: 5 }, 'write-records: Take nats-4 away'],
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
    'write-records: Take nats-4 away',
  ],
  [
    'not while the leader counts one that it cannot name',
    { size: 5, ...stillborn('nats-3', 'nats-4'), nats: counting(4) },
    'wait: Take nats-4 away [ServerAway]',
  ],
  [
    'nor while one of its peers has no name: after a restart of all it may be this one',
    {
      size: 5,
      ...stillborn('nats-3', 'nats-4'),
      nats: withPeers(nameless('nats-3'), nameless('nats-4')),
    },
    'wait: Take nats-4 away [MetaGroup]',
  ],
  [
    'nobody waits for those that never came when their record is done',
    { size: 4, status: leaving, ...stillborn('nats-3') },
    'write-records: Take nats-4 away',
  ],
  [
    'but what it had in memory is gone',
    { spec: { jetStream: { memory: { size: '1Gi' } } }, size: 5, nats: silent('nats-4') },
    'write-records: Take nats-4 away',
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
    'but those that are waived',
    {
      spec: { replicas: 3, waive: [{ account: 'SHOP', stream: 'ORDERS' }] },
      size: 5,
      nats: withGroups(
        stream({ members: [0, 1, 2, 3, 4].map((ordinal) => peer(`nats-${ordinal}`)) }),
      ),
    },
    'write-records: Take nats-4 away',
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
  [
    'without its claim the record goes',
    { size: 4, status: leaving },
    'write-records: Take nats-4 away',
  ],
];

test.each(SCALE)('%s', (_what, differences, decision) => {
  expect(shown(decide(state(differences)))).toBe(decision);
});

test('the peer that left is forgotten, and no other whose name the leader lacks', () => {
  const other = decide(state({ size: 4, status: leaving, nats: withPeers(nameless('nats-3')) }));
  expect(shown(other)).toBe('wait: Take nats-4 away [MetaGroup]');
  const both = withPeers(nameless('nats-3'), nameless('nats-4'));
  const { step } = decide(state({ size: 4, status: leaving, nats: both }));
  expect(step).toEqual({ type: 'remove-peer', server: 'nats-4', peerId: 'peer-nats-4' });
});

function withPeers(...others: readonly Peer[]): NonNullable<Differences['nats']> {
  const peers = [0, 1, 2].map((ordinal) => peer(`nats-${ordinal}`));
  return (nats) => ({ ...nats, meta: { leader: 'nats-0', size: 5, peers: [...peers, ...others] } });
}
