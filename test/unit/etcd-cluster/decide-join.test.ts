// Members that join the first one of all do so together: added before the first of them starts, and
// let in one after the other. Later ones join in turn, and nobody restarts for it.
import { expect, test } from 'vitest';
import type { Peer } from '../../../functions/etcd-cluster/state.ts';
import { keyOf, own, starting, starts } from './memory-samples.ts';
import { all, type Etcd, outdated, type Row, shown } from './rows.ts';
import { claimFor, type Differences, peerFor, state, withLearner } from './samples.ts';

/** Three members on volumes are to be there, and the first one is. */
const born = (more: Differences = {}): Differences => ({
  ordinals: [0],
  peers: starting(),
  parts: starts({ 'etcd-0': 'existing' }),
  ...more,
});

const TOLD = [0, 1, 2].map((one) => own(`etcd-${one}`)).join(',');
const OPEN = { 'etcd-0': 'existing', [keyOf(1)]: TOLD, [keyOf(2)]: TOLD };
const both = all(withLearner(1), withLearner(2));

/** These have been made, and told among whom they join. */
const made =
  (...ordinals: readonly number[]): NonNullable<Differences['peers']> =>
  (peers) => {
    const names = ['etcd-0', 'etcd-1', 'etcd-2'];
    const others = ordinals.map((one) => peerFor(state(), `etcd-${one}`, names));
    return starting()([...peers, ...others]).map((one) => ({ ...one, status: statusOf(one) }));
  };
const statusOf = ({ name }: Peer): Peer['status'] => ({
  observedGeneration: 1,
  templateHash: 't1',
  claimUid: `claim of ${name}`,
});

/** They run, and the kubelet has found those ready. */
const pods =
  (...isReady: readonly boolean[]): NonNullable<Differences['pods']> =>
  ([first, ...others]) => [
    ...(first === undefined ? [] : [first, ...others]),
    ...isReady.flatMap((one, index) =>
      first === undefined ? [] : [{ ...first, name: `etcd-${index + 1}-0`, isReady: one }],
    ),
  ];

const running = (etcd: Etcd, told: Readonly<Record<string, string>>): Differences => ({
  etcd,
  peers: made(1, 2),
  pods: pods(false, false),
  claims: (claims) => [...claims, claimFor('etcd-1'), claimFor('etcd-2')],
  parts: starts(told),
});

const CLOSED = { 'etcd-0': 'existing', [keyOf(1)]: own('etcd-1'), [keyOf(2)]: own('etcd-2') };

const promoted: Etcd = (etcd) => ({
  ...etcd,
  list: etcd.list && {
    ...etcd.list,
    members: etcd.list.members.map((one) =>
      one.name === 'etcd-1' ? { ...one, isLearner: false } : one,
    ),
  },
});

const ROWS: readonly Row[] = [
  ['the second member is added', born(), 'add-learner: Add etcd-1, member 2 of 3'],
  [
    'the third one beside it',
    born({ etcd: withLearner(1) }),
    'add-learner: Add etcd-2 beside the others',
  ],
  [
    'no more than are wanted, and then they are told among whom they join',
    born({ etcd: both }),
    'make-secret: Let etcd-1 join',
  ],
  ['one is made', born({ etcd: both, parts: starts(OPEN) }), 'make-peer: Let etcd-1 join'],
  [
    'and the other one, which does not wait for the first',
    born({ etcd: both, parts: starts(OPEN), peers: made(1) }),
    'make-peer: Let etcd-2 join',
  ],
  [
    'when others were told already, none is added: they would not know it',
    born({ spec: { replicas: 5 }, etcd: both, parts: starts(OPEN), peers: made(1, 2) }),
    'wait: Let etcd-1 join [MemberAway]',
  ],
  [
    'one that answers has its start closed first',
    born(running(all(withLearner(1), withLearner(2, {})), OPEN)),
    'make-secret: Let etcd-2 start with its data alone',
  ],
  [
    'and then it votes, whether or not the other one has come',
    born(running(all(withLearner(1), withLearner(2, {})), CLOSED)),
    'promote: Let etcd-2 join',
  ],
  [
    'the last one does not wait until the kubelet has found the one before ready',
    born(running(all(withLearner(1, {}), withLearner(2, {}), promoted), CLOSED)),
    'promote: Let etcd-2 join',
  ],
  [
    'a 3.5 takes one at a time',
    born({
      spec: { image: 'quay.io/coreos/etcd:v3.5.35' },
      claims: (claims) => claims.map((one) => ({ ...one, version: '3.5.35', born: '3.5.35' })),
      etcd: all(withLearner(1), (etcd) => ({
        ...etcd,
        answers: new Map(
          [...etcd.answers].map(([name, one]) => [name, { ...one, version: '3.5.35' }]),
        ),
      })),
    }),
    'make-secret: Let etcd-1 join',
  ],
  [
    'and so does one whose pod was made without the flag',
    born({ etcd: withLearner(1), pods: outdated('etcd-0-0') }),
    'make-secret: Let etcd-1 join',
  ],
  [
    'or that was not born as it would be now',
    { ordinals: [0], etcd: withLearner(1) },
    'make-secret: Let etcd-1 join',
  ],
  [
    'and so do two voters',
    { ordinals: [0, 1], spec: { replicas: 5 }, etcd: withLearner(2) },
    'make-secret: Let etcd-2 join',
  ],
  [
    'nobody is added beside a learner that somebody else added',
    born({
      etcd: all(withLearner(1), (etcd) => ({
        ...etcd,
        list: etcd.list && {
          ...etcd.list,
          members: etcd.list.members.map((one) =>
            one.isLearner ? { ...one, peerUrls: ['https://elsewhere:2380'] } : one,
          ),
        },
      })),
    }),
    'wait: Let member 3e9 join [ForeignMember] !ForeignMember',
  ],
];

test.each(ROWS)('%s', (_, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});
