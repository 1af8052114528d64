// Answers of locate about a small cluster that stands still.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { NOW, World, description } from './asker.ts';

let world: World;

// The asker holds every answer against it.
beforeAll(description);

const id = (letter: string): string => `containerd://${letter.repeat(64)}`;
const owner = (kind: string, name: string) => ({ kind, name, uid: `uid-of-${name}` });

beforeEach(() => {
  world = new World();
  world.put({ resource: 'namespaces', kind: 'Namespace', name: 'shop', namespace: '' });
  world.put({ resource: 'namespaces', kind: 'Namespace', name: 'empty', namespace: '' });
  for (const name of ['n1', 'n2']) {
    const ips = [name === 'n1' ? '192.168.0.1' : '192.168.0.2'];
    world.put({ resource: 'nodes', kind: 'Node', name, namespace: '', ips });
  }
  world.put({ resource: 'deployments', kind: 'Deployment', name: 'web' });
  const above = owner('Deployment', 'web');
  world.put({ resource: 'replicasets', kind: 'ReplicaSet', name: 'web-7', owner: above });
  world.put({ resource: 'statefulsets', kind: 'StatefulSet', name: 'idle' });
  const service = { resource: 'services', kind: 'Service', name: 'web', uid: 'uid-of-service' };
  world.put({ ...service, ips: ['10.96.0.1'] });
  for (const [index, node] of ['n1', 'n1', 'n2', undefined].entries()) {
    world.put({
      name: `web-7-${index}`,
      created: '2026-11-21T11:00:00Z',
      owner: owner('ReplicaSet', 'web-7'),
      labels: { app: 'web', tier: index === 0 ? 'a' : 'b' },
      ready: index === 0,
      phase: node === undefined ? 'Pending' : 'Running',
      ips: [`10.0.0.${index}`],
      containers: [{ name: 'app', image: 'web:1', id: id(String(index)), restarts: 1 }],
      ...(node === undefined ? {} : { node }),
    });
  }
  const pod = { name: 'web-7-0', uid: 'uid-of-web-7-0' };
  world.put({
    resource: 'endpointslices',
    kind: 'EndpointSlice',
    name: 'web-x',
    service: 'web',
    node: 'n1',
    endpoints: [{ ips: ['10.0.0.0'], pod }],
  });
  world.put({ name: 'done', namespace: 'bank', node: 'n1', phase: 'Succeeded', ips: ['10.0.0.0'] });
  const shared = { hostNetwork: true, ips: ['192.168.0.1'] } as const;
  world.put({ name: 'agent', namespace: 'bank', node: 'n1', labels: { app: 'agent' }, ...shared });
});

test('the nodes of a deployment, through its ReplicaSet', async () => {
  const { body, text } = await world.ask('/nodes?deployment=shop/web');
  expect(body).toEqual({
    version: 100,
    of: 'deployment shop/web',
    pods: 4,
    unscheduled: 1,
    done: 0,
    nodes: [
      { node: 'n1', pods: 2, ready: 1, names: ['web-7-0', 'web-7-1'] },
      { node: 'n2', pods: 1, ready: 0, names: ['web-7-2'] },
    ],
  });
  expect(text).toContain('NODE  PODS  READY\nn1    2     1\nn2    1     0\n');
});

const places: readonly [query: string, nodes: readonly string[]][] = [
  ['replicaset=shop/web-7', ['n1 2', 'n2 1']],
  ['service=shop/web', ['n1 1']],
  ['statefulset=shop/idle', []],
  ['namespace=shop', ['n1 2', 'n2 1']],
  ['namespace=empty', []],
  ['namespace=bank', ['n1 1']],
  ['selector=app=web', ['n1 2', 'n2 1']],
  ['selector=app%3Dweb,tier!%3Da', ['n1 1', 'n2 1']],
  ['selector=app', ['n1 3', 'n2 1']],
  ['selector=app&in=bank', ['n1 1']],
];

test.each(places)('%s runs on %o', async (query, wanted) => {
  const { body } = await world.ask(`/nodes?${query}`);
  const nodes = body['nodes'] as unknown as { node: string; pods: number }[];
  expect(nodes.map(({ node, pods }) => `${node} ${pods}`)).toEqual(wanted);
});

test('a pod that is done runs nowhere any more', async () => {
  const { body } = await world.ask('/nodes?namespace=bank');
  expect(body).toMatchObject({ pods: 1, done: 1, nodes: [{ names: ['agent'] }] });
});

test('a pod with owners, services, node and containers', async () => {
  const { body, text } = await world.ask('/pod?ip=10.0.0.0');
  expect(body).toMatchObject({
    object: {
      kind: 'Pod',
      namespace: 'shop',
      name: 'web-7-0',
      owners: [
        { kind: 'ReplicaSet', name: 'web-7' },
        { kind: 'Deployment', name: 'web' },
      ],
      services: ['web'],
      node: { name: 'n1', ips: ['192.168.0.1'] },
      containers: [{ name: 'app', image: 'web:1', id: id('0') }],
    },
    alsoThere: ['Pod bank/done'],
  });
  expect(text).toMatch(/^owners: +ReplicaSet\/web-7 < Deployment\/web$/m);
  expect(text).toMatch(/^node: +n1$/m);
  expect(text).toMatch(/^labels: +app=web, tier=a$/m);
});

const objects: readonly [query: string, object: string][] = [
  ['uid=uid-of-web-7-1', 'Pod web-7-1'],
  ['uid=uid-of-service', 'Service web'],
  ['ip=192.168.0.1', 'Node n1'],
  ['ip=10.96.0.1', 'Service web'],
  [`container=${'2'.repeat(64)}`, 'Pod web-7-2'],
  [`container=${encodeURIComponent(id('2'))}`, 'Pod web-7-2'],
  ['name=shop/web-7-3', 'Pod web-7-3'],
];

