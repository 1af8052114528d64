// The metadata function against a real API server and a real NATS: whatever happened to the events,
// the feed shows what the API server holds, at the latest after a sweep.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { metadata } from '../../../functions/metadata/index.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { Stream } from '../../../shared/nats/stream.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const NODES = { group: '', version: 'v1', resource: 'nodes' } as const;

const soon = (): AbortSignal => AbortSignal.timeout(10_000);

let plane: Plane;
let kube: KubeClient;
let feed = 0;
let stream: Stream;
let functions: RunningFunction[] = [];

beforeAll(async () => {
  plane = await startPlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
});

afterAll(async () => {
  await stopFunctions();
  await kube.close();
  await plane.stop();
});

/** Each test has a feed of its own, and an empty cluster. */
beforeEach(async () => {
  await stopFunctions();
  feed += 1;
  const settings = { subjects: [`ballast.f${feed}.>`], replicas: 1, storage: 'file' } as const;
  const connection = { url: plane.part('nats-server').url, name: 'test' };
  stream = new Stream(connection, { name: `ballast-f${feed}`, ...settings });
  for (const resource of [PODS, NODES]) {
    const { items } = await kube.list(resource, {});
    for (const { metadata: found } of items) await remove(resource, found);
  }
});

async function stopFunctions(): Promise<void> {
  await Promise.all(functions.map((one) => one.stop()));
  await stream?.close();
  functions = [];
}

type Send = (event: Record<string, string>) => Promise<number>;

async function startMetadata(): Promise<Send> {
  const environment = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    // Short, so that the test of an API server that is away need not wait long.
    REQUEST_DEADLINE_SECONDS: '3',
    KUBECONFIG: plane.kubeconfigPath,
    NATS_URL: plane.part('nats-server').url,
    FEED_NAME: `f${feed}`,
  };
  const build = { version: '0.0.0', commit: '' };
  const one = await startFunction(metadata, { environment, build });
  functions.push(one);
  return async (event) => {
    const attributes = { specversion: '1.0', id: crypto.randomUUID(), source: 'test', ...event };
    const entries = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]);
    const headers = Object.fromEntries(entries);
    return (await fetch(`http://127.0.0.1:${one.port}/`, { method: 'POST', headers })).status;
  };
}

const SWEEP = { type: 'dev.knative.sources.ping' };
const about = (name: string, verb = 'update'): Record<string, string> => ({
  type: `dev.knative.apiserver.ref.${verb}`,
  kind: 'Pod',
  namespace: 'default',
  name,
});

const createPod = (name: string, nodeName?: string) =>
  kube.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [{ name: 'app', image: 'app:1' }],
      ...(nodeName === undefined ? {} : { nodeName }),
    },
  });

async function remove(
  resource: typeof PODS | typeof NODES,
  target: { readonly name: string; readonly namespace?: string | undefined },
): Promise<void> {
  const { name, namespace } = target;
  const object = namespace === undefined ? { name } : { name, namespace };
  const precondition = { precondition: 'none', because: 'the test owns the cluster' } as const;
  await kube.delete(resource, object, precondition, { gracePeriodSeconds: 0 });
}

/** What a reader sees: subjects without prefix, tombstones marked. */
async function shown(): Promise<string[]> {
  const lines: string[] = [];
  for await (const { subject, data } of stream.read(`ballast.f${feed}.>`, soon())) {
    const value = JSON.parse(new TextDecoder().decode(data));
    const place = subject.split('.').slice(2).join('.');
    lines.push('deleted' in value ? `${place} deleted` : place);
  }
  return lines.toSorted();
}

test('add, update and delete lead to the same look: the object decides', async () => {
  const send = await startMetadata();
  await createPod('a', 'n1');
  expect(await send(about('a', 'delete'))).toBe(204);
  expect(await shown()).toEqual(['node.n1.pod.default.a']);
  await remove(PODS, { name: 'a', namespace: 'default' });
  expect(await send(about('a', 'add'))).toBe(204);
  expect(await shown()).toEqual(['node.n1.pod.default.a deleted']);
});

test('a forged event about a pod that never was publishes nothing', async () => {
  const send = await startMetadata();
  expect(await send(about('ghost', 'add'))).toBe(204);
  expect(await shown()).toEqual([]);
});

test('a doubled event publishes once', async () => {
  const send = await startMetadata();
  await createPod('a', 'n1');
  await Promise.all([send(about('a')), send(about('a'))]);
  expect(await send(about('a'))).toBe(204);
  expect((await stream.state(soon())).lastSequence).toBe(1);
});

