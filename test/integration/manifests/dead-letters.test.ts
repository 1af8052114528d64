// A function that always fails, on the real road: adapter, broker by its manifest, dead-letters as
// itself. An Event on the object tells what was not done about it, and metrics count it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deadLetters } from '../../../functions/dead-letters/index.ts';
import { brokerPart } from '../../../knative/try/local/delivery/part.ts';
import { keyOf } from '../../../knative/try/local/manifests/wiring.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { EVENTS } from '../../../shared/kube/not-delivered.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { startAdapter } from '../../contract/delivery/support/adapter.ts';
import { ScriptedSink } from '../../contract/delivery/support/scripted-sink.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { Installed } from './installed.ts';

const WAIT = { timeout: 20_000, interval: 100 };
const NAMESPACES: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' };
const BROKEN = {
  code: 'KUBE_FORBIDDEN',
  detail: 'list pods was refused: somebody has to allow it.',
};

let installed: Installed;
let failing: ScriptedSink;
let ports: readonly number[];

/** As the manifest says, but sooner: how often it tries is the manifest's, the pauses are not. */
const soon = { policy: 'exponential', delayMs: 1 } as const;

beforeAll(async () => {
  installed = await Installed.open();
  const { plane, wiring } = installed;
  failing = await new ScriptedSink(() => ({
    status: 503,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify(BROKEN),
  })).listen();
  const first = await installed.run(deadLetters);
  const second = await installed.run(deadLetters);
  ports = [first.port, second.port];
  const address = { containerConcurrency: 0, timeoutSeconds: 5 };
  const services = wiring.functions.map((one) => {
    const url = one.name === deadLetters.name ? `http://127.0.0.1:${first.port}` : failing.url;
    return [keyOf(one), { ...address, url }] as const;
  });
  const hastened = <One extends (typeof wiring.triggers)[number]>(one: One): One => ({
    ...one,
    delivery: { ...one.delivery, backoff: soon },
  });
  const part = await brokerPart(plane.dir, {
    ...wiring,
    triggers: wiring.triggers.map(hastened),
    pings: [],
    port: await freePort(),
    services: Object.fromEntries(services),
  });
  const broker = await startOwnPart(plane, part);
  const [source] = wiring.sources.filter(({ name }) => name === 'metadata');
  if (source === undefined) throw new Error('metadata has no source');
  await startAdapter(plane, source, `${broker.url}/ballast-system/ballast`);
});

afterAll(async () => {
  await failing?.close();
  await installed?.stop();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const { kubeconfigPath } = installed.plane;
  const all = ['--kubeconfig', kubeconfigPath, ...args];
  return (await promisify(execFile)(await resolvePart('kubectl'), all)).stdout;
}

const counted = async (): Promise<string> => {
  const pages = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  const lines = (await Promise.all(pages)).join('\n').split('\n');
  return lines.filter((line) => line.startsWith('ballast_dead_letters_total')).join('\n');
};

/** A dead letter by hand, as the broker would send it, to one of the two instances. */
async function send(attributes: Readonly<Record<string, string>>, port = 0): Promise<number> {
  const all = {
    specversion: '1.0',
    id: crypto.randomUUID(),
    source: 'test',
    type: 'dev.example.test',
    ballastfunction: 'metadata',
    knativeerrorcode: '503',
    ...attributes,
  };
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [`ce-${name}`, value]),
  );
  headers['content-type'] = 'application/json';
  const body = JSON.stringify(objectIn(attributes));
  const answer = await fetch(`http://127.0.0.1:${ports[port]}/`, { method: 'POST', headers, body });
  return answer.status;
}

/** As a source sends it: the object that the attributes name. */
function objectIn({ apiversion, kind, namespace, name }: Readonly<Record<string, string>>): object {
  const within = namespace === undefined || namespace === '' ? {} : { namespace };
  return { apiVersion: apiversion, kind, metadata: { ...within, name, uid: `uid-of-${name}` } };
}

const eventsIn = async (namespace: string): Promise<readonly KubeObject[]> =>
  (await installed.kube.list(EVENTS, { namespace })).items.filter(({ metadata }) =>
    metadata.name.startsWith('dead-letter.'),
  );

const countOf = ({ series }: KubeObject): number =>
  (series as { readonly count: number } | undefined)?.count ?? 1;

