// Members that join those of a legacy cluster: those that the takeover has added are started, each
// once, and nothing else is begun before the last one of before has left.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { Step } from '../../../functions/etcd-cluster/decision.ts';
import type { Parts } from '../../../functions/etcd-cluster/state.ts';
import {
  added,
  among,
  claims,
  fresh,
  made,
  OF_3_5,
  OLD,
  of35,
  stranger,
  told,
} from './joining-samples.ts';
import { all, type Etcd, outdated, type Row, shown } from './rows.ts';
import { claimFor, type Differences, noQuorum, peerFor, silent, state } from './samples.ts';

const joining = OLD;
const tls = { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } } as const;
const starts = (data: Readonly<Record<string, string>>): Partial<Parts> => ({
  starts: { data, resourceVersion: '7' },
});
const CLOSED = 'etcd-0=http://etcd-0-0.etcd-headless.shop.svc:2380';
const annotated = (joins: string): Readonly<Record<string, string>> => ({
  'ballast.dev/etcd-cluster-id': 'c1',
  'ballast.dev/etcd-joins': joins,
});

/** The first one was made, told of those of before. */
const firstMade: NonNullable<Differences['peers']> = () => {
  const { step } = decide(state(fresh({ parts: starts({ 'etcd-0': told(0) }) })));
  if (step?.type !== 'make-peer') throw new Error(`it does not start: ${step?.type ?? ''}`);
  return [{ ...peerFor(state(made()), 'etcd-0', ['etcd-0']), spec: step.spec }];
};

const alone = (more: Differences = {}): Differences =>
  made({
    ordinals: [0],
    peers: firstMade,
    claims: claims('etcd-0'),
    parts: starts({ 'etcd-0': CLOSED }),
    status: { joining },
    ...more,
    etcd: all(of35, among(3), ...(more.etcd === undefined ? [] : [more.etcd])),
  });

const KEY = 'etcd-1.3e9';

/** And the second one. */
const twoMade: NonNullable<Differences['peers']> = (peers) => {
  const second = peerFor(state(made()), 'etcd-1', ['etcd-1']);
  const bootstrap = { ...second.spec.bootstrap, start: KEY };
  return [...firstMade(peers), { ...second, spec: { ...second.spec, bootstrap } }];
};

/** Three have joined. */
const whole = (more: Differences = {}): Differences =>
  made({
    claims: claims('etcd-0', 'etcd-1', 'etcd-2'),
    status: { joining },
    ...more,
    etcd: all(of35, among(3), ...(more.etcd === undefined ? [] : [more.etcd])),
  });

const otherCluster: Etcd = (etcd) => ({
  ...etcd,
  list: etcd.list && { ...etcd.list, clusterId: '194' },
  answers: new Map([...etcd.answers].map(([name, one]) => [name, { ...one, clusterId: '194' }])),
});

const left =
  (count: number): Etcd =>
  (etcd) => ({
    ...etcd,
    list: etcd.list && {
      ...etcd.list,
      members: etcd.list.members.filter(
        ({ name }) => !OLD.slice(0, count).some((one) => one.name === name),
      ),
    },
  });

const WAITS = 'wait: Join the members of old [Joining]';
const REFUSED = 'wait: Join the members of old [JoinsRefused] !JoinsRefused';

