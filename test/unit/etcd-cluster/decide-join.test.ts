// Members that join the first one of all are added and started one after the other, and vote when
// all are added. Later ones join in turn, and nobody restarts for it.
import { expect, test } from 'vitest';
import { keyOf, own, starting, starts } from './memory-samples.ts';
import { all, type Etcd, outdated, type Row, shown } from './rows.ts';
import { claimFor, type Differences, peerFor, silent, state, withLearner } from './samples.ts';

/** Three members on volumes are to be there, and the first one is. */
const born = (more: Differences = {}): Differences => ({
  ordinals: [0],
  peers: starting(),
  parts: starts({ 'etcd-0': 'existing' }),
  ...more,
});

const TOLD = [0, 1].map((one) => own(`etcd-${one}`)).join(',');
const OPEN = { 'etcd-0': 'existing', [keyOf(1)]: TOLD };
const CLOSED = { 'etcd-0': 'existing', [keyOf(1)]: own('etcd-1'), [keyOf(2)]: own('etcd-2') };
const byName = { observedGeneration: 1, templateHash: 't1' };

/** So many have been made beside the first one. */
const made =
  (count: number): NonNullable<Differences['peers']> =>
  (peers) => {
    const others = ['etcd-1', 'etcd-2'].slice(0, count);
    return starting(({ name }) => ({ status: { ...byName, claimUid: `claim of ${name}` } }))([
      ...peers,
      ...others.map((name) => peerFor(state(), name, ['etcd-0', name])),
    ]);
  };

/** They run beside the first one, and no kubelet has found them ready yet. */
const running = (count: number, etcd: Etcd, more: Differences = {}): Differences => ({
  etcd,
  peers: made(count),
  pods: (pods) => {
    const others = ['etcd-1', 'etcd-2'].slice(0, count);
    return [
      ...pods,
      ...pods.flatMap((pod) =>
        others.map((name) => ({ ...pod, name: `${name}-0`, isReady: false })),
      ),
    ];
  },
  claims: (claims) => [...claims, ...['etcd-1', 'etcd-2'].slice(0, count).map(claimFor)],
  parts: starts(CLOSED),
  ...more,
});

const promoted: Etcd = (etcd) => ({
  ...etcd,
  list: etcd.list && {
    ...etcd.list,
    members: etcd.list.members.map((one) =>
      one.name === 'etcd-1' ? { ...one, isLearner: false } : one,
    ),
  },
});

const elsewhere: Etcd = (etcd) => ({
  ...etcd,
  list: etcd.list && {
    ...etcd.list,
    members: etcd.list.members.map((one) =>
      one.isLearner ? { ...one, peerUrls: ['https://elsewhere:2380'] } : one,
    ),
  },
});

const OF_3_5 = 'quay.io/coreos/etcd:v3.5.35';
const of35: Etcd = (etcd) => ({
  ...etcd,
  answers: new Map([...etcd.answers].map(([name, one]) => [name, { ...one, version: '3.5.35' }])),
});

const OF_FIVE: Differences = { spec: { replicas: 5 }, ordinals: [0, 1, 2] };

const oneOf35: Etcd = (etcd) => ({
  ...etcd,
  answers: new Map(
    [...etcd.answers].map(([name, one]) =>
      name === 'etcd-1' ? [name, { ...one, version: '3.5.35' }] : [name, one],
    ),
  ),
});

const goingDown: Etcd = (etcd) => ({
  ...etcd,
  answers: new Map(
    [...etcd.answers].map(([name, one]) => [name, { ...one, downgradeTo: '3.5.0' }]),
  ),
});

const startingSince = (since: string, name = 'etcd-2') => ({
  members: [{ name, ready: false, startingSince: since }],
});

const LEAVES = {
  peer: 'etcd-1',
  peerUid: 'peer of etcd-1',
  memberId: '1001',
  claim: 'data-etcd-1',
  claimUid: 'claim of etcd-1',
  reason: 'ScaleDown',
  since: '2026-01-01T23:59:00Z',
};

