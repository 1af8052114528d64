// locate as it runs: over HTTP, with a real NATS, asked everything that it answers and everything
// that it refuses.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { locate } from '../../../functions/locate/index.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type FeedMessage, encodeMessage } from '../../../shared/feed/messages.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';

let plane: Plane;
let feed: FeedWriter;
let running: RunningFunction;

const CREATED = new Date(Date.now() - 600_000).toISOString();
const ENDED = new Date(Date.now() - 60_000).toISOString();
const BETWEEN = new Date(Date.now() - 120_000).toISOString();
const ID = 'c'.repeat(64);
const N1 = { node: 'n1' };

beforeAll(async () => {
  plane = await startPlane({ parts: ['nats-server'] });
  const { url, urls } = plane.part('nats-server');
  feed = await FeedWriter.open(url, 'cluster');
  const environment = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    NATS_URL: urls?.['locate'] ?? '',
    MIN_VERSION_WAIT_SECONDS: '0.3',
  };
  const build = { version: '0.0.0', commit: '' };
  running = await startFunction(locate, { environment, build });
});

afterAll(async () => {
  await running.stop();
  await feed.close();
  await plane.stop();
});

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function ask(target: string, init: RequestInit = {}): Promise<Reply> {
  const reply = await fetch(urlOf(target), init);
  return { status: reply.status, headers: reply.headers, body: await jsonOf(reply) };
}

async function jsonOf(reply: Response): Promise<Record<string, unknown>> {
  return (await reply.json()) as Record<string, unknown>;
}

const urlOf = (target: string): string => `http://127.0.0.1:${running.port}${target}`;

const askText = async (target: string): Promise<string> =>
  (await fetch(urlOf(target), { headers: { accept: 'text/plain' } })).text();

async function metric(name: string): Promise<number> {
  const page = await askText('/metrics');
  return Number(page.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1]);
}

const hydrate = (body: string, type = 'application/json'): Promise<Reply> =>
  ask('/hydrate', { method: 'POST', body, headers: { 'content-type': type } });

const stateOf = async (): Promise<unknown> => (await ask('/feed')).body['state'];

test('before there is a feed it says so, and when to come again', async () => {
  await expect.poll(stateOf).toBe('waiting');
  const { status, headers, body } = await ask('/nodes?namespace=shop');
  expect({ status, code: body['code'] }).toEqual({ status: 503, code: 'FEED_CATCHING_UP' });
  expect(headers.get('retry-after')).toBe('2');
  expect(body['detail']).toMatch(/waiting .*0 objects held/);
});

test('as soon as the feed is open, it answers', async () => {
  await feed.create();
  await feed.mark({ ready: false });
  await fillFeed();
  await feed.mark({ ready: true, historySeconds: 3_600 });
  await expect.poll(stateOf, { timeout: 20_000 }).toBe('current');
  const { body } = await ask('/feed');
  expect(body['objects']).toEqual({ deployments: 1, replicasets: 1, pods: 2, nodes: 1 });
  expect(body['historySeconds']).toBe(3_600);
  const verifiedVersion = await feed.checkpoint('all._');
  const health = async (): Promise<unknown> => (await ask('/feed')).body;
  await expect.poll(health).toMatchObject({ verifiedVersion });
});

test('while nobody sweeps it, every answer and the metrics say so', async () => {
  const isReady = async (): Promise<unknown> => (await fetch(urlOf('/health/readiness'))).status;
  expect((await ask('/feed')).body).toMatchObject({ state: 'current', isStale: true });
  expect((await ask('/nodes?namespace=shop')).body).toMatchObject({ isStale: true, pods: 2 });
  expect(await metric('ballast_feed_stale')).toBe(1);
  expect(await isReady()).toBe(200);
  const wroteMs = Date.now();
  await feed.floor(0);
  const health = async (): Promise<unknown> => (await ask('/feed')).body;
  await expect.poll(health).toMatchObject({ isStale: false });
  expect((await ask('/nodes?namespace=shop')).body).not.toHaveProperty('isStale');
  expect(await metric('ballast_feed_stale')).toBe(0);
  expect(await metric('ballast_feed_swept_timestamp_seconds')).toBeGreaterThanOrEqual(
    wroteMs / 1_000,
  );
});