const ROWS: readonly Row[] = [
  [
    'how the first one starts is written before it is made',
    fresh(),
    'make-secret: Join the members of old',
  ],
  [
    'then it is made, and never born',
    fresh({ parts: starts({ 'etcd-0': told(0) }) }),
    'make-peer: Join the members of old',
  ],
  [
    'without the id of their cluster it is not',
    fresh({ annotations: { 'ballast.dev/etcd-joins': JSON.stringify(OLD) } }),
    REFUSED,
  ],
  ['nor with TLS between members', fresh({ spec: { tls } }), REFUSED],
  [
    'nor as a 3.6, which would end those of before',
    fresh({ spec: { image: 'etcd:v3.6.16' } }),
    REFUSED,
  ],
  ['nor in memory', fresh({ spec: { storage: { medium: 'Memory', size: '5Gi' } } }), REFUSED],
  ['nor with no replicas', fresh({ spec: { replicas: 0 } }), REFUSED],
  [
    'nor when nobody can read whom to join: it is not born empty',
    fresh({ annotations: annotated('[]') }),
    'wait: Start the first member [JoinsRefused] !JoinsRefused',
  ],
  [
    'nor among members with its own names',
    fresh({
      annotations: annotated('[{"name":"etcd-3","url":"http://etcd-3.old.shop.svc:2380"}]'),
    }),
    'wait: Start the first member [JoinsRefused] !JoinsRefused',
  ],
  [
    'nor on a claim of somebody else',
    fresh({ claims: () => [{ ...claimFor('etcd-0'), clusterId: undefined }] }),
    'wait: Join the members of old [ClaimsUnmarked] !ClaimsUnmarked',
  ],
  [
    'until it answers it is waited for',
    alone({ without: ['bootstrap', 'clusterId'], claims: () => [], etcd: noQuorum }),
    WAITS,
  ],
  [
    'then the id and those of before are remembered',
    alone({ without: ['bootstrap', 'clusterId'], status: {}, claims: () => [] }),
    'write-records: Go on with the data of cluster c1',
  ],
  [
    'with the data of another cluster it does not go on',
    alone({ without: ['bootstrap', 'clusterId'], claims: () => [], etcd: otherCluster }),
    'wait: Join the members of old [ForeignCluster] !ForeignCluster',
  ],
  [
    'made again amid it, it goes on with its data',
    fresh({ claims: claims('etcd-0') }),
    'write-records: Go on with the data of cluster c1',
  ],
  [
    'once it has joined its start is closed',
    alone({ parts: starts({ 'etcd-0': told(0) }) }),
    'make-secret: Let etcd-0 start with its data alone',
  ],
  [
    'its claim is marked',
    alone({ claims: () => [{ ...claimFor('etcd-0'), clusterId: undefined, born: undefined }] }),
    'mark-claim: Mark claim data-etcd-0 as one of cluster c1',
  ],
  ['then the takeover goes on, and nobody is added here', alone(), WAITS],
  [
    'one that the takeover has added is told whom it joins',
    alone({ etcd: added(1) }),
    'make-secret: Join the members of old: start etcd-1',
  ],
  [
    'and started',
    alone({ etcd: added(1), parts: starts({ 'etcd-0': CLOSED, 'etcd-1.3e9': told(0, 1) }) }),
    'make-peer: Join the members of old: start etcd-1',
  ],
  [
    'until it says its name it may start, though it counts as a voter',
    alone({
      etcd: added(1),
      peers: twoMade,
      parts: starts({ 'etcd-0': CLOSED, [KEY]: told(0, 1) }),
    }),
    WAITS,
  ],
  [
    'but not on a claim with data',
    alone({ etcd: added(1), claims: claims('etcd-0', 'etcd-1') }),
    'wait: Join the members of old [ClaimsUnmarked] !ClaimsUnmarked',
  ],
  [
    'nor as a 3.6',
    alone({ etcd: added(1), spec: { image: 'quay.io/coreos/etcd:v3.6.16' } }),
    REFUSED,
  ],
  [
    'one whose peer somebody deleted is brought back with its data',
    whole({ peers: (peers) => peers.slice(0, 2) }),
    'make-peer: Bring back etcd-2',
  ],
  [
    'and never without it',
    whole({ peers: (peers) => peers.slice(0, 2), claims: claims('etcd-0', 'etcd-1') }),
    'wait: Join the members of old [VolumeLost] !VolumeLost',
  ],
  [
    'one that the takeover has removed is left alone',
    whole({
      ordinals: [0, 1],
      peers: (peers) => [...peers, peerFor(state(made()), 'etcd-2', ['etcd-2'])],
    }),
    WAITS,
  ],
  [
    'a silent one is not replaced',
    whole({ etcd: silent('etcd-1'), lost: { 'etcd-1': 'Why.' } }),
    WAITS,
  ],
  ['nobody is restarted for another spec', whole({ pods: outdated('etcd-1-0') }), WAITS],
  ['nobody more is added', whole({ spec: { replicas: 5 }, ordinals: [0, 1, 2] }), WAITS],
  ['nobody is taken away', whole({ spec: { replicas: 1 }, ordinals: [0, 1, 2] }), WAITS],
  ['nobody hibernates', whole({ spec: { replicas: 0 }, ordinals: [0, 1, 2] }), WAITS],
  [
    'nor while none of ours tells who the members are',
    whole({ spec: { replicas: 0 }, ordinals: [0, 1, 2], etcd: noQuorum }),
    WAITS,
  ],
  [
    'without any of ours it needs the takeover, and nothing starts',
    made({ ordinals: [], claims: () => [], pods: () => [], status: { joining } }),
    `${WAITS} !NoQuorum`,
  ],
  [
    'a member of neither side is told as ever',
    whole({ etcd: stranger }),
    'wait: Join the members of old [ForeignMember] !ForeignMember',
  ],
  [
    'one of before that has left is forgotten',
    whole({ etcd: left(1) }),
    'write-records: Join the members of old',
  ],
  [
    'and so is the last one',
    whole({ etcd: left(3) }),
    'write-records: Join the members of old: all of them have left',
  ],
  [
    'then it is as any other',
    made({ claims: claims('etcd-0', 'etcd-1', 'etcd-2'), etcd: of35 }),
    'wait: Nothing',
  ],
  [
    'one of before that comes back is foreign',
    made({ claims: claims('etcd-0', 'etcd-1', 'etcd-2'), etcd: all(of35, among(1)) }),
    'wait: Take etcd-2 away [ForeignMember]',
  ],
  [
    'when all its data is gone nobody joins a second time',
    made({ ordinals: [], claims: () => [], pods: () => [] }),
    'wait: Nothing [DataGone] !DataGone',
  ],
  [
    'it stays on 3.5',
    made({
      claims: claims('etcd-0', 'etcd-1', 'etcd-2'),
      etcd: of35,
      spec: { image: 'quay.io/coreos/etcd:v3.6.16' },
      peers: (peers) => peers.map((one) => ({ ...one, spec: { ...one.spec, image: OF_3_5 } })),
    }),
    'wait: Change the image to quay.io/coreos/etcd:v3.6.16 [UpgradeRefused] !UpgradeRefused',
  ],
];