test('a pod that is re-created on another node moves there', async () => {
  const send = await startMetadata();
  await createPod('a', 'n1');
  await send(about('a'));
  await remove(PODS, { name: 'a', namespace: 'default' });
  await createPod('a', 'n2');
  expect(await send(about('a'))).toBe(204);
  expect(await shown()).toEqual(['node.n1.pod.default.a deleted', 'node.n2.pod.default.a']);
});

test('names with dots are one token each', async () => {
  const send = await startMetadata();
  await createPod('a.b.c', 'node.one.example');
  await send(about('a.b.c'));
  expect(await shown()).toEqual(['node.node%2eone%2eexample.pod.default.a%2eb%2ec']);
});

test('one sweep finds what no event told: adds, moves and deletes', async () => {
  const send = await startMetadata();
  await createPod('stays', 'n1');
  await createPod('goes', 'n1');
  await kube.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  expect(await send(SWEEP)).toBe(204);
  expect(await shown()).toEqual([
    'all.node.n1',
    'node.n1.pod.default.goes',
    'node.n1.pod.default.stays',
  ]);
  await remove(PODS, { name: 'goes', namespace: 'default' });
  await createPod('comes');
  const before = (await stream.state(soon())).lastSequence;
  expect(await send(SWEEP)).toBe(204);
  expect(await shown()).toEqual([
    'all.node.n1',
    'all.pod.default.comes',
    'node.n1.pod.default.goes deleted',
    'node.n1.pod.default.stays',
  ]);
  expect((await stream.state(soon())).lastSequence).toBe(before + 2);
});

test('a sweep of a cluster at rest writes nothing', async () => {
  const send = await startMetadata();
  for (const name of ['a', 'b', 'c']) await createPod(name, 'n1');
  await send(SWEEP);
  const before = await stream.state(soon());
  await send(SWEEP);
  expect(await stream.state(soon())).toEqual(before);
});

test('five instances that sweep and look at once agree', async () => {
  const senders = await Promise.all(Array.from({ length: 5 }, startMetadata));
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  for (const name of names) await createPod(name, `n${name.length}`);
  await Promise.all(
    senders.flatMap((send) => [send(SWEEP), ...names.map((name) => send(about(name)))]),
  );
  expect((await shown()).length).toBe(20);
  expect((await stream.state(soon())).lastSequence).toBe(20);
});

test('while the API server is away its sender keeps an event, which lands afterwards', async () => {
  const send = await startMetadata();
  await createPod('a', 'n1');
  await plane.part('kube-apiserver').kill();
  expect(await send(about('a'))).toBe(503);
  const metrics = await fetch(`http://127.0.0.1:${functions[0]?.port}/metrics`);
  expect(await metrics.text()).toMatch(
    /ballast_kube_retries_total\{verb="list",resource="pods",code="KUBE_UNAVAILABLE"\} [1-9]/,
  );
  await plane.part('kube-apiserver').start();
  await expect.poll(() => send(about('a')), { timeout: 20_000 }).toBe(204);
  expect(await shown()).toEqual(['node.n1.pod.default.a']);
});

test('a message that somebody else wrote stops no sweep, and is overwritten', async () => {
  const send = await startMetadata();
  await createPod('a', 'n1');
  await createPod('b', 'n1');
  const subject = `ballast.f${feed}.node.n1.pod.default.a`;
  const data = new TextEncoder().encode('{"hello":1}');
  await stream.publish({ subject, data, expectedSequence: 0 }, soon());
  expect(await send(SWEEP)).toBe(204);
  expect(await shown()).toEqual(['node.n1.pod.default.a', 'node.n1.pod.default.b']);
  for await (const message of stream.read(subject, soon())) {
    expect(JSON.parse(new TextDecoder().decode(message.data))).toMatchObject({ name: 'a' });
  }
});

const refusals: readonly [sentence: string, change: Record<string, string>][] = [
  ['a kind that the feed does not hold', { kind: 'Secret' }],
  ['a pod without a name', { name: '' }],
  ['a pod without a namespace', { namespace: '' }],
  ['a wildcard for a name', { name: '*' }],
  ['a wildcard for a namespace', { namespace: '>' }],
];

test.each(refusals)('%s is refused for good', async (_sentence, change) => {
  const send = await startMetadata();
  expect(await send({ ...about('a'), ...change })).toBe(422);
});