const DAMAGED = '"error":"walpb: crc mismatch"';
const FINDS_NOBODY = 'could not retrieve cluster information from the given URLs';

/** The container of etcd-1 was started again so often, and each time ended with these words. */
const refusing =
  (restarts: number, lastWords: string): NonNullable<Differences['pods']> =>
  (pods) =>
    (running(1, all()).pods?.(pods) ?? pods).map((pod) =>
      pod.name === 'etcd-1-0'
        ? { ...pod, crash: { restarts, exitCode: 1, isUp: false, lastWords } }
        : pod,
    );

const ROWS: readonly Row[] = [
  [
    'how the first one starts is written before it is made',
    { ordinals: [], pods: () => [], claims: () => [], without: ['clusterId'] },
    'make-secret: Start etcd-0, the first member',
  ],
  [
    'it is told to be born once its id is known, no more',
    born({ parts: starts({ 'etcd-0': 'new' }) }),
    'make-secret: Let etcd-0 start with its data alone',
  ],
  ['the second member is added', born(), 'add-learner: Add etcd-1, member 2 of 3'],
  [
    'it is told among whom it joins before the third one is added',
    born({ etcd: withLearner(1) }),
    'make-secret: Let etcd-1 join',
  ],
  ['then made', born({ etcd: withLearner(1), parts: starts(OPEN) }), 'make-peer: Let etcd-1 join'],
  [
    'and waited for: who starts asks all others',
    born({ etcd: withLearner(1), parts: starts(OPEN), peers: made(1) }),
    'wait: Let etcd-1 join [MemberAway]',
  ],
  [
    'when it answers its start is closed',
    born(running(1, withLearner(1, {}), { parts: starts(OPEN) })),
    'make-secret: Let etcd-1 start with its data alone',
  ],
  [
    'then the third one is added, before the second one votes',
    born(running(1, withLearner(1, {}))),
    'add-learner: Add etcd-2 beside the others',
  ],
  [
    'with all added it votes, whether or not the other one runs',
    born(running(2, all(withLearner(1, {}), withLearner(2)))),
    'promote: Let etcd-1 join',
  ],
  [
    'the last one does not wait until the kubelet has found the one before ready',
    born(running(2, all(withLearner(1, {}), withLearner(2, {}), promoted))),
    'promote: Let etcd-2 join',
  ],
  [
    'a 3.5 takes one at a time',
    born({
      ...running(1, all(withLearner(1, {}), of35)),
      spec: { image: OF_3_5 },
      peers: (peers) =>
        made(1)(peers).map((one) => ({ ...one, spec: { ...one.spec, image: OF_3_5 } })),
      claims: () =>
        ['etcd-0', 'etcd-1'].map((name) => {
          return { ...claimFor(name), version: '3.5.35', born: '3.5.35' };
        }),
    }),
    'promote: Let etcd-1 join',
  ],
  [
    'and so does one whose pod was made without the flag',
    born(
      running(1, withLearner(1, {}), {
        pods: (pods) => outdated('etcd-0-0')(running(1, all()).pods?.(pods) ?? pods),
      }),
    ),
    'promote: Let etcd-1 join',
  ],
  [
    'or that was not born as it would be now',
    {
      ordinals: [0],
      ...running(1, withLearner(1, {})),
      peers: (peers) => made(1)(peers).map((one, index) => peers[index] ?? one),
    },
    'promote: Let etcd-1 join',
  ],
  [
    'and so does one that was told to go down to 3.5',
    born(running(1, all(withLearner(1, {}), goingDown))),
    'promote: Let etcd-1 join',
  ],
  [
    'one that takes longer than its image holds up nobody else',
    born({
      ...running(2, all(withLearner(1, {}), withLearner(2))),
      spec: { replicas: 5 },
      status: startingSince('2026-01-01T23:58:30Z'),
    }),
    'add-learner: Add etcd-3 beside the others',
  ],
  [
    'one whose volume is lost is replaced before another one is added',
    born({
      ...running(1, withLearner(1)),
      lost: { 'etcd-1': 'Why.' },
      status: startingSince('2026-01-01T23:58:30Z', 'etcd-1'),
    }),
    'write-records: Replace etcd-1',
  ],
  [
    'until then it is waited for',
    born({
      ...running(2, all(withLearner(1, {}), withLearner(2))),
      spec: { replicas: 5 },
      status: startingSince('2026-01-01T23:59:30Z'),
    }),
    'wait: Let etcd-2 join [MemberSilent]',
  ],
  [
    'a learner that nobody wants any more is taken away',
    born({ ...running(1, withLearner(1)), spec: { replicas: 1 } }),
    'write-records: Take etcd-1 away',
  ],
  [
    'also beside another one',
    born({
      ...running(2, all(withLearner(1), withLearner(2))),
      spec: { replicas: 1 },
      status: { leaving: LEAVES },
    }),
    'remove-member: Take etcd-1 away',
  ],
  [
    'it waits for a quorum of healthy ones, and is not forgotten',
    {
      spec: { replicas: 3 },
      etcd: all(silent('etcd-1'), withLearner(3)),
      peers: (peers) => [...peers, peerFor(state(), 'etcd-3', ['etcd-3'])],
      pods: (pods) => pods.map((one) => ({ ...one, isReady: one.name !== 'etcd-2-0' })),
      lost: { 'etcd-1': 'Why.' },
      status: { leaving: { ...LEAVES, peer: 'etcd-3', memberId: '1003' } },
    },
    'wait: Take etcd-3 away [VolumeLost]',
  ],
  [
    'one that is wanted again stays',
    born({ ...running(1, withLearner(1)), status: { leaving: LEAVES } }),
    'write-records: Take etcd-1 away',
  ],
  [
    'a learner that refuses its data is replaced after three starts',
    born(running(1, withLearner(1), { pods: refusing(2, DAMAGED) })),
    'write-records: Replace etcd-1',
  ],
  [
    'and not before',
    born(running(1, withLearner(1), { pods: refusing(1, DAMAGED) })),
    'wait: Let etcd-1 join [DataRefused]',
  ],
  [
    'nor for words that say nothing of its data',
    born(running(1, withLearner(1), { pods: refusing(5, 'address already in use') })),
    'wait: Let etcd-1 join [MemberSilent]',
  ],
  [
    'with a closed start and an empty volume it finds nobody ever',
    born(running(1, withLearner(1), { pods: refusing(2, FINDS_NOBODY) })),
    'write-records: Replace etcd-1',
  ],
  [
    'with an open one it may find them later',
    born(running(1, withLearner(1), { pods: refusing(5, FINDS_NOBODY), parts: starts(OPEN) })),
    'wait: Let etcd-1 join [DataRefused]',
  ],
  [
    'and so do two voters',
    born({
      ...running(2, all(withLearner(1, {}), withLearner(2, {}), promoted)),
      spec: { replicas: 5 },
    }),
    'promote: Let etcd-2 join',
  ],
  [
    'nobody joins while etcd is told to go down: it finds the others unfit',
    { ...OF_FIVE, etcd: goingDown },
    'wait: Add etcd-3, member 4 of 5 [DowngradeUnderWay]',
  ],
  [
    'those that are there go down first',
    { ...OF_FIVE, etcd: goingDown, pods: outdated('etcd-1-0') },
    'write-records: Restart etcd-1',
  ],
  [
    'and one of the older version joins once another one runs it',
    {
      ...OF_FIVE,
      etcd: all(goingDown, oneOf35),
      claims: (claims) =>
        claims.map((one) => (one.name === 'data-etcd-1' ? { ...one, version: '3.5.35' } : one)),
    },
    'add-learner: Add etcd-3, member 4 of 5',
  ],
  [
    'nobody is added beside a learner that somebody else added',
    born({ etcd: all(withLearner(1), elsewhere) }),
    'wait: Let member 3e9 join [ForeignMember] !ForeignMember',
  ],
];

test.each(ROWS)('%s', (_, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});