test.each(ROWS)('%s', (_, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});

const recordsIn = (observed: Differences): unknown => {
  const { step } = decide(state(observed));
  return step?.type === 'write-records' ? step.records : undefined;
};

test('nothing says that it was born here', () => {
  const observed = alone({ without: ['bootstrap', 'clusterId'], status: {}, claims: () => [] });
  expect(recordsIn(observed)).toEqual({ clusterId: 'c1', joining: OLD });
});

test('those that are left are remembered, and no others', () => {
  expect(recordsIn(whole({ etcd: left(1) }))).toEqual({ clusterId: 'c1', joining: OLD.slice(1) });
  expect(recordsIn(whole({ etcd: left(3) }))).toEqual({ clusterId: 'c1' });
});

test('who starts is told of all that are counted, and of itself', () => {
  const { step } = decide(state(alone({ etcd: added(1) })));
  expect(textsOf(step)).toEqual({ 'etcd-0': CLOSED, 'etcd-1.3e9': told(0, 1) });
});

test('the start of one that has joined is kept when another one gets its own', () => {
  // The peers here have no start of their own, as when somebody has deleted them.
  const data = { 'etcd-1.3e9': 'closed', 'etcd-7.3ef': 'of one that is gone' };
  const observed = whole({ ordinals: [0, 1], parts: starts(data), etcd: added(2) });
  const { step } = decide(state({ ...observed, claims: claims('etcd-0', 'etcd-1') }));
  expect(textsOf(step)).toEqual({ 'etcd-1.3e9': 'closed', 'etcd-2.3ea': told(0, 1, 2) });
});

function textsOf(step: Step | undefined): Readonly<Record<string, string>> {
  if (step?.type !== 'make-secret') throw new Error(`it is ${step?.type ?? 'none'}`);
  const data = Object.entries(Object(step.secret.manifest['data']) as Record<string, string>);
  return Object.fromEntries(
    data.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
  );
}
