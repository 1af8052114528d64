// The next step of a peer, for each state that it can be found in.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-peer/decide.ts';
import type { PeerClaim, State } from '../../../functions/etcd-peer/state.ts';
import { CLAIM, type Differences, state } from './samples.ts';

const memory: Differences = {
  spec: { storage: { medium: 'Memory', size: '1Gi' } },
  status: { podUid: 'p1' },
  claim: null,
};
const growing = (isAllowed: boolean): Partial<State> => ({
  growth: { claim: CLAIM, size: '20Gi', isAllowed },
});
const fresh: Differences = { status: {}, statefulSet: null, pod: null };
const ended: Differences = { isEnding: true, statefulSet: null, pod: null };

const STEPS: readonly [what: string, found: Differences, step: string, next: string][] = [
  ['it is new', { ...fresh, finalizers: [], claim: null }, 'hold', 'Hold it until its pod ends'],
  ['others hold it alone', { finalizers: ['other'] }, 'hold', 'Hold it until its pod ends'],
  ['it has no claim yet', { ...fresh, claim: null }, 'make-claim', 'Create claim data-main-1'],
  ['its claim is there', fresh, 'write-records', 'Take claim data-main-1'],
  ['it needs no claim', { ...memory, ...fresh, claim: null }, 'apply', 'Create StatefulSet main-1'],
  ['its data is in this pod', { ...memory, status: {} }, 'write-records', 'Note pod main-1-0'],
  ['its claim is known', { statefulSet: null, pod: null }, 'apply', 'Create StatefulSet main-1'],
  [
    'its spec changed',
    { statefulSet: { isAsRendered: false } },
    'apply',
    'Update StatefulSet main-1',
  ],
  ['it is to grow', { more: growing(true) }, 'grow', 'Let claim data-main-1 grow to 20Gi'],
  ['its claim is gone', { claim: null }, 'stop', 'Stop pod main-1-0'],
  ['another claim has its name', { claim: { uid: 'v2' } }, 'stop', 'Stop pod main-1-0'],
  ['it ends', { isEnding: true }, 'delete', 'Delete StatefulSet main-1'],
  [
    'it ends, and lost its claim',
    { isEnding: true, claim: null },
    'delete',
    'Delete StatefulSet main-1',
  ],
  ['it ended', ended, 'release', 'Let it go'],
  [
    'it ended, and others have its names',
    { ...ended, statefulSet: { isOurs: false }, pod: { isOurs: false } },
    'release',
    'Let it go',
  ],
];

test.each(STEPS)('%s', (_, found, step, next) => {
  const decision = decide(state(found));
  expect([decision.step?.type, decision.next]).toEqual([step, next]);
});

const WAITS: readonly [what: string, found: Differences, waitsFor: string, needsPerson: boolean][] =
  [
    [
      'the claim of a former one is ending',
      { ...fresh, claim: { isEnding: true } },
      'ClaimEnding',
      false,
    ],
    ["the claim is somebody else's", { ...fresh, claim: { isOurs: false } }, 'NameTaken', true],
    [
      "the StatefulSet is somebody else's",
      { statefulSet: { isOurs: false, isAsRendered: false } },
      'NameTaken',
      true,
    ],
    ["the pod is somebody else's", { pod: { isOurs: false } }, 'NameTaken', true],
    [
      'the StatefulSet is ending',
      { statefulSet: { isAsRendered: false, isEnding: true } },
      'StatefulSetEnding',
      false,
    ],
    [
      'its data is lost, and its pod stopped',
      { claim: null, statefulSet: { replicas: 0 }, pod: null },
      'DataLost',
      false,
    ],
    [
      'its data is lost, and it never had a StatefulSet',
      { claim: null, statefulSet: null, pod: null },
      'DataLost',
      false,
    ],
    [
      'its data is lost, and another one has the name',
      { claim: null, statefulSet: { isOurs: false } },
      'DataLost',
      false,
    ],
    ['the pod with its data is gone', { ...memory, pod: null }, 'DataLost', false],
    ['another pod has the name of that', { ...memory, pod: { uid: 'p2' } }, 'DataLost', false],
    [
      'its pod in memory has not been ready yet',
      { ...memory, status: {}, pod: { isReady: false } },
      'NotReady',
      false,
    ],
    ['its pod is not made yet', { pod: null }, 'PodMissing', false],
    ['its pod is ending', { pod: { isEnding: true } }, 'PodEnding', false],
    ['its pod is not ready', { pod: { isReady: false } }, 'NotReady', false],
    [
      'its pod does not run',
      { pod: { isReady: false, trouble: { reason: 'OOMKilled', message: 'so' } } },
      'OOMKilled',
      false,
    ],
    [
      'its claim gets no volume',
      { pod: { isReady: false }, more: { pending: 'No.' } },
      'ClaimPending',
      true,
    ],
    [
      'its volume is lost',
      { pod: { isReady: false }, claim: { phase: 'Lost' } },
      'VolumeLost',
      false,
    ],
    [
      'it is to hibernate, and its pod ends',
      { spec: { running: false }, pod: { isEnding: true } },
      'PodEnding',
      false,
    ],
    [
      'it ends, and its StatefulSet too',
      { isEnding: true, statefulSet: { isEnding: true }, pod: null },
      'PodEnding',
      false,
    ],
    [
      'it ends, and its pod too',
      { isEnding: true, statefulSet: null, pod: { isEnding: true } },
      'PodEnding',
      false,
    ],
  ];