test('who looks at the object sees which function did not take what, and why', async () => {
  await kubectl('create', 'deployment', 'web', '--image=web');
  const shown = () => kubectl('events', '--for', 'deployment/web');
  await expect
    .poll(shown, WAIT)
    .toMatch(/Warning +EventNotDelivered +Deployment\/web +The function metadata did not take/);
  expect(await shown()).toContain('KUBE_FORBIDDEN: list pods was refused: somebody has to allow');
  expect(await kubectl('describe', 'deployment', 'web')).toContain('EventNotDelivered');
  const tries = failing.received.filter(({ headers }) => headers['ce-kind'] === 'Deployment');
  // One, and the retries of the broker's manifest.
  expect(tries).toHaveLength(7);
  expect(await counted()).toMatch(/\{function="metadata",code="503"\} [1-9]/);
  // The keeper of Ballast sees it without a right to read the Events of all namespaces.
  await expect
    .poll(onBroker, WAIT)
    .toMatch(/metadata did not take .* about a Deployment.*FORBIDDEN/);
  expect(await onBroker()).not.toContain('list pods was refused');
});

test('the same again is one Event that counts on, whoever writes it', async () => {
  const about = { apiversion: 'v1', kind: 'Pod', namespace: 'default', name: 'again' };
  const sent = Array.from({ length: 60 }, (_, index) => send(about, index % 2));
  expect(new Set(await Promise.all(sent))).toEqual(new Set([204]));
  const own = (await eventsIn('default')).filter(
    ({ regarding }) => (regarding as { readonly name: string }).name === 'again',
  );
  expect(own.map(countOf)).toEqual([60]);
  expect(await kubectl('events', '--for', 'pod/again')).toMatch(/\(x60 over /);
});

test('an object of no namespace shows it where kubectl looks', async () => {
  expect(await send({ apiversion: 'v1', kind: 'Node', namespace: '', name: 'n1' })).toBe(204);
  expect(await kubectl('events', '--for', 'node/n1')).toContain('EventNotDelivered');
});

const onBroker = () => kubectl('events', '-n', 'ballast-system');

test('what is about no object, or one whose namespace is gone, shows on the broker', async () => {
  expect(await send({ type: 'dev.example.nothing' })).toBe(204);
  expect(await onBroker()).toMatch(
    /Broker\/ballast +The function metadata did not take the event dev.example.nothing/,
  );
  const gone = { apiversion: 'v1', kind: 'Pod', namespace: 'never-was', name: 'web-1' };
  expect(await send({ ...gone, type: 'dev.example.gone' })).toBe(204);
  expect(await onBroker()).toContain('did not take the event dev.example.gone about a Pod');
});

test('a namespace that is going takes no Event any more; the broker shows it', async () => {
  const namespace: Manifest = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'going' },
  };
  await installed.kube.create(NAMESPACES, namespace);
  // Nobody here finishes what is begun by this.
  const because = 'the test owns the cluster';
  await installed.kube.delete(NAMESPACES, { name: 'going' }, { precondition: 'none', because });
  const about = { apiversion: 'v1', kind: 'Pod', namespace: 'going', name: 'web-1' };
  expect(await send({ ...about, type: 'dev.example.going' })).toBe(204);
  expect(await onBroker()).toContain('dev.example.going about a Pod');
});

test('a flood about many objects names some, and the broker counts the rest', async () => {
  const before = (await eventsIn('default')).length;
  const about = { apiversion: 'v1', kind: 'Pod', namespace: 'default', type: 'dev.example.flood' };
  const sent = Array.from({ length: 200 }, (_, index) => send({ ...about, name: `pod-${index}` }));
  // Beyond its limit the function says later; a queue-proxy would hold them back.
  expect((await Promise.all(sent)).filter((status) => ![204, 503].includes(status))).toEqual([]);
  const named = (await eventsIn('default')).length - before;
  // Thirty a minute, and the minute may turn meanwhile.
  expect(named).toBeLessThanOrEqual(60);
  const rest = (await eventsIn('ballast-system')).filter(({ note }) =>
    String(note).includes('flood'),
  );
  expect(rest).toHaveLength(1);
  expect(countOf(rest[0] as KubeObject)).toBeGreaterThan(10);
});

test('a letter by nobody in particular writes nothing into kube-system, and no label', async () => {
  const about = { apiversion: 'v1', kind: 'Pod', namespace: 'kube-system', name: 'etcd-node-1' };
  const invented = Array.from({ length: 40 }, (_, index) =>
    send({ ...about, ballastfunction: `invented-${index}`, type: `dev.example.invented${index}` }),
  );
  expect(new Set(await Promise.all(invented))).toEqual(new Set([204]));
  expect(await eventsIn('kube-system')).toEqual([]);
  const onIt = (await eventsIn('ballast-system')).filter(({ note }) =>
    String(note).includes('invented'),
  );
  // Ten a minute, and the minute may turn meanwhile; the rest is one.
  expect(onIt.length).toBeLessThanOrEqual(20);
  expect(await onBroker()).toContain('of different kinds came within a minute');
  expect(await counted()).not.toContain('invented');
});
