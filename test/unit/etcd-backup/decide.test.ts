// The next step of a backup and the status that goes with it, case by case.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-backup/decide.ts';
import type { Source, State } from '../../../functions/etcd-backup/state.ts';
import { statusUpdateOf } from '../../../functions/etcd-backup/status.ts';
import { setConditions } from '../../../shared/kube/conditions.ts';
import {
  type Differences,
  ended,
  FACTS,
  job,
  JOB_NAME,
  LOCATION,
  pod,
  podEnded,
  said,
  saidError,
  state,
} from './samples.ts';

const source: Source = { endpoints: ['http://main.shop.svc:2379'] };
const NOTED = { job: { name: JOB_NAME, uid: 'j1' } };
const refused = podEnded(saidError('S3_REFUSED', 'No rights.'), 1);
const trouble = { reason: 'CreateContainerError', message: 'Pod x: secret "s3" not found.' };

const evicted = { reason: 'PodFailed', message: 'Pod y: Evicted: spool exceeds 1Gi.' };

/** The status as `phase, Complete, Progressing, Degraded`. */
function shown(now: State): string {
  const { status, conditions } = statusUpdateOf(now, decide(now));
  const told = ['Complete', 'Progressing', 'Degraded'].map((type) => {
    const found = conditions.find((one) => one.type === type);
    return `${type}=${found?.status}${type === 'Complete' ? ` ${found?.reason}` : ''}`;
  });
  return [status.phase, ...told].join(', ');
}

type Case = [what: string, changes: Partial<State>, differences: Differences, expected: string];

const CASES: readonly Case[] = [
  [
    'its EtcdCluster lacks',
    { source: { reason: 'EtcdClusterMissing', message: 'There is none.' } },
    {},
    'Pending, Complete=False EtcdClusterMissing, Progressing=False, Degraded=True',
  ],
  [
    'a Job of somebody else has its name',
    { job: job({ isOurs: false }) },
    {},
    'Pending, Complete=False NameTaken, Progressing=False, Degraded=True',
  ],
  [
    'its Job runs',
    { job: job(), pods: [pod()] },
    {},
    'Running, Complete=False Running, Progressing=True, Degraded=False',
  ],
  [
    'its pod gets no Secret',
    { job: job(), pods: [pod({ phase: 'Pending', trouble })] },
    {},
    'Running, Complete=False CreateContainerError, Progressing=False, Degraded=True',
  ],
  [
    'an attempt failed, and another one runs',
    { job: job(), pods: [refused, pod()] },
    {},
    'Running, Complete=False Running, Progressing=True, Degraded=False',
  ],
  [
    'its Job is being deleted',
    { job: job({ isEnding: true }) },
    { status: NOTED },
    'Running, Complete=False JobEnding, Progressing=True, Degraded=False',
  ],
  [
    'its Job was deleted',
    {},
    { status: NOTED },
    'Failed, Complete=False JobGone, Progressing=False, Degraded=True',
  ],
  [
    'another Job has the name of its own',
    { job: job({ uid: 'j2' }), pods: [podEnded(said())] },
    { status: NOTED },
    'Failed, Complete=False JobGone, Progressing=False, Degraded=True',
  ],
  [
    'it is done',
    { job: job(ended(true)), pods: [podEnded(said())] },
    {},
    'Complete, Complete=True Confirmed, Progressing=False, Degraded=False',
  ],
  [
    'no member confirmed it',
    {
      job: job(ended(true)),
      pods: [podEnded(said({ isHashConfirmed: false, unconfirmed: 'no member answered' }))],
    },
    {},
    'Complete, Complete=True Unconfirmed, Progressing=False, Degraded=False',
  ],
  [
    'it is done at the second attempt',
    { job: job(ended(true)), pods: [refused, podEnded(said())] },
    {},
    'Complete, Complete=True Confirmed, Progressing=False, Degraded=False',
  ],
  [
    'its Job succeeded, and its pod is gone',
    { job: job(ended(true)) },
    {},
    'Failed, Complete=False ResultLost, Progressing=False, Degraded=True',
  ],
  [
    'two pods say that they have done it',
    { job: job(ended(true)), pods: [podEnded(said()), podEnded(said({ keys: 6 }))] },
    {},
    'Failed, Complete=False ResultLost, Progressing=False, Degraded=True',
  ],
  [
    'a pod that was given up and the one in its place say the same',
    { job: job(ended(true)), pods: [podEnded(said()), podEnded(said())] },
    {},
    'Complete, Complete=True Confirmed, Progressing=False, Degraded=False',
  ],
  [
    'its Job gets no pod',
    { job: job({ trouble: { reason: 'PodRefused', message: 'Job x gets no pod: a quota.' } }) },
    {},
    'Running, Complete=False PodRefused, Progressing=False, Degraded=True',
  ],
  [
    'a pod was evicted before it began, and another one runs',
    { job: job(), pods: [pod({ phase: 'Failed', trouble: evicted }), pod()] },
    {},
    'Running, Complete=False Running, Progressing=True, Degraded=False',
  ],
  [
    'a pod says so that has not succeeded',
    { job: job(ended(true)), pods: [podEnded(said(), 1)] },
    {},
    'Failed, Complete=False ResultLost, Progressing=False, Degraded=True',
  ],
  [
    'a pod says so whose Job goes on',
    { job: job(), pods: [podEnded(said())] },
    {},
    'Running, Complete=False Running, Progressing=True, Degraded=False',
  ],
  [
    'a pod says so whose Job failed',
    { job: job(ended(false, 'BackoffLimitExceeded', 'Too often.')), pods: [podEnded(said())] },
    {},
    'Failed, Complete=False BackupFailed, Progressing=False, Degraded=True',
  ],
  [
    'all attempts failed',
    { job: job(ended(false, 'BackoffLimitExceeded')), pods: [refused] },
    {},
    'Failed, Complete=False BackupFailed, Progressing=False, Degraded=True',
  ],
  [
    'it took too long',
    { job: job(ended(false, 'DeadlineExceeded')) },
    {},
    'Failed, Complete=False DeadlineExceeded, Progressing=False, Degraded=True',
  ],
];

