// Members in memory: which step comes next, what their starts are told, whose data is gone, and how
// many pods may go at a time.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { forgotten, isOtherPod } from '../../../functions/etcd-cluster/forgotten.ts';
import { mayGoOf, render } from '../../../functions/etcd-cluster/render.ts';
import { isBirthOver } from '../../../functions/etcd-cluster/starts.ts';
import type { Peer, State } from '../../../functions/etcd-cluster/state.ts';
import type { MemberStatus } from '../../../shared/api/etcd-cluster.ts';
import { dataOf } from '../../../shared/stateful/certificates/secret-data.ts';
import type { Pod } from '../../../shared/stateful/pods.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { CLOSED, keyOf, memory, own, starting, starts } from './memory-samples.ts';
import { type Etcd, outdated, type Row, shown } from './rows.ts';
import { claimFor, type Differences, noQuorum, silent, state, withLearner } from './samples.ts';

const BORN = ['clusterId', 'bootstrap'] as const;
const everybody = (...names: readonly string[]): string => names.map(own).join(',');

const names = (...ordinals: readonly number[]) => ordinals.map((one) => `etcd-${one}`);
const lost = (...ordinals: readonly number[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names(...ordinals).map((name) => [name, `${name} is gone.`]));
const members = (...ordinals: readonly number[]): readonly MemberStatus[] =>
  names(...ordinals).map((name) => ({ name, ready: true }));
const LATE = { quorumLostSince: '2026-01-01T23:58:00Z' };
const learner = (answers: boolean): NonNullable<Differences['etcd']> =>
  withLearner(3, answers ? {} : undefined);
const FOUR = { ordinals: [0, 1, 2, 3] };
const withFour = (told: string, more: Differences = {}): Differences =>
  memory({
    ...FOUR,
    spec: { replicas: 5 },
    parts: starts({ ...CLOSED, [keyOf(3)]: told }),
    etcd: (etcd, cluster) =>
      learner(true)(
        {
          ...etcd,
          list: etcd.list && { ...etcd.list, members: etcd.list.members.slice(0, 3) },
        },
        cluster,
      ),
    ...more,
  });
const unstarted: NonNullable<Differences['etcd']> = (etcd, cluster) =>
  learner(false)(
    {
      ...etcd,
      list: etcd.list && { ...etcd.list, members: etcd.list.members.slice(0, 3) },
      answers: new Map([...etcd.answers].filter(([name]) => name !== 'etcd-3')),
    },
    cluster,
  );
const nobody = { ordinals: [], pods: () => [], peers: (peers: readonly Peer[]) => peers };

const BIRTH: readonly Row[] = [
  [
    'claims of before would be passed over',
    memory({ without: BORN, ...nobody, claims: () => [claimFor('etcd-0')] }),
    'wait: Start the first member [ClaimsLeft] !ClaimsLeft',
  ],
  [
    'it may be born: that is written before the first peer',
    memory({ without: ['clusterId'], ...nobody, parts: {} }),
    'make-secret: Start etcd-0, the first member',
  ],
  [
    'then its peer is made',
    memory({ without: ['clusterId'], ...nobody, parts: starts({ 'etcd-0': 'new' }) }),
    'make-peer: Start etcd-0, the first member',
  ],
  [
    'the pod of the first one is gone before anybody was let in: it starts anew',
    memory({ without: ['clusterId'], ordinals: [0], lost: lost(0), etcd: noQuorum }),
    'delete-peer: Start etcd-0, the first member',
  ],
  [
    'once its cluster is known it is not born again',
    memory({ spec: { replicas: 1 }, parts: starts({ 'etcd-0': 'new' }) }),
    'make-secret: Let etcd-0 start with its data alone',
  ],
  [
    'also when that member is gone, and somebody deleted the Secret',
    memory({ ordinals: [1, 2], parts: starts({ [keyOf(1)]: own('etcd-1') }) }),
    'make-secret: Let etcd-0 start with its data alone',
  ],
  [
    'somebody deleted the Secret: no member starts but with its data',
    memory({ parts: {} }),
    'make-secret: Let etcd-0 start with its data alone',
  ],
];

const JOINING: readonly Row[] = [
  [
    'a learner is told whom it joins before its peer is made',
    memory({ etcd: learner(false) }),
    'make-secret: Let etcd-3 join',
  ],
  [
    'then its peer is made',
    memory({
      etcd: learner(false),
      parts: starts({ ...CLOSED, [keyOf(3)]: everybody('etcd-0', 'etcd-1', 'etcd-2', 'etcd-3') }),
    }),
    'make-peer: Let etcd-3 join',
  ],
  [
    'it votes when it can start with its data alone, and not before',
    withFour(everybody('etcd-0', 'etcd-1', 'etcd-2', 'etcd-3')),
    'make-secret: Let etcd-3 start with its data alone',
  ],
  ['and then it does', withFour(own('etcd-3')), 'promote: Let etcd-3 join'],
  [
    'its pod is gone: another one joins',
    withFour(own('etcd-3'), { lost: lost(3) }),
    'write-records: Replace etcd-3',
  ],
  [
    'nothing says any more how it starts: another one joins',
    memory({ ...FOUR, spec: { replicas: 5 }, etcd: unstarted }),
    'write-records: Replace etcd-3',
  ],
  [
    'its peer was made for another member: another one joins',
    withFour(own('etcd-3'), {
      parts: starts({ ...CLOSED, 'etcd-3.9': own('etcd-3') }),
      peers: starting(({ spec }) =>
        spec.ordinal === 3
          ? { spec: { ...spec, bootstrap: { ...spec.bootstrap, start: 'etcd-3.9' } } }
          : {},
      ),
    }),
    'write-records: Replace etcd-3',
  ],
];

const GOING: readonly Row[] = [
  ['at rest it does nothing', memory(), 'wait: Nothing'],
  [
    'a member that lost its data goes, with a quorum of the others',
    memory({ lost: lost(1), etcd: silent('etcd-1') }),
    'write-records: Replace etcd-1',
  ],
  [
    'and waits while that would leave none',
    memory({ lost: lost(1), etcd: silent('etcd-1', 'etcd-2') }),
    'wait: Replace etcd-1 [MemberSilent]',
  ],
  [
    'another pod template is another member: it is added first',
    memory({ pods: outdated('etcd-1-0') }),
    'add-learner: Add etcd-3 in place of etcd-1',
  ],
  [
    'also of a single member, whose pod would take all data with it',
    memory({ spec: { replicas: 1 }, pods: outdated('etcd-0-0') }),
    'add-learner: Add etcd-1 in place of etcd-0',
  ],
  [
    'then the one in whose place it came goes, and not the last',
    memory({
      ...FOUR,
      spec: { replicas: 3 },
      parts: starts({ ...CLOSED, [keyOf(3)]: own('etcd-3') }),
      pods: outdated('etcd-1-0'),
    }),
    'write-records: Take etcd-1 away',
  ],
  [
    'amid a change of the image nobody goes before it is known which of them is to',
    memory({
      ...FOUR,
      spec: { replicas: 3, image: 'quay.io/coreos/etcd:v3.7.3' },
      parts: starts({ ...CLOSED, [keyOf(3)]: own('etcd-3') }),
      peers: starting(({ spec }) =>
        spec.ordinal === 3 ? {} : { spec: { ...spec, image: 'quay.io/coreos/etcd:v3.6.16' } },
      ),
      status: { bootstrap: { seed: 'etcd-0', since: '2026-01-01T00:00:00Z', version: '3.6.16' } },
    }),
    'wait: Take etcd-3 away [ViewUnknown]',
  ],
  [
    'there is no way back to an older minor version',
    memory({
      spec: { image: 'quay.io/coreos/etcd:v3.5.35' },
      peers: starting(({ spec }) => ({
        spec: { ...spec, image: 'quay.io/coreos/etcd:v3.6.16' },
      })),
    }),
    'wait: Change the image to quay.io/coreos/etcd:v3.5.35 [UpgradeRefused] !UpgradeRefused',
  ],
  [
    'one that was to go stays while another one is lost',
    memory({
      ...FOUR,
      spec: { replicas: 3 },
      parts: starts({ ...CLOSED, [keyOf(3)]: own('etcd-3') }),
      etcd: silent('etcd-0'),
      lost: lost(0),
      status: {
        leaving: {
          peer: 'etcd-2',
          peerUid: 'peer of etcd-2',
          memberId: '1002',
          reason: 'ScaleDown',
          since: '2026-01-01T23:59:00Z',
        },
      },
    }),
    'write-records: Take etcd-2 away: leave it off',
  ],
  [
    'all have lost it: nothing starts',
    memory({ lost: lost(0, 1, 2), etcd: noQuorum, status: { members: members(0, 1, 2) } }),
    'wait: Nothing [DataGone] !DataGone',
  ],
  [
    'no peer is left',
    memory({ ...nobody, etcd: noQuorum, status: { members: [] } }),
    'wait: Nothing [DataGone] !DataGone',
  ],
  [
    'most have lost it: the rest cannot go on',
    memory({ lost: lost(1, 2), etcd: noQuorum, status: { members: members(0, 1, 2), ...LATE } }),
    'wait: Nothing [QuorumLost] !QuorumLost',
  ],
  [
    'one has lost it, and the others elect a leader',
    memory({ lost: lost(1), etcd: noQuorum, status: { members: members(0, 1, 2), ...LATE } }),
    'wait: Nothing [NoQuorum]',
  ],
];

describe.each([
  ['birth', BIRTH],
  ['joining', JOINING],
  ['going', GOING],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });
});

