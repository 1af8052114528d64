// A pod's own words about why it does not run, as one reason and one line.
import { expect, test } from 'vitest';
import { podOf, readPods } from '../../../shared/stateful/pods.ts';
import { PODS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from './kube-model.ts';
import { NOW_MS } from './samples.ts';

const waiting = (reason: string, message = 'Why.') => ({
  containerStatuses: [{ state: { waiting: { reason, message } } }],
});
const placeless = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message: '0/3 nodes are available: 3 Insufficient cpu.',
};
const ended = (reason: string, exitCode: number) => ({
  terminated: { reason, exitCode, finishedAt: '2026-01-01T23:59:00Z' },
});
const running = { running: { startedAt: '2026-01-01T23:59:30Z' } };
const looping = { state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 4 };

const troubleOf = (status: object) => {
  const metadata = { name: 'db-1', uid: 'u', resourceVersion: '1' };
  return podOf({ apiVersion: 'v1', kind: 'Pod', metadata, status }, NOW_MS).trouble;
};

test.each<[object, string, string]>([
  [waiting('ErrImagePull'), 'ImagePullBackOff', 'ErrImagePull: Why'],
  [waiting('ImagePullBackOff'), 'ImagePullBackOff', 'ImagePullBackOff: Why'],
  [waiting('InvalidImageName'), 'ImagePullBackOff', 'InvalidImageName'],
  [waiting('CreateContainerConfigError'), 'CreateContainerError', 'CreateContainerConfigError'],
  [{ conditions: [placeless] }, 'Unschedulable', '3 Insufficient cpu'],
  [{ phase: 'Failed', reason: 'Evicted', message: 'Low on disk.' }, 'PodFailed', 'Evicted: Low'],
  [
    { containerStatuses: [{ ...looping, lastState: ended('Error', 1) }] },
    'CrashLoopBackOff',
    'it ends with code 1',
  ],
  [
    { containerStatuses: [{ ...looping, lastState: ended('OOMKilled', 137) }] },
    'OOMKilled',
    'resources.limits.memory',
  ],
  [{ containerStatuses: [{ state: ended('OOMKilled', 137) }] }, 'OOMKilled', 'more memory'],
  [
    { containerStatuses: [{ state: running, lastState: ended('Error', 2), restartCount: 3 }] },
    'CrashLoopBackOff',
    'code 2',
  ],
  [waiting('ErrImagePull', `a\u001b[31m\n${'x'.repeat(5_000)}`), 'ImagePullBackOff', 'a [31m x'],
])('a pod with %j is in trouble: %s', (status, reason, message) => {
  const trouble = troubleOf(status);
  expect(trouble?.reason).toBe(reason);
  expect(trouble?.message).toContain(message);
  expect(trouble?.message.length).toBeLessThan(500);
});

test.each<[object]>([
  [{}],
  [waiting('ContainerCreating', '')],
  [{ containerStatuses: [{ state: running }] }],
  // It died once, long ago.
  [{ containerStatuses: [{ state: running, lastState: ended('Error', 2), restartCount: 1 }] }],
])('a pod with %j is on its way', (status) => {
  expect(troubleOf(status)).toBeUndefined();
});

const crashOf = (container: object) => {
  const metadata = { name: 'db-1', uid: 'u', resourceVersion: '1' };
  const status = { containerStatuses: [container] };
  return podOf({ apiVersion: 'v1', kind: 'Pod', metadata, status }, NOW_MS).crash;
};

test('a container that ended tells how often, with which code, and its last words', () => {
  const { terminated } = ended('Error', 2);
  const lastState = { terminated: { ...terminated, message: 'panic: why' } };
  const crash = { restarts: 4, exitCode: 2, lastWords: 'panic: why' };
  expect(crashOf({ ...looping, lastState })).toEqual({ ...crash, isUp: false });
  expect(crashOf({ state: lastState, restartCount: 4 })).toEqual({ ...crash, isUp: false });
  expect(crashOf({ state: running, lastState, restartCount: 4 })).toEqual({ ...crash, isUp: true });
  const long = { terminated: { ...terminated, message: 'x'.repeat(100_000) } };
  expect(crashOf({ ...looping, lastState: long })?.lastWords.length).toBeLessThan(5_000);
});

test('a container that runs on, or has not started, has not crashed', () => {
  const lastState = ended('Error', 2);
  expect(crashOf({ state: running, lastState, restartCount: 1 })).toBeUndefined();
  expect(crashOf({ state: { waiting: { reason: 'ContainerCreating' } } })).toBeUndefined();
  expect(crashOf({})).toBeUndefined();
});

test('pods are read by their label, in their namespace', async () => {
  const kube = new KubeModel();
  const put = (namespace: string, name: string, db: string) =>
    kube.put(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, labels: { db } },
      status: { phase: 'Running', podIP: '10.0.0.7', conditions: [READY] },
    });
  put('shop', 'one-0', 'one');
  put('shop', 'two-0', 'two');
  put('bank', 'one-0', 'one');
  const clock = { nowMs: () => NOW_MS, sleep: async () => undefined };
  const selection = { namespace: 'shop', labelSelector: 'db=one' };
  const { signal } = new AbortController();
  const pods = await readPods({ kube: kube.client, clock }, selection, signal);
  expect(pods).toMatchObject([{ name: 'one-0', ip: '10.0.0.7', isReady: true, isEnding: false }]);
});

const READY = { type: 'Ready', status: 'True' };

test.each(['Failed', 'Succeeded'])('a pod that has %s has no address any more', (phase) => {
  const metadata = { name: 'db-1', uid: 'u', resourceVersion: '1' };
  const status = { phase, podIP: '10.0.0.7' };
  expect(podOf({ apiVersion: 'v1', kind: 'Pod', metadata, status }, NOW_MS).ip).toBeUndefined();
});
