// A member that joins gets another pod before it votes: one that is told of itself alone, and
// cannot join a second time on a volume that was emptied.
import { expect, test } from 'vitest';
import type { Peer } from '../../../functions/etcd-cluster/state.ts';
import { type Row, shown } from './rows.ts';
import { claimFor, type Differences, peerFor, state, withLearner } from './samples.ts';

const ALL = ['etcd-0', 'etcd-1', 'etcd-2', 'etcd-3'];

/** It has joined, and its claim says so. */
const joined = (names: readonly string[], differences: Partial<Peer> = {}): Differences => ({
  ordinals: [0, 1, 2],
  spec: { replicas: 5 },
  etcd: withLearner(3, {}),
  claims: (claims) => [...claims, claimFor('etcd-3')],
  peers: (peers) => [...peers, { ...peerFor(state(), 'etcd-3', names), ...differences }],
  pods: (pods) => {
    const [first] = pods;
    if (first === undefined) throw new Error('no pods');
    return [...pods, { ...first, name: 'etcd-3-0', uid: 'pod of etcd-3' }];
  },
});

const older: NonNullable<Differences['pods']> = (pods) =>
  pods.map((one) => (one.name === 'etcd-3-0' ? { ...one, templateHash: 't0' } : one));

const told = joined(['etcd-3']);

const ROWS: readonly Row[] = [
  ['its EtcdPeer is told of itself alone', joined(ALL), 'update-peer: Let etcd-3 join'],
  [
    'it does not vote before the StatefulSet says so',
    joined(['etcd-3'], { generation: 2 }),
    'wait: Let etcd-3 join [TemplatePending]',
  ],
  [
    'nor in the pod in which it joined',
    { ...told, pods: (pods) => older(told.pods?.(pods) ?? pods) },
    'restart: Let etcd-3 join',
  ],
  ['in the pod after that it votes', told, 'promote: Let etcd-3 join'],
];

test.each(ROWS)('%s', (_, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});