function written(of: State) {
  const { step } = decide(of);
  return step?.type === 'make-secret' ? dataOf(step.secret.manifest) : undefined;
}

test('what a start is told is for one member of one life, and ends with it', () => {
  const former = { 'etcd-3.9': own('etcd-3') };
  const opened = written(
    state(memory({ etcd: learner(false), parts: starts({ ...CLOSED, ...former }) })),
  );
  const told = everybody('etcd-0', 'etcd-1', 'etcd-2', 'etcd-3');
  expect(opened).toEqual({ ...CLOSED, [keyOf(3)]: told });
  const closed = written(state(withFour(told)));
  expect(closed).toEqual({ ...CLOSED, [keyOf(3)]: own('etcd-3') });
});

test('whoever answers in another pod than that of the data is not the member', () => {
  const [peer] = state(memory()).peers;
  const [pod] = state(memory()).pods;
  if (peer === undefined || pod === undefined) throw new Error('there is no member');
  expect(isOtherPod(pod, [peer])).toBe(false);
  expect(isOtherPod({ ...pod, uid: 'another' }, [peer])).toBe(true);
});

const NOW_MS = Date.parse('2026-01-02T00:00:00Z');
const crashing = (since: string): Partial<Pod> => ({
  isReady: false,
  unreadySince: since,
  trouble: { reason: 'CrashLoopBackOff', message: 'so' },
});