test.each(WAITS)('nothing is done while %s', (_, found, waitsFor, needsPerson) => {
  const decision = decide(state(found));
  expect([decision.step, decision.waitsFor?.reason]).toEqual([undefined, waitsFor]);
  expect(decision.trouble?.reason).toBe(needsPerson ? waitsFor : undefined);
});

test.each<[what: string, found: Differences]>([
  ['it runs', {}],
  ['it runs in memory', memory],
  ['it hibernates', { spec: { running: false }, pod: null }],
  ['it runs with another template, until its turn has come', { pod: { templateHash: 'old' } }],
  ['it ends, and somebody took our finalizer', { isEnding: true, finalizers: [] }],
])('nothing is left to do when %s', (_, found) => {
  expect(decide(state(found))).toEqual({ next: 'Nothing' });
});

test.each<[what: string, found: Differences, trouble: string]>([
  ['its storage class lets no claim grow', { more: growing(false) }, 'StorageCannotGrow'],
  ['its claim was deleted under it', { claim: { isEnding: true } }, 'ClaimEnding'],
])('it runs, and a person is told that %s', (_, found, trouble) => {
  const { step, waitsFor, trouble: told } = decide(state(found));
  expect([step, waitsFor, told?.reason]).toEqual([undefined, undefined, trouble]);
});

test.each<[what: string, claim: Partial<PeerClaim>]>([
  ['without a volume yet', { phase: 'Pending' }],
  ['that is ending', { isEnding: true }],
])('a claim %s does not grow', (_, claim) => {
  expect(decide(state({ claim, more: growing(true) })).step).toBeUndefined();
});

test.each([
  [{ accessMode: 'ReadWriteOnce' }, 'keeps its accessMode ReadWriteOncePod'],
  [{ storageClassName: 'slow' }, 'keeps its storageClassName fast'],
] as const)(
  'a claim of before that cannot be as the spec says (%j) is not taken',
  (wanted, why) => {
    const storage = { medium: 'Volume', size: '10Gi', ...wanted } as const;
    const { step, trouble } = decide(state({ ...fresh, spec: { storage } }));
    expect([step, trouble?.reason]).toEqual([undefined, 'ClaimKept']);
    expect(trouble?.message).toContain(why);
  },
);

test('the claim of before is taken as it is when the spec leaves that open', () => {
  const found = { ...fresh, claim: { accessMode: 'ReadWriteOnce', uid: 'v0' } } as const;
  expect(decide(state(found)).step).toEqual({ type: 'write-records', records: { claimUid: 'v0' } });
});

test('the StatefulSet of another object by the same name is neither stopped nor deleted', () => {
  for (const isEnding of [true, false]) {
    const { step } = decide(state({ isEnding, claim: null, statefulSet: { isOurs: false } }));
    expect(['stop', 'delete', 'apply']).not.toContain(step?.type);
  }
});