const key = (resource: string, name: string, namespace = 'shop') => ({
  resource,
  namespace,
  name,
});

async function fillFeed(): Promise<void> {
  await feed.put('all', key('nodes', 'n1', ''), { kind: 'Node', ips: ['192.168.0.1'] });
  await feed.put('all', key('deployments', 'web'), { kind: 'Deployment' });
  const above = { kind: 'Deployment', name: 'web', uid: 'uid-shop-web' };
  await feed.put('all', key('replicasets', 'web-7'), { kind: 'ReplicaSet', owner: above });
  const pod = {
    phase: 'Running',
    created: CREATED,
    labels: { app: 'web' },
    owner: { kind: 'ReplicaSet', name: 'web-7', uid: 'uid-shop-web-7' },
  };
  const containers = [{ name: 'c', image: 'i', id: `containerd://${ID}` }];
  const ips = { a: ['10.0.0.1'], b: ['10.0.0.2'] };
  await feed.put(N1, key('pods', 'web-7-a'), { ...pod, ips: ips.a, containers });
  await feed.put(N1, key('pods', 'web-7-b'), { ...pod, ips: ips.b });
}

const POD_A = { object: { name: 'web-7-a', node: { name: 'n1', ips: ['192.168.0.1'] } } };
const ON_N1 = { pods: 2, nodes: [{ node: 'n1', pods: 2, names: ['web-7-a', 'web-7-b'] }] };

const answered: readonly [target: string, body: object][] = [
  ['/nodes?deployment=shop/web', ON_N1],
  ['/nodes?replicaset=shop/web-7', ON_N1],
  ['/nodes?namespace=shop', ON_N1],
  ['/nodes?selector=app%3Dweb&in=shop', { pods: 2 }],
  ['/pod?uid=uid-shop-web-7-a', POD_A],
  ['/pod?ip=10.0.0.1', POD_A],
  [`/pod?container=${ID}`, POD_A],
  ['/pod?name=shop/web-7-a', POD_A],
  [`/who?ip=10.0.0.1&at=${BETWEEN}`, { holders: [{ name: 'web-7-a', from: CREATED }] }],
  ['/complete?prefix=web-7-&kind=pods', { matches: [{ name: 'web-7-a' }, { name: 'web-7-b' }] }],
];

test.each(answered)('GET %s', async (target, wanted) => {
  const { status, body } = await ask(target);
  expect(status).toBe(200);
  expect(body).toMatchObject(wanted);
  expect(body['version']).toBeGreaterThan(0);
  expect(await askText(target)).toMatch(/^version: +\d+\n/);
});

test('POST /hydrate', async () => {
  const { body } = await hydrate(JSON.stringify({ ips: ['10.0.0.2', '10.9.9.9'] }));
  expect(body).toMatchObject({
    found: [{ value: '10.0.0.2', object: { owners: [{ name: 'web-7' }, { name: 'web' }] } }],
    missing: [{ list: 'ips', value: '10.9.9.9' }],
  });
});

test('a caller that has seen a version gets at least that, or is told to come again', async () => {
  const version = await feed.put('cluster', key('pods', 'new'), { ips: ['10.0.0.3'] });
  const { body } = await ask(`/pod?ip=10.0.0.3&minVersion=${version}`);
  expect(body).toMatchObject({ object: { name: 'new' } });
  expect(body['version']).toBeGreaterThanOrEqual(version);
  const ahead = await ask(`/pod?ip=10.0.0.3&minVersion=${version + 1_000}`);
  expect(ahead).toMatchObject({ status: 503, body: { code: 'FEED_VERSION_AHEAD' } });
  expect(ahead.headers.get('retry-after')).toBe('1');
});

