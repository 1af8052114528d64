// The messages that the stream lacks to agree with the API server about one object, as a table.
import { expect, test } from 'vitest';
import {
  compareVersions,
  decide,
  isNewer,
  type Published,
  type DesiredState,
} from '../../../functions/metadata/decide.ts';
import {
  type FeedMessage,
  isTombstone,
  type ObjectMessage,
} from '../../../shared/feed/messages.ts';

const N1 = 'node.n1.pods.web.front-1';
const N2 = 'node.n2.pods.web.front-1';
const PENDING = 'cluster._.pods.web.front-1';

const pod = (changes: Partial<ObjectMessage> = {}): ObjectMessage => ({
  epoch: 1,
  kind: 'Pod',
  namespace: 'web',
  name: 'front-1',
  uid: 'u1',
  resourceVersion: '100',
  node: 'n1',
  phase: 'Running',
  ips: ['10.0.0.1'],
  ...changes,
});

const shown = (subject: string, message: ObjectMessage): DesiredState['shown'][number] => ({
  place: 'all',
  key: { resource: 'pods', namespace: 'web', name: 'front-1' },
  subject,
  message,
});

const sees = (
  subject: string,
  message: ObjectMessage,
  more: Partial<DesiredState> = {},
): DesiredState => ({
  epoch: 1,
  resourceVersion: message.resourceVersion,
  shown: [shown(subject, message)],
  head: undefined,
  guarded: [],
  uid: message.uid,
  at: '2026-11-21T00:00:00Z',
  isAuthoritative: false,
  ...more,
});

/** A head that names one part. */
const ofTwo = (head: ObjectMessage, part: ObjectMessage): DesiredState => ({
  ...sees(PENDING, head),
  resourceVersion: part.resourceVersion,
  shown: [shown(PENDING, head), shown(N1, part)],
  head: PENDING,
});
const slice = (changes: Partial<ObjectMessage> = {}): ObjectMessage =>
  pod({ kind: 'EndpointSlice', nodes: ['n1'], ...changes });

const gone = (resourceVersion: string, more: Partial<DesiredState> = {}): DesiredState => ({
  ...sees(N1, pod({ resourceVersion })),
  shown: [],
  ...more,
});

const stands = (subject: string, message: FeedMessage | undefined, sequence = 7): Published => ({
  subject,
  sequence,
  bytes: 600,
  message,
});

const buried = (resourceVersion: string, epoch = 1): FeedMessage => ({
  deleted: true,
  epoch,
  uid: 'u1',
  resourceVersion,
  at: '2026-11-20T00:00:00Z',
});

interface Row {
  readonly says: string;
  readonly desired: DesiredState;
  readonly published: readonly Published[];
  readonly outcome: string;
  /** `subject over sequence: version`, with a cross for a tombstone. */
  readonly steps: readonly string[];
}