test.each(objects)('%s is %s', async (query, wanted) => {
  const { body } = await world.ask(`/pod?${query}`);
  const { kind, name } = body['object'] as unknown as { kind: string; name: string };
  expect(`${kind} ${name}`).toBe(wanted);
});

test('an owner that the feed does not hold is named all the same', async () => {
  world.put({ name: 'lonely', owner: owner('Rollout', 'far') });
  const { body } = await world.ask('/pod?name=shop/lonely');
  expect(body).toMatchObject({ object: { owners: [{ kind: 'Rollout', name: 'far' }] } });
});

test('an IPv6 address is found however it is written', async () => {
  world.put({ name: 'six', ips: ['10.0.9.9', 'fd00::1'] });
  const { body } = await world.ask('/pod?ip=FD00:0:0::0:1');
  expect(body).toMatchObject({ object: { name: 'six' } });
});

test('a batch says what it found and what it missed, in the order of the question', async () => {
  const { body, text } = await world.ask('/hydrate', {
    ips: ['10.0.0.1', '10.9.9.9'],
    uids: ['uid-of-n2'],
    containers: ['2'.repeat(64)],
    names: ['shop/web-7-0', 'shop/absent'],
  });
  const found = body['found'] as unknown as { value: string; object: { name: string } }[];
  expect(found.map(({ value, object }) => [value, object.name])).toEqual([
    ['10.0.0.1', 'web-7-1'],
    ['uid-of-n2', 'n2'],
    ['2'.repeat(64), 'web-7-2'],
    ['shop/web-7-0', 'web-7-0'],
  ]);
  expect(body['missing']).toEqual([
    { list: 'ips', value: '10.9.9.9' },
    { list: 'names', value: 'shop/absent' },
  ]);
  expect(text).toMatch(/^10\.0\.0\.1 +Pod +shop +web-7-1 +Running +n1 +ReplicaSet/m);
});

test('who had an address then, before and after its pod ended', async () => {
  const subject = 'node.n1.pods.shop.web-7-1';
  const at = '2026-11-21T11:30:00Z';
  const grave = { epoch: 1, uid: 'uid-of-web-7-1', resourceVersion: '1', at };
  world.catalog.drop(subject, { deleted: true, ...grave });
  const { body } = await world.ask('/who?ip=10.0.0.1&at=2026-11-21T12:20:00%2B01:00');
  expect(body).toEqual({
    version: 100,
    ip: '10.0.0.1',
    at: '2026-11-21T11:20:00.000Z',
    reachesBackTo: '2026-11-21T11:00:00.000Z',
    holders: [
      {
        kind: 'Pod',
        namespace: 'shop',
        name: 'web-7-1',
        uid: 'uid-of-web-7-1',
        node: 'n1',
        from: '2026-11-21T11:00:00.000Z',
        to: '2026-11-21T11:30:00.000Z',
      },
    ],
  });
  const unencoded = await world.ask('/who?ip=10.0.0.1&at=2026-11-21T12:20:00+01:00');
  expect(unencoded.body).toEqual(body);
  const late = await world.ask(`/who?ip=10.0.0.1&at=${Date.parse(NOW) / 1_000}`);
  expect(late).toMatchObject({ status: 404, code: 'OBJECT_UNKNOWN', field: 'ip' });
  expect(late.message).toContain('What ended before 2026-11-21T11:00:00.000Z is forgotten.');
});

test('a name is completed by kind and namespace', async () => {
  const { body } = await world.ask('/complete?prefix=web&limit=3');
  expect(body['matches']).toEqual([
    { resource: 'deployments', name: 'web', namespaces: ['shop'] },
    { resource: 'services', name: 'web', namespaces: ['shop'] },
    { resource: 'replicasets', name: 'web-7', namespaces: ['shop'] },
  ]);
  const nodes = await world.ask('/complete?prefix=n&kind=nodes,pods');
  expect(nodes.body['matches']).toEqual([
    { resource: 'nodes', name: 'n1', namespaces: [] },
    { resource: 'nodes', name: 'n2', namespaces: [] },
  ]);
  const none = await world.ask('/complete?prefix=web&namespace=bank');
  expect(none.body['matches']).toEqual([]);
});

test('every answer of a feed that nobody sweeps says that it may be old', async () => {
  world.state = { phase: 'current', version: 100, isStale: true };
  for (const target of ['/feed', '/nodes?namespace=shop', '/complete?prefix=web']) {
    const { body, text } = await world.ask(target);
    expect(body).toMatchObject({ version: 100, isStale: true });
    expect(text).toMatch(/^isStale: +true$/m);
  }
});

test('the health of the feed says how far it is proven', async () => {
  world.state = {
    phase: 'catching-up',
    version: 7,
    behind: 3,
    verifiedVersion: 5,
    verifiedAtMs: Date.parse(NOW),
    sweptAtMs: Date.parse(NOW),
  };
  world.counts = { snapshots: 1 };
  const { body, text } = await world.ask('/feed');
  expect(body).toEqual({
    version: 7,
    state: 'catching-up',
    behind: 3,
    verifiedVersion: 5,
    verifiedAt: NOW,
    sweptAt: NOW,
    isStale: false,
    historySeconds: 3_600,
    objects: {
      namespaces: 2,
      nodes: 2,
      deployments: 1,
      replicasets: 1,
      statefulsets: 1,
      services: 1,
      pods: 6,
      endpointslices: 1,
    },
    counts: { snapshots: 1 },
  });
  expect(text).toMatch(/^pods +6$/m);
});