test('who had an address before: a pod that it saw end, and one that it never saw', async () => {
  const bury = (subject: string, uid: string, more: object = {}): Promise<number> => {
    const grave = { deleted: true, epoch: 1, uid, resourceVersion: '9', at: ENDED, ...more };
    return feed.raw(subject, encodeMessage(grave as FeedMessage));
  };
  await bury('node.n1.pods.shop.web-7-b', 'uid-shop-web-7-b');
  const last = { kind: 'Pod', created: CREATED, node: 'n9', ips: ['10.0.0.9'] };
  const version = await bury('node.n9.pods.shop.unseen', 'u9', { last });
  const now = await ask(`/pod?ip=10.0.0.2&minVersion=${version}`);
  expect(now).toMatchObject({ status: 404, body: { code: 'OBJECT_UNKNOWN', field: 'ip' } });
  for (const [ip, name] of [
    ['10.0.0.2', 'web-7-b'],
    ['10.0.0.9', 'unseen'],
  ]) {
    const { body } = await ask(`/who?ip=${ip}&at=${BETWEEN}`);
    expect(body).toMatchObject({ holders: [{ name, from: CREATED, to: ENDED }] });
  }
});

const refused: readonly [target: string, status: number, field: string][] = [
  ['/nodes', 400, 'deployment'],
  ['/nodes?deployment=web', 400, 'deployment'],
  ['/nodes?deployment=shop/web&namespace=shop', 400, 'namespace'],
  ['/nodes?namespace=shop&namspace=bank', 400, 'namspace'],
  ['/nodes?selector=%21', 400, 'selector'],
  ['/nodes?daemonset=shop/absent', 404, 'daemonset'],
  ['/pod?ip=', 400, 'ip'],
  ['/pod?ip=10.0.0', 400, 'ip'],
  ['/pod?ip=10.0.0.1&minVersion=x', 400, 'minVersion'],
  ['/pod?uid=absent', 404, 'uid'],
  ['/who?ip=10.0.0.1', 400, 'at'],
  ['/who?ip=10.0.0.1&at=soon', 400, 'at'],
  [`/who?ip=10.7.7.7&at=${BETWEEN}`, 404, 'ip'],
  ['/complete', 400, 'prefix'],
  ['/complete?prefix=w&limit=1000', 400, 'limit'],
  ['/complete?prefix=w&kind=pod', 400, 'kind'],
  ['/feed?x=1', 400, 'x'],
];

test.each(refused)('GET %s is %i for its %s', async (target, status, field) => {
  const reply = await ask(target);
  expect({ status: reply.status, field: reply.body['field'] }).toEqual({ status, field });
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
});

test('bodies that are no batch are refused', async () => {
  expect((await hydrate('{"ips":["web"]}')).body).toMatchObject({ field: 'ips[0]', status: 400 });
  expect((await hydrate('{"ips"')).body).toMatchObject({ code: 'BODY_NOT_JSON' });
  expect((await hydrate('')).body).toMatchObject({ field: 'body', status: 400 });
  expect((await hydrate('a', 'text/plain')).status).toBe(415);
  expect((await ask('/hydrate')).status).toBe(405);
});

test('the description is served', async () => {
  const { body } = await ask('/openapi.json');
  expect(body['openapi']).toBe('3.1.0');
  expect(Object.keys(body['paths'] as object)).toContain('/hydrate');
});

test('while NATS is away it answers what it knows, and says that this may be old', async () => {
  const nats = plane.part('nats-server');
  await nats.kill();
  await expect.poll(stateOf, { timeout: 20_000 }).not.toBe('current');
  const { status, body } = await ask('/pod?name=shop/web-7-a');
  expect(status).toBe(200);
  expect(body).toMatchObject(POD_A);
  expect(body['state']).not.toBe('current');
  await nats.start();
  await expect.poll(stateOf, { timeout: 30_000 }).toBe('current');
  expect((await ask('/pod?name=shop/web-7-a')).body['state']).toBeUndefined();
});
