// The road of the manifests, with real ends: the real adapter sends to our broker process, which
// dispatches to a scripted subscriber in the function's place. The broker retries events that the
// adapter alone would drop.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { brokerPart, readDeliveryStats } from '../../../knative/try/local/delivery/part.ts';
import type { DeliveryStats } from '../../../knative/try/local/delivery/stats.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import { keyOf } from '../../../knative/try/local/manifests/wiring.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { startAdapter } from './support/adapter.ts';
import { type Api, named, openApi } from './support/api.ts';
import { ScriptedSink } from './support/scripted-sink.ts';

const WAIT = { timeout: 15_000 };
const NODES = '/api/v1/nodes';
const subject = (name: string): string => `/apis/v1/namespaces//nodes/${name}`;
/**
 * The subscriber's answers to the tries of an event about the node of this name; 204 afterwards.
 */
const ANSWERS: Readonly<Record<string, readonly number[]>> = {
  'flaky-500': [500],
  'flaky-409': [409],
  'flaky-408': [408],
  'flaky-503': [503],
  refused: [422],
};

let plane: PlaneAddress;
let broker: Part;
let api: Api;
let subscriber: ScriptedSink;

const stats = (): Promise<DeliveryStats> =>
  readDeliveryStats(broker.url, AbortSignal.timeout(5_000));

beforeAll(async () => {
  plane = sharedPlane();
  api = await openApi(plane);
  subscriber = await new ScriptedSink(({ headers }, earlier) => ({
    status: ANSWERS[String(headers['ce-name'])]?.[earlier] ?? 204,
  })).listen();
  const wiring = await loadWiring(fileURLToPath(new URL('../../../knative', import.meta.url)));
  const { kubeconfigPath } = plane;
  const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  await applyObjects(kube, wiring.objects);
  await kube.close();
  const address = { url: subscriber.url, containerConcurrency: 0, timeoutSeconds: 5 };
  const part = await brokerPart(plane.dir, {
    ...wiring,
    // A minute is too long for a test; how it fires does not depend on when.
    pings: wiring.pings.map((ping) => ({ ...ping, schedule: '* * * * * *' })),
    port: await freePort(),
    services: Object.fromEntries(wiring.functions.map((service) => [keyOf(service), address])),
  });
  broker = await startOwnPart(plane, part);
  for (const source of wiring.sources) {
    if (source.sink.kind !== 'Broker') throw new Error(`${source.file} has another sink`);
    await startAdapter(plane, source, `${broker.url}/${keyOf(source.sink)}`);
  }
  await Promise.all(Object.keys(ANSWERS).map((name) => api.create(NODES, named(name))));
});

afterAll(async () => {
  await subscriber?.close();
  await api?.close();
});

test('an event of the real adapter reaches the function with all that it says', async () => {
  await api.create(NODES, named('steady.example'));
  await expect.poll(() => subscriber.of(subject('steady.example')).length, WAIT).toBe(1);
  const [event] = subscriber.of(subject('steady.example'));
  expect(event?.headers).toMatchObject({
    'ce-type': 'dev.knative.apiserver.resource.add',
    'ce-specversion': '1.0',
    'ce-ballastfunction': 'metadata',
    'ce-kind': 'Node',
    'ce-name': 'steady.example',
    'ce-namespace': '',
    'ce-apiversion': 'v1',
    'content-type': 'application/json',
    'kn-namespace': 'ballast-system',
    prefer: 'reply',
  });
  expect(event?.headers).not.toHaveProperty('ce-knativebrokerttl');
  expect(JSON.parse(event?.body ?? '')).toMatchObject({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'steady.example', uid: expect.any(String) },
    status: expect.any(Object),
  });
});

test.each([500, 409, 408, 503])('a %d of the function is retried by the broker', async (status) => {
  const tries = () => subscriber.of(subject(`flaky-${status}`));
  await expect.poll(() => tries().length, WAIT).toBe(2);
  expect(new Set(tries().map(({ headers }) => headers['ce-id'])).size).toBe(1);
});

test('a 422 of the function ends the event: one try, one dead letter, and why', async () => {
  const triggerOf = async () => (await stats()).triggers['ballast-system/metadata-changes'];
  await expect.poll(async () => (await triggerOf())?.failed, WAIT).toBe(1);
  // The sink of dead letters is the same scripted one.
  const codes = () =>
    subscriber.of(subject('refused')).map(({ headers }) => headers['ce-knativeerrorcode']);
  await expect.poll(codes, WAIT).toEqual([undefined, '422']);
  const { lastErrors } = await stats();
  expect(lastErrors.map(({ message }) => message).join()).toContain('answered 422');
});

test('the ping source of the manifest reaches the function', async () => {
  const owner = 'ce-ballastfunction';
  const ticks = () => subscriber.ofType('dev.knative.sources.ping');
  const own = () => ticks().filter(({ headers }) => headers[owner] === 'metadata');
  await expect.poll(() => own().length, WAIT).toBeGreaterThanOrEqual(2);
  expect(own()[0]?.headers).toMatchObject({
    'ce-source': '/apis/v1/namespaces/ballast-system/pingsources/metadata-sweep',
  });
});

test('the statistics count what came in by type and kind', async () => {
  const counted = async (): Promise<number> => {
    const { eventsIn } = await stats();
    const row = eventsIn.find(({ type, kind }) => type.endsWith('resource.add') && kind === 'Node');
    return row?.count ?? 0;
  };
  await expect.poll(counted, WAIT).toBeGreaterThanOrEqual(Object.keys(ANSWERS).length);
});

test('an event of the adapter waits for a broker that is away for a moment', async () => {
  await broker.kill();
  await api.create(NODES, named('patient'));
  await broker.start();
  await expect.poll(() => subscriber.of(subject('patient')).length, WAIT).toBe(1);
});