const rows: readonly Row[] = [
  {
    says: 'an object that nobody published is written where nothing stands',
    desired: sees(N1, pod()),
    published: [],
    outcome: 'changed',
    steps: [`${N1} over 0: 100`],
  },
  {
    says: 'an object that stands as it is needs nothing',
    desired: sees(N1, pod()),
    published: [stands(N1, pod())],
    outcome: 'unchanged',
    steps: [],
  },
  {
    says: 'a resourceVersion that moved alone needs nothing',
    desired: sees(N1, pod({ resourceVersion: '110' })),
    published: [stands(N1, pod())],
    outcome: 'unchanged',
    steps: [],
  },
  {
    says: 'a visible change is written over what stands',
    desired: sees(N1, pod({ resourceVersion: '110', phase: 'Failed' })),
    published: [stands(N1, pod(), 9)],
    outcome: 'changed',
    steps: [`${N1} over 9: 110`],
  },
  {
    says: 'an older observation changes nothing',
    desired: sees(N1, pod({ resourceVersion: '99', phase: 'Pending' })),
    published: [stands(N1, pod())],
    outcome: 'overtaken',
    steps: [],
  },
  {
    says: 'an observation from before its deletion changes nothing',
    desired: sees(N1, pod({ resourceVersion: '101', phase: 'Failed' })),
    published: [stands(N1, buried('105'))],
    outcome: 'overtaken',
    steps: [],
  },
  {
    says: 'an object that comes back under its name is written over the tombstone',
    desired: sees(N1, pod({ resourceVersion: '120', uid: 'u2' })),
    published: [stands(N1, buried('105'), 8)],
    outcome: 'changed',
    steps: [`${N1} over 8: 120`],
  },
  {
    says: 'a pod that gets its node leaves the place of those without, in the same step',
    desired: sees(N1, pod({ resourceVersion: '120' })),
    published: [stands(PENDING, pod({ node: '', resourceVersion: '90' }), 3)],
    outcome: 'changed',
    steps: [`${PENDING} over 3: x 120 moved`, `${N1} over 0: 120`],
  },
  {
    says: 'what is gone leaves a tombstone with what it held',
    desired: gone('130'),
    published: [stands(N1, pod(), 5)],
    outcome: 'changed',
    steps: [`${N1} over 5: x 130 last 10.0.0.1`],
  },
  {
    says: 'what is gone and was re-created on another node is buried where it stood alone',
    desired: gone('130'),
    published: [stands(N1, pod(), 5), stands(N2, pod({ resourceVersion: '140', uid: 'u2' }), 6)],
    outcome: 'changed',
    steps: [`${N1} over 5: x 130 last 10.0.0.1`],
  },
  {
    says: 'a death that everybody knows of needs nothing',
    desired: gone('130'),
    published: [stands(N1, buried('130'))],
    outcome: 'unchanged',
    steps: [],
  },
  {
    says: 'a death before anything was published closes the subject to older observation',
    desired: gone('130', { guarded: [N1] }),
    published: [],
    outcome: 'changed',
    steps: [`${N1} over 0: x 130`],
  },
  {
    says: 'a subject is not closed for a change that shows nowhere',
    desired: sees(N1, pod({ resourceVersion: '110' }), { guarded: [PENDING] }),
    published: [stands(N1, pod())],
    outcome: 'unchanged',
    steps: [],
  },
  {
    says: 'a message of an earlier epoch is written anew, whatever its version claims',
    desired: sees(N1, pod({ epoch: 2, resourceVersion: '10' }), { epoch: 2 }),
    published: [stands(N1, pod(), 4)],
    outcome: 'changed',
    steps: [`${N1} over 4: 10`],
  },
  {
    says: 'an observation of an earlier epoch changes nothing',
    desired: sees(N1, pod({ resourceVersion: '500', phase: 'Failed' })),
    published: [stands(N1, pod({ epoch: 2, resourceVersion: '10' }))],
    outcome: 'overtaken',
    steps: [],
  },
  {
    says: 'what somebody else wrote is overwritten',
    desired: sees(N1, pod()),
    published: [stands(N1, undefined, 12)],
    outcome: 'changed',
    steps: [`${N1} over 12: 100`],
  },
  {
    says: 'a part that comes to stand brings its head, which says the same, along',
    desired: ofTwo(
      slice({ resourceVersion: '110' }),
      slice({ resourceVersion: '110', node: 'n1' }),
    ),
    published: [stands(PENDING, slice(), 5), stands(N1, buried('105'), 9)],
    outcome: 'changed',
    steps: [`${N1} over 9: 110`, `${PENDING} over 5: 110`],
  },
  {
    says: 'a part that changes takes its head along, for older observation to find',
    desired: ofTwo(slice(), slice({ resourceVersion: '110', node: 'n1', phase: 'x' })),
    published: [stands(PENDING, slice(), 5), stands(N1, slice({ node: 'n1' }), 9)],
    outcome: 'changed',
    steps: [`${N1} over 9: 110`, `${PENDING} over 5: 100`],
  },
  {
    says: 'the truth overrules a claim to be newer, and says that it had no ground',
    desired: sees(N1, pod(), { isAuthoritative: true }),
    published: [stands(N1, pod({ resourceVersion: '999', phase: 'Failed' }), 12)],
    outcome: 'unfounded',
    steps: [`${N1} over 12: 100`],
  },
];

function tell({ subject, expectedSequence, message }: ReturnType<typeof decide>['steps'][number]) {
  const content = isTombstone(message)
    ? ['x', message.resourceVersion, message.moved && 'moved', tellLast(message.last?.ips)]
    : [message.resourceVersion];
  return `${subject} over ${expectedSequence}: ${content.filter(Boolean).join(' ')}`;
}

const tellLast = (ips: readonly string[] | undefined): string =>
  ips === undefined ? '' : `last ${ips.join()}`;

test.each(rows)('$says', ({ desired, published, outcome, steps }) => {
  const decision = decide(desired, published);
  const told = decision.steps
    .map(tell)
    .map((line) => line.replace(' moved last 10.0.0.1', ' moved'));
  expect([decision.outcome, told]).toEqual([outcome, steps]);
});

test('resourceVersions compare as numbers, whatever their length', () => {
  expect(compareVersions('9', '10')).toBeLessThan(0);
  expect(compareVersions('10', '10')).toBe(0);
  expect(compareVersions('9007199254740993', '9007199254740992')).toBeGreaterThan(0);
});

test('a later epoch is newer than any version of an earlier one', () => {
  expect(isNewer({ epoch: 2, resourceVersion: '1' }, { epoch: 1, resourceVersion: '99' })).toBe(
    true,
  );
});

test('a death says nothing of what claims to be of after it', () => {
  const claim = stands(PENDING, slice({ resourceVersion: '999' }), 12);
  const part = stands(N1, slice({ node: 'n1' }), 9);
  const { outcome, steps, disputed } = decide(gone('130'), [claim, part]);
  expect([outcome, steps.map(tell), disputed]).toEqual([
    'changed',
    [`${N1} over 9: x 130 last 10.0.0.1`],
    [PENDING],
  ]);
});
