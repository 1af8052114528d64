// Which events the real ApiServerSource adapter sends, and what they hold, in both modes.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WatchedResource } from '../../../knative/try/local/manifests/wiring.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { PartProcess } from '../../../knative/try/local/process/part.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { adapterSpec, sourceOf, startAdapter } from './support/adapter.ts';
import { type Api, configMaps, named, openApi } from './support/api.ts';
import { recorded } from './support/fixture.ts';
import { type Received, ScriptedSink } from './support/scripted-sink.ts';

const MIB = 1024 * 1024;
const BIG_BYTES = Math.round(1.4 * MIB);
const WAIT = { timeout: 10_000 };

const core = (kind: string): WatchedResource => ({ apiVersion: 'v1', kind, labelSelector: '' });
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/adapter/${name}.json`, import.meta.url));
const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const pod = (name: string, value = 'small'): Readonly<Record<string, unknown>> => ({
  metadata: { name, labels: { app: 'web' } },
  spec: {
    containers: [{ name: 'main', image: 'example/web:1', env: [{ name: 'PAYLOAD', value }] }],
  },
});

let plane: PlaneAddress;
let api: Api;
const sinks = { reference: new ScriptedSink(), resource: new ScriptedSink() };

beforeAll(async () => {
  plane = sharedPlane();
  api = await openApi(plane);
  await api.create(configMaps('default'), named('there-before'));
  await Promise.all([sinks.reference.listen(), sinks.resource.listen()]);
  const watched = { resources: [core('Pod'), core('Node'), core('ConfigMap')] };
  const all = {
    ...watched,
    extensions: { ballastfunction: 'metadata' },
  };
  await Promise.all([
    startAdapter(plane, withoutNamespaces(sourceOf('reference', all)), sinks.reference.url),
    startAdapter(
      plane,
      withoutNamespaces(sourceOf('resource', { ...all, mode: 'Resource' })),
      sinks.resource.url,
    ),
  ]);
});

afterAll(async () => {
  await Promise.all([sinks.reference.close(), sinks.resource.close()]);
  await api?.close();
});

function withoutNamespaces<Source extends { readonly namespaces?: readonly string[] }>(
  source: Source,
): Source {
  const { namespaces: _, ...rest } = source;
  return rest as Source;
}

async function eventOf(sink: ScriptedSink, subject: string, verb: string): Promise<Received> {
  const type = `dev.knative.apiserver.${verb}`;
  const find = () => sink.of(subject).find(({ headers }) => headers['ce-type'] === type);
  await expect.poll(find, WAIT).toBeDefined();
  return find() as Received;
}

const POD = '/apis/v1/namespaces/default/pods/web-0.a';
const NODE = '/apis/v1/namespaces//nodes/node-1.zone-a.example';

describe('add, update and delete, with dotted names', () => {
  beforeAll(async () => {
    await api.create(pods('default'), pod('web-0.a'));
    await api.patch(`${pods('default')}/web-0.a`, { metadata: { labels: { app: 'shop' } } });
    await api.delete(`${pods('default')}/web-0.a?gracePeriodSeconds=0`);
    await api.create('/api/v1/nodes', named('node-1.zone-a.example'));
    await api.delete('/api/v1/nodes/node-1.zone-a.example');
  });

  test.each(['add', 'update', 'delete'])('Reference mode names the pod of an %s', async (verb) => {
    const event = await eventOf(sinks.reference, POD, `ref.${verb}`);
    expect(JSON.parse(event.body)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'web-0.a',
      namespace: 'default',
    });
    await expect(recorded(event)).toMatchFileSnapshot(fixture(`reference-pod-${verb}`));
  });

  test.each(['add', 'update', 'delete'])(
    'Resource mode holds the whole pod of an %s',
    async (verb) => {
      const event = await eventOf(sinks.resource, POD, `resource.${verb}`);
      const object = JSON.parse(event.body);
      expect(object.spec.containers[0].env).toEqual([{ name: 'PAYLOAD', value: 'small' }]);
      expect(object.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      await expect(recorded(event)).toMatchFileSnapshot(fixture(`resource-pod-${verb}`));
    },
  );

  test.each([
    ['Reference', 'reference', 'ref'],
    ['Resource', 'resource', 'resource'],
  ] as const)(
    'in %s mode a cluster-scoped object has an empty namespace, in extension and subject',
    async (_mode, name, word) => {
      const added = await eventOf(sinks[name], NODE, `${word}.add`);
      const deleted = await eventOf(sinks[name], NODE, `${word}.delete`);
      expect(added.headers).toMatchObject({
        'ce-namespace': '',
        'ce-name': 'node-1.zone-a.example',
        'ce-kind': 'Node',
        'ce-apiversion': 'v1',
      });
      expect(JSON.parse(added.body).namespace).toBeUndefined();
      await expect(recorded(added)).toMatchFileSnapshot(fixture(`${name}-node-add`));
      await expect(recorded(deleted)).toMatchFileSnapshot(fixture(`${name}-node-delete`));
    },
  );
});

test('an object of 1.4 MB arrives whole in Resource mode', async () => {
  const value = 'x'.repeat(BIG_BYTES);
  await api.create(pods('default'), pod('big', value));
  const big = () => sinks.resource.of('/apis/v1/namespaces/default/pods/big');
  await expect.poll(() => big().length, WAIT).toBeGreaterThanOrEqual(1);
  const [event] = big();
  expect(JSON.parse(event?.body ?? '{}').spec.containers[0].env[0].value).toBe(value);
  expect(event?.body.length).toBeGreaterThan(BIG_BYTES);
});

test('an object that was there before the adapter gives no event until it changes', async () => {
  const subject = '/apis/v1/namespaces/default/configmaps/there-before';
  const marker = '/apis/v1/namespaces/default/configmaps/came-later';
  await api.create(configMaps('default'), named('came-later'));
  await expect.poll(() => sinks.reference.of(marker).length, WAIT).toBe(1);
  // Events of a kind come in order, so what was to come before the marker would have come.
  expect(sinks.reference.of(subject)).toEqual([]);
  await api.patch(`${configMaps('default')}/there-before`, { data: { now: 'changed' } });
  await expect.poll(() => sinks.reference.of(subject).length, WAIT).toBe(1);
  expect(sinks.reference.of(subject)[0]?.headers['ce-type']).toBe(
    'dev.knative.apiserver.ref.update',
  );
});

test('what happens while the adapter is down gives no event, whatever it was', async () => {
  const sink = await new ScriptedSink().listen();
  await api.create('/api/v1/namespaces', named('gap'));
  const part = await startAdapter(plane, sourceOf('gap', { namespaces: ['gap'] }), sink.url);
  const subject = (name: string): string => `/apis/v1/namespaces/gap/configmaps/${name}`;
  await api.create(configMaps('gap'), named('doomed'));
  await expect.poll(() => sink.of(subject('doomed')).length, WAIT).toBe(1);
  await part.kill();
  await api.delete(`${configMaps('gap')}/doomed`);
  await api.create(configMaps('gap'), named('missed'));
  await part.start();
  await api.create(configMaps('gap'), named('marker'));
  await expect.poll(() => sink.of(subject('marker')).length, WAIT).toBe(1);
  expect(sink.received.map(({ headers }) => headers['ce-name'])).toEqual(['doomed', 'marker']);
  await part.stop();
  await sink.close();
});

test('a label selector and an owner choose the objects', async () => {
  const sink = await new ScriptedSink().listen();
  await api.create('/api/v1/namespaces', named('chosen'));
  const labelled = { ...core('ConfigMap'), labelSelector: 'tier in (a,b),!draft' };
  const owned = { apiVersion: 'apps/v1', kind: 'ReplicaSet' };
  const base = { namespaces: ['chosen'] };
  const parts = await Promise.all([
    startAdapter(
      plane,
      sourceOf('labelled', { ...base, resources: [labelled] }),
      `${sink.url}/labelled`,
    ),
    startAdapter(plane, sourceOf('owned', { ...base, owner: owned }), `${sink.url}/owned`),
  ]);
  const owner = {
    ...owned,
    name: 'rs',
    uid: '0b6c1ff0-2a52-4a3e-9b6e-2f4f3d1c5e77',
    controller: true,
  };
  const make = (name: string, metadata: Readonly<Record<string, unknown>>): Promise<void> =>
    api.create(configMaps('chosen'), { metadata: { name, ...metadata } });
  await make('other', { labels: { tier: 'c' } });
  await make('draft', { labels: { tier: 'a', draft: 'yes' } });
  await make('last', { labels: { tier: 'b' }, ownerReferences: [owner] });
  const names = (path: string): readonly unknown[] =>
    sink.received.filter((event) => event.path === path).map(({ headers }) => headers['ce-name']);
  await expect.poll(() => names('/labelled'), WAIT).toEqual(['last']);
  await expect.poll(() => names('/owned'), WAIT).toEqual(['last']);
  await Promise.all(parts.map((part) => part.stop()));
  await sink.close();
});

test('an adapter that cannot watch what it should is alive and never ready', async () => {
  // Served under no such plural: the adapter says so once, and goes on with the other kinds.
  const resources = [core('ConfigMap'), core('Gateway')];
  const source = sourceOf('unready', { resources });
  const spec = await adapterSpec(plane, source, sinks.reference.url);
  const part = new PartProcess(spec, `BALLAST_PLANE=${plane.dir}`, () => undefined);
  const started = part.start().then(
    () => 'ready',
    () => 'never ready',
  );
  try {
    await expect.poll(() => part.lastLines(50).join('\n'), WAIT).toContain("it doesn't exist");
    const ready = () => spec.ready(AbortSignal.timeout(1_000)).then(String, String);
    await expect.poll(ready, WAIT).toContain('1 of 2 watches are open');
    expect(part.state).toBe('starting');
  } finally {
    await part.kill();
  }
  expect(await started).toBe('never ready');
});

test('ceOverrides put their extensions on every event', () => {
  const marks = sinks.reference.received.map(({ headers }) => headers['ce-ballastfunction']);
  expect(new Set(marks)).toEqual(new Set(['metadata']));
});