test.each<
  [name: string, pod: Partial<Pod> | null, data: Readonly<Record<string, string>>, is: boolean]
>([
  ['it runs', {}, CLOSED, false],
  ['another pod has its name', { uid: 'another' }, CLOSED, true],
  ['its pod is gone', null, CLOSED, true],
  ['its pod ends', { isEnding: true }, CLOSED, true],
  ['it ends at each start', crashing('2026-01-01T23:57:00Z'), CLOSED, true],
  ['it was killed a minute ago', crashing('2026-01-01T23:59:00Z'), CLOSED, false],
  ['it never joined', crashing('2026-01-01T23:57:00Z'), { ...CLOSED, [keyOf(1)]: 'open' }, false],
])('whether the data of a member is gone, when %s', async (_, pod, data, is) => {
  const { peers, pods } = state(memory());
  const kube = new KubeModel().client;
  const found = { kube, namespace: 'shop', nowMs: NOW_MS, signal: new AbortController().signal };
  const seen = pods.flatMap((one) => {
    if (one.name !== 'etcd-1-0') return [one];
    return pod === null ? [] : [{ ...one, ...pod }];
  });
  const gone = await forgotten(found, starts(data), peers, seen);
  expect(gone.map(([name]) => name)).toEqual(is ? ['etcd-1'] : []);
});

test.each<[name: string, of: Differences, pods: number]>([
  ['on volumes always', {}, 1],
  ['when all vote', memory({ status: { members: members(0, 1, 2) } }), 1],
  ['not when one is away', memory({ status: { members: members(0, 1) } }), 0],
  ['not of one', memory({ spec: { replicas: 1 }, status: { members: members(0) } }), 0],
  [
    'not while one goes',
    memory({
      status: {
        members: members(0, 1, 2),
        leaving: { peer: 'etcd-1', peerUid: 'u', reason: 'so', since: '2026-01-01T00:00:00Z' },
      },
    }),
    0,
  ],
])('a pod may be drained %s', (_, of, pods) => {
  expect(mayGoOf(state(of).cluster)).toBe(pods);
});

test('clients find no Service before the first member can start with its data alone', () => {
  const { cluster } = state(memory());
  const none = { clients: undefined, peers: undefined };
  const keys = (isServed: boolean) => render(cluster, none, { isServed }).map(({ key }) => key);
  expect(keys(true).filter((key) => !keys(false).includes(key))).toEqual(['service']);
  const isOver = (told: string) =>
    isBirthOver(cluster, { data: { 'etcd-0': told }, resourceVersion: '1' });
  expect([isOver('new'), isOver('existing')]).toEqual([false, true]);
});

/** Each of them tells that it sees all, and speaks 3.6. */
const seeing =
  (of: Etcd): Etcd =>
  (etcd, cluster) => {
    const found = of(etcd, cluster);
    const view = { clusterId: '193', clusterVersion: '3.6.0', members: found.list?.members ?? [] };
    return { ...found, views: new Map([...found.answers.keys()].map((name) => [name, view])) };
  };

test('one that comes in place of another has the image of the spec, when that may follow', () => {
  const open = starts({ ...CLOSED, [keyOf(3)]: 'told' });
  const of = (version: string): string => `quay.io/coreos/etcd:v${version}`;
  const before = starting(({ spec }) => ({ spec: { ...spec, image: of('3.6.16') } }));
  const bootstrap = { seed: 'etcd-0', since: '2026-01-01T00:00:00Z', version: '3.6.16' };
  const imageOf = (image: string, etcd = learner(false), gone = lost()) => {
    const told = { parts: open, peers: before, status: { bootstrap }, lost: gone };
    const { step } = decide(state(memory({ ...told, etcd, spec: { image } })));
    return step?.type === 'make-peer' ? step.spec.image : undefined;
  };
  expect(imageOf(of('3.6.17'))).toBe(of('3.6.17'));
  // Nobody has said yet which members it sees, so it is not known whether it would be let in.
  expect(imageOf(of('3.7.3'))).toBe(undefined);
  expect(imageOf(of('3.7.3'), learner(false), lost(1))).toBe(of('3.6.16'));
  expect(imageOf(of('3.7.3'), seeing(learner(false)))).toBe(of('3.7.3'));
});