test.each(CASES)('when %s', (_, changes, differences, expected) => {
  const now = state(changes, differences);
  expect(decide(now).step).toBeUndefined();
  expect(shown(now)).toBe(expected);
});

test('a Job is made where there is none, and none was ever noted', () => {
  const now = state({ source });
  expect(decide(now)).toEqual({
    step: { type: 'make-job', source },
    next: `Create Job ${JOB_NAME}`,
  });
  expect(shown(now)).toMatch(/^Pending, Complete=False Changing, Progressing=True/);
  expect(decide(state({ source }, { status: NOTED })).step).toBeUndefined();
});

test.each(['Complete', 'Failed'] as const)('%s is for good, whatever its Job does', (phase) => {
  const status = { phase, location: LOCATION, completedAt: '2026-11-25T04:10:00Z', ...NOTED };
  for (const found of [undefined, job(), job(ended(true)), job({ uid: 'j2' })]) {
    const now = state({ source, job: found, pods: [podEnded(said())] }, { status });
    expect(decide(now)).toEqual({ next: 'Nothing' });
    expect(statusUpdateOf(now, decide(now))).toEqual({ status, conditions: [] });
  }
});

test('one that is being deleted gets no Job', () => {
  expect(decide(state({ source }, { isEnding: true }))).toEqual({ next: 'Nothing' });
});

test('what is known of it stands in the status, with the times of its Job', () => {
  const now = state({ job: job(ended(true)), pods: [podEnded(said())] });
  const { status, conditions } = statusUpdateOf(now, decide(now));
  expect(status).toEqual({
    observedGeneration: 1,
    phase: 'Complete',
    location: LOCATION,
    job: { name: JOB_NAME, uid: 'j1' },
    startedAt: '2026-11-25T04:00:01Z',
    completedAt: '2026-11-25T04:10:00Z',
    backup: FACTS,
  });
  expect(conditions[0]?.message).toBe(
    '5 keys at revision 6; a member has the same hash of all keys.',
  );
});

