// What the stream lacks to agree with the API server about one object, as a table.
import { expect, test } from 'vitest';
import { decide, type Input, isNewer, type Published } from '../../../functions/metadata/decide.ts';
import type { Projection } from '../../../functions/metadata/projection.ts';
import { subjectOf } from '../../../functions/metadata/subjects.ts';

const pod = (changes: Partial<Projection> = {}): Projection => ({
  kind: 'Pod',
  namespace: 'web',
  name: 'front-1',
  uid: 'u1',
  resourceVersion: '100',
  labels: {},
  node: 'n1',
  phase: 'Running',
  ready: true,
  ips: ['10.0.0.1'],
  containers: [],
  ...changes,
});

const stands = (value: Projection, sequence = 7): Published => ({
  subject: subjectOf(value),
  sequence,
  value,
});

const buried = (value: Projection, resourceVersion: string): Published => ({
  subject: subjectOf(value),
  sequence: 7,
  value: { deleted: true, uid: value.uid, resourceVersion },
});

const N1 = 'node.n1.pod.web.front-1';
const N2 = 'node.n2.pod.web.front-1';
const PENDING = 'all.pod.web.front-1';

const rows: readonly [sentence: string, input: Input, steps: readonly string[]][] = [
  [
    'an object that nobody published is new',
    { current: pod(), observedAt: '120', published: [] },
    [`New ${N1} over 0`],
  ],
  [
    'an object that stands as it is needs nothing',
    { current: pod(), observedAt: '120', published: [stands(pod())] },
    [],
  ],
  [
    'a resourceVersion that moved alone needs nothing',
    { current: pod({ resourceVersion: '110' }), observedAt: '120', published: [stands(pod())] },
    [],
  ],
  [
    'a visible change is published over what stands',
    {
      current: pod({ resourceVersion: '110', phase: 'Failed' }),
      observedAt: '120',
      published: [stands(pod(), 9)],
    },
    [`Changed ${N1} over 9`],
  ],
  [
    'what a faster instance published from a later read stays',
    {
      current: pod({ resourceVersion: '110', phase: 'Failed' }),
      observedAt: '110',
      published: [stands(pod({ resourceVersion: '115' }))],
    },
    [],
  ],
  [
    'an object that is gone leaves a tombstone',
    { current: undefined, observedAt: '120', published: [stands(pod())] },
    [`Deleted ${N1} over 7`],
  ],
  [
    'an object published after the read that missed it is not buried',
    {
      current: undefined,
      observedAt: '120',
      published: [stands(pod({ resourceVersion: '130' }))],
    },
    [],
  ],
  [
    'a tombstone of what is gone is enough',
    { current: undefined, observedAt: '130', published: [buried(pod(), '120')] },
    [],
  ],
  [
    'a late read does not dig up what was buried after it',
    { current: pod(), observedAt: '110', published: [buried(pod(), '120')] },
    [],
  ],
  [
    'an object that came back under its name replaces its tombstone',
    {
      current: pod({ uid: 'u2', resourceVersion: '130' }),
      observedAt: '140',
      published: [buried(pod(), '120')],
    },
    [`New ${N1} over 7`],
  ],
  [
    'another uid under the same name is a change, even if all else is equal',
    {
      current: pod({ uid: 'u2', resourceVersion: '130' }),
      observedAt: '140',
      published: [stands(pod())],
    },
    [`Changed ${N1} over 7`],
  ],
  [
    'a pod that got its node leaves the unscheduled ones first',
    {
      current: pod({ resourceVersion: '110' }),
      observedAt: '120',
      published: [
        {
          subject: PENDING,
          sequence: 3,
          value: { ...pod(), node: undefined } as unknown as Projection,
        },
      ],
    },
    [`Moved ${PENDING} over 3`, `New ${N1} over 0`],
  ],
  [
    'a pod re-created on another node moves there',
    {
      current: pod({ uid: 'u2', node: 'n2', resourceVersion: '130' }),
      observedAt: '140',
      published: [stands(pod())],
    },
    [`Moved ${N1} over 7`, `New ${N2} over 0`],
  ],
  [
    'a read older than what stands anywhere is not acted upon',
    {
      current: pod(),
      observedAt: '110',
      published: [stands(pod({ uid: 'u2', node: 'n2', resourceVersion: '130' }))],
    },
    [],
  ],
];

test.each(rows)('%s', (_sentence, input, steps) => {
  const said = decide(input).map(
    (step) => `${step.reason} ${step.subject} over ${step.expectedSequence}`,
  );
  expect(said).toEqual(steps);
});

test('resourceVersions are compared as numbers of any length', () => {
  expect(isNewer('1000', '999')).toBe(true);
  expect(isNewer('999', '1000')).toBe(false);
  expect(isNewer('18446744073709551615', '18446744073709551614')).toBe(true);
  expect(isNewer('7', '7')).toBe(false);
});
