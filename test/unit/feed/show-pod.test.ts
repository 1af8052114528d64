// A feed's message about a pod, row by row.
import { expect, test } from 'vitest';
import type { ObjectMessage } from '../../../shared/feed/messages.ts';
import { type Shown, show } from '../../../shared/feed/projections/show.ts';
import { object, plan, pod } from './objects.ts';

type Parts = Readonly<Record<string, unknown>>;

const one = (spec: Parts, status: Parts = {}, metadata: Parts = {}): Shown => {
  const [shown, ...more] = show('pods', object('Pod', metadata, { spec, status }), plan);
  if (shown === undefined || more.length > 0) throw new Error('a pod is shown once');
  return shown;
};
const said = (...parts: Parameters<typeof one>): ObjectMessage => one(...parts).message;

test('a pod with a sidecar is shown with all that a reader needs, and no more', () => {
  const container = (name: string, id: string): Parts => ({
    name,
    image: `registry.example/web/${name}:1.42.0`,
    id: `containerd://${id.repeat(64)}`,
    state: 'running',
    ready: true,
  });
  expect(show('pods', pod, plan)).toStrictEqual([
    {
      place: { node: 'node-17' },
      key: { resource: 'pods', namespace: 'web', name: 'frontend-5d8f6c7b9-x2x7k' },
      subject: 'node.node-17.pods.web.frontend-5d8f6c7b9-x2x7k',
      message: {
        epoch: 1,
        kind: 'Pod',
        namespace: 'web',
        name: 'frontend-5d8f6c7b9-x2x7k',
        uid: '3f0c0b0e-52b5-4c5d-9d0f-6b1f1b7f2f7e',
        resourceVersion: '184467',
        created: '2026-11-21T10:00:00Z',
        owner: {
          kind: 'ReplicaSet',
          name: 'frontend-5d8f6c7b9',
          uid: 'a6a0f5ae-7a4e-4f5c-8d2c-2b8d2a6a1c11',
        },
        labels: { app: 'frontend', 'pod-template-hash': '5d8f6c7b9', tier: 'web' },
        node: 'node-17',
        phase: 'Running',
        ready: true,
        ips: ['10.244.17.23', 'fd00:10:244::17'],
        containers: [container('server', 'a'), { ...container('proxy', 'b'), restarts: 2 }],
      },
    },
  ]);
});

test('a pod with no status at all is shown, not ready, where the whole cluster is read', () => {
  const bare = object('Pod');
  expect(show('pods', bare, plan)).toStrictEqual([
    {
      place: 'cluster',
      key: { resource: 'pods', namespace: 'web', name: 'a' },
      subject: 'cluster._.pods.web.a',
      message: {
        epoch: 1,
        kind: 'Pod',
        namespace: 'web',
        name: 'a',
        uid: 'uid-1',
        resourceVersion: '7',
        ready: false,
      },
    },
  ]);
});

test.each([
  ['10.0.0.1', 'node.10%2e0%2e0%2e1.pods.web.a'],
  ['system:node', 'node.system%3anode.pods.web.a'],
  [
    `${'n'.repeat(63)}.${'m'.repeat(189)}`,
    `node.${'n'.repeat(63)}%2e${'m'.repeat(189)}.pods.web.a`,
  ],
  ['', 'cluster._.pods.web.a'],
])('a pod on the node %j stands on one subject of five tokens', (nodeName, subject) => {
  expect(one({ nodeName }).subject).toBe(subject);
});

test('a name of 253 characters with dots and colons is in the subject and in the message', () => {
  const name = `system:${'a.'.repeat(123)}`.slice(0, 253);
  const { subject, message, key } = one({}, {}, { name });
  expect([key.name, message.name]).toEqual([name, name]);
  expect(subject.split('.')).toHaveLength(5);
});