test('the error is that of the last attempt, and stays when its pod is gone', () => {
  const first = podEnded(saidError('S3_UNAVAILABLE', 'It is away.'), 1, '2026-11-25T04:05:00Z');
  const pods = [podEnded(saidError('S3_REFUSED', 'No rights.'), 1), first];
  const now = state({ job: job(ended(false, 'BackoffLimitExceeded')), pods });
  const { status, conditions } = statusUpdateOf(now, decide(now));
  expect(status).toMatchObject({ error: { code: 'S3_REFUSED', message: 'No rights.' } });
  expect(conditions[0]?.message).toBe('S3_REFUSED: No rights.');
  const error = { code: 'S3_REFUSED', message: 'No rights.' };
  const later = state({ job: job() }, { status: { ...NOTED, error } });
  expect(statusUpdateOf(later, decide(later)).status).toMatchObject({ phase: 'Running', error });
});

const TOO_LATE = 'It was not done within 3600 seconds.';

test.each([
  ['', [], `${TOO_LATE} Its pod has not said why.`],
  ['of a pod that waits', [pod({ trouble })], `${TOO_LATE} Pod x: secret "s3" not found.`],
  ['of a pod that failed', [refused], `${TOO_LATE} S3_REFUSED: No rights.`],
  [
    'of one that was evicted',
    [pod({ phase: 'Failed', trouble: evicted })],
    `${TOO_LATE} ${evicted.message}`,
  ],
])('a deadline that passed has the last words %s', (_, pods, message) => {
  const now = state({ job: job(ended(false, 'DeadlineExceeded')), pods });
  expect(decide(now).trouble).toEqual({ reason: 'DeadlineExceeded', message });
});

test('a deadline that passed says what it waited for last, though its pod is gone', () => {
  const now = state({ job: job(), pods: [pod({ phase: 'Pending', trouble })] });
  const nowMs = Date.parse('2026-11-25T04:00:00Z');
  const moment = { fieldManager: 'x', observedGeneration: 1, nowMs };
  const { conditions, status } = statusUpdateOf(now, decide(now));
  const told = setConditions(now.backup.object, conditions, moment);
  const later = state(
    { job: job(ended(false, 'DeadlineExceeded')) },
    { status: { ...status, conditions: told } },
  );
  expect(decide(later).trouble?.message).toBe(`${TOO_LATE} Pod x: secret "s3" not found.`);
});

test('what became of the attempt before is told while the next one runs', () => {
  const message = (pods: State['pods']) =>
    decide(state({ job: job(), pods: [...pods, pod()] })).waitsFor?.message;
  const runs = `Job ${JOB_NAME} takes it to ${LOCATION}.`;
  expect(message([])).toBe(runs);
  expect(message([refused])).toBe(`${runs} The attempt before failed: S3_REFUSED: No rights.`);
  expect(message([pod({ phase: 'Failed', trouble: evicted })])).toContain('spool exceeds 1Gi');
});

test.each([
  ['OOMKilled', /^BackoffLimitExceeded: .* more memory than spec.resources.limits.memory lets/],
  ['Error', /^BackoffLimitExceeded: .*Pod \S+ has ended with code 137, and has not said why\.$/],
])('a pod that was killed (%s) says why as far as the kubelet does', (reason, form) => {
  const at = '2026-11-25T04:10:00Z';
  const killed = { container: 'backup', exitCode: 137, reason, message: '', at };
  const pods = [pod({ phase: 'Failed', ended: killed })];
  const now = state({ job: job(ended(false, 'BackoffLimitExceeded', 'Too often.')), pods });
  expect(decide(now).trouble?.message).toMatch(form);
});

test('a Job that failed without a word of its pod says what Kubernetes says', () => {
  const now = state({ job: job(ended(false, 'BackoffLimitExceeded', 'It failed too often.')) });
  expect(decide(now).trouble?.message).toBe(
    'BackoffLimitExceeded: It failed too often. Its pod has not said why.',
  );
});