test.each([
  ['running', { running: { startedAt: 'then' } }, { state: 'running' }],
  [
    'waiting',
    { waiting: { reason: 'CrashLoopBackOff' } },
    { state: 'waiting', reason: 'CrashLoopBackOff' },
  ],
  [
    'ended',
    { terminated: { reason: 'OOMKilled', exitCode: 137 } },
    { state: 'terminated', reason: 'OOMKilled' },
  ],
  ['not said', {}, {}],
])('the state of a container that is %s', (_name, state, expected) => {
  const status = { containerStatuses: [{ name: 'c', state, ready: false, restartCount: 0 }] };
  const { containers } = said({ containers: [{ name: 'c', image: 'i' }] }, status);
  expect(containers).toStrictEqual([{ name: 'c', image: 'i', ...expected, ready: false }]);
});

test('init and ephemeral containers say their role, a sidecar is still an init container', () => {
  const spec = {
    initContainers: [{ name: 'mesh', image: 'm', restartPolicy: 'Always' }],
    containers: [{ name: 'main', image: 'i' }],
    ephemeralContainers: [{ name: 'debug', image: 'd', targetContainerName: 'main' }],
  };
  const status = {
    initContainerStatuses: [{ name: 'mesh', ready: true, restartCount: 1 }],
    ephemeralContainerStatuses: [{ name: 'debug', containerID: 'containerd://1' }],
  };
  expect(said(spec, status).containers).toStrictEqual([
    { name: 'mesh', image: 'm', ready: true, restarts: 1, role: 'init' },
    { name: 'main', image: 'i' },
    { name: 'debug', image: 'd', id: 'containerd://1', role: 'ephemeral' },
  ]);
});

test.each([
  [
    'both families',
    { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
    ['10.0.0.1', 'fd00::1'],
  ],
  ['only the old field', { podIP: '10.0.0.1' }, ['10.0.0.1']],
  ['none yet', { podIP: '', podIPs: [] }, undefined],
])('the addresses of a pod with %s', (_name, status, ips) => {
  expect(said({}, status).ips).toEqual(ips);
});

test.each([
  ['evicted', { reason: 'Evicted' }, {}, 'Evicted'],
  ['evicted and deleted', { reason: 'Evicted' }, { deletionTimestamp: 'now' }, 'Terminating'],
  ['well', {}, {}, undefined],
])('the reason of a pod that is %s', (_name, status, metadata, reason) => {
  expect(said({}, status, metadata).reason).toBe(reason);
});

test('only a condition that is true makes a pod ready', () => {
  const ready = (status: string): boolean | undefined =>
    said({}, { conditions: [{ type: 'Ready', status }] }).ready;
  expect([ready('True'), ready('False'), ready('Unknown')]).toEqual([true, false, false]);
});

test('the host network is said where a pod uses it', () => {
  expect(said({ hostNetwork: true }).hostNetwork).toBe(true);
  expect(said({ hostNetwork: false })).not.toHaveProperty('hostNetwork');
});

test.each([
  [['*'], { 'a.example/x': '1', 'a.example/y': '', b: '3' }],
  [['a.example/*'], { 'a.example/x': '1', 'a.example/y': '' }],
  [['b', 'a.example/x'], { 'a.example/x': '1', b: '3' }],
  [['a', 'a.example/', 'c*'], undefined],
  [[], undefined],
])('of labels and annotations, %j lets these out', (allowList, expected) => {
  const values = { b: '3', 'a.example/y': '', 'a.example/x': '1' };
  const full = object('Pod', { labels: values, annotations: values });
  const show1 = (more: Parts): ObjectMessage | undefined =>
    show('pods', full, { ...plan, podLabels: [], ...more })[0]?.message;
  expect(show1({ podLabels: allowList })?.labels).toEqual(expected);
  expect(show1({ podLabels: allowList })).not.toHaveProperty('annotations');
  expect(show1({ podAnnotations: allowList })?.annotations).toEqual(expected);
  expect(show1({ podAnnotations: allowList })).not.toHaveProperty('labels');
});
