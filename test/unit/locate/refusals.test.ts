// Refusals of locate, with the parameter at fault; objects that it does not find; and those that it
// does not know yet.
import { beforeEach, describe, expect, test } from 'vitest';
import { World, description } from './asker.ts';

let world: World;

beforeEach(() => {
  world = new World();
  world.put({ name: 'web-1', node: 'n1', labels: { app: 'web' }, ips: ['10.0.0.1'] });
});

const wrong: readonly [target: string, field: string][] = [
  ['/nodes', 'deployment'],
  ['/nodes?minVersion=1', 'deployment'],
  ['/nodes?deployment=', 'deployment'],
  ['/nodes?deployment=web', 'deployment'],
  ['/nodes?deployment=shop/', 'deployment'],
  ['/nodes?deployment=shop/web/more', 'deployment'],
  ['/nodes?deployment=shop/w%20b', 'deployment'],
  [`/nodes?deployment=shop/${'w'.repeat(254)}`, 'deployment'],
  ['/nodes?deployment=shop/web&service=shop/web', 'service'],
  ['/nodes?deployment=shop/web&deployment=shop/web', 'deployment'],
  ['/nodes?deployment=shop/web&in=shop', 'in'],
  ['/nodes?namespace=shop&in=shop', 'in'],
  ['/nodes?in=shop', 'deployment'],
  ['/nodes?namespace=shop/web', 'namespace'],
  ['/nodes?selector=', 'selector'],
  ['/nodes?selector=a%20b', 'selector'],
  ['/nodes?selector=app=web,', 'selector'],
  [`/nodes?selector=${'a,'.repeat(600)}a`, 'selector'],
  ['/nodes?Deployment=shop/web', 'Deployment'],
  ['/nodes?namespace=shop&pretty', 'pretty'],
  ['/pod', 'uid'],
  ['/pod?ip=10.0.0.1&uid=x', 'ip'],
  ['/pod?ip=10.0.0.256', 'ip'],
  ['/pod?ip=10.0.0', 'ip'],
  ['/pod?ip=fe80::1%25eth0', 'ip'],
  ['/pod?uid=a%20b', 'uid'],
  ['/pod?container=%00', 'container'],
  ['/pod?name=web-1', 'name'],
  ['/pod?ip=10.0.0.1&minVersion=-1', 'minVersion'],
  ['/pod?ip=10.0.0.1&minVersion=1.5', 'minVersion'],
  ['/pod?ip=10.0.0.1&minVersion=99999999999999999', 'minVersion'],
  ['/who', 'ip'],
  ['/who?ip=10.0.0.1', 'at'],
  ['/who?at=1', 'ip'],
  ['/who?ip=10.0.0.1&at=yesterday', 'at'],
  ['/who?ip=10.0.0.1&at=2026-11-21', 'at'],
  ['/who?ip=10.0.0.1&at=2026-13-45T10:00:00Z', 'at'],
  ['/who?ip=10.0.0.1&at=2026-11-21T12:02:00Z', 'at'],
  ['/complete', 'prefix'],
  ['/complete?prefix=', 'prefix'],
  ['/complete?prefix=a%2Fb', 'prefix'],
  ['/complete?prefix=web&limit=0', 'limit'],
  ['/complete?prefix=web&limit=101', 'limit'],
  ['/complete?prefix=web&kind=pod', 'kind'],
  ['/complete?prefix=web&kind=pods,,', 'kind'],
  ['/complete?prefix=web&namespace=,', 'namespace'],
  ['/feed?minVersion=1', 'minVersion'],
  ['/openapi.json?x=1', 'x'],
];

test.each(wrong)('%s is refused for its %s', async (target, field) => {
  const { status, code, field: told, message } = await world.ask(target);
  expect({ status, code, told }).toEqual({ status: 400, code: 'QUERY_INVALID', told: field });
  expect(message).toMatch(/^The .*\.$|^deployment and service are two|^uid and ip are two/s);
  expect(message.length).toBeLessThan(500);
});

test('an empty parameter is called empty, and an unknown one unknown', async () => {
  const empty = await world.ask('/who?ip=&at=1');
  expect(empty.message).toBe('The parameter ip is empty: an address of a pod, node or service.');
  const unknown = await world.ask('/who?ip=10.0.0.1&when=1');
  expect(unknown.message).toContain("'when' is not known here; known are: ip, at, minVersion.");
});

const bodies: readonly [sentence: string, body: unknown, field: string][] = [
  ['no object', [], 'body'],
  ['nothing', null, 'body'],
  ['an empty object', {}, 'body'],
  ['empty lists', { ips: [], uids: [] }, 'body'],
  ['too much', { uids: Array.from({ length: 1_001 }, () => 'u') }, 'body'],
  ['half a million', { uids: Array.from({ length: 500_000 }, () => 'u') }, 'body'],
  ['an unknown list', { pods: ['a'] }, 'pods'],
  ['a name of every object', { constructor: ['a'] }, 'constructor'],
  ['no list', { ips: '10.0.0.1' }, 'ips'],
  ['no text', { uids: ['u', 7] }, 'uids[1]'],
  ['no address', { ips: ['10.0.0.1', '10.0.0.1', 'web'] }, 'ips[2]'],
  ['no name', { names: ['web-1'] }, 'names[0]'],
  ['an empty id', { containers: [''] }, 'containers[0]'],
];

test.each(bodies)('a batch of %s is refused for its field', async (_sentence, body, field) => {
  const { status, code, field: told } = await world.ask('/hydrate', body);
  expect({ status, code, told }).toEqual({ status: 400, code: 'QUERY_INVALID', told: field });
});

test('a batch may be as large as it says', async () => {
  const uids = Array.from({ length: 1_000 }, (_, index) => `u${index}`);
  expect((await world.ask('/hydrate', { uids })).body['missing']).toHaveLength(1_000);
});

test('a batch of one pod with thousands of labels, a thousand times, is refused', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => [`label-${index}`, 'x'.repeat(500)]);
  const labels = Object.fromEntries(names);
  world.put({ name: 'huge', uid: 'huge', labels });
  expect((await world.ask('/hydrate', { uids: ['huge'] })).body['found']).toHaveLength(1);
  const uids = Array.from({ length: 1_000 }, () => 'huge');
  const { status, field, message } = await world.ask('/hydrate', { uids });
  expect([status, field, message]).toEqual([400, 'body', expect.stringContaining('fewer')]);
});

const absent: readonly [target: string, field: string, searched: string][] = [
  [
    '/nodes?deployment=shop/web',
    'deployment',
    'no deployment shop/web: looked through 0 deployments in namespace shop',
  ],
  ['/nodes?namespace=other', 'namespace', 'no namespace other: looked through 0 namespaces,'],
  ['/nodes?selector=app=api', 'selector', 'looked through 1 pods,'],
  ['/nodes?selector=app=web&in=bank', 'selector', 'looked through 0 pods in namespace bank,'],
  ['/pod?uid=u', 'uid', 'no object with uid u: looked through 1 objects,'],
  ['/pod?ip=10.0.0.2', 'ip', 'no object with address 10.0.0.2: looked through 1 objects,'],
  ['/pod?container=c', 'container', 'no container c: looked through 1 pods,'],
  ['/pod?name=shop/web-2', 'name', 'no pod shop/web-2: looked through 1 pods in namespace shop'],
  ['/who?ip=10.0.0.2&at=1', 'ip', 'no holder of 10.0.0.2 at 1970-01-01T00:00:01.000Z'],
];

test.each(absent)('%s is not found, by its %s', async (target, field, searched) => {
  const { status, code, field: told, message } = await world.ask(target);
  expect({ status, code, told }).toEqual({ status: 404, code: 'OBJECT_UNKNOWN', told: field });
  expect(message).toContain(searched);
  expect(message).toContain('version 100');
});

describe('freshness', () => {
  test('the first catch-up is told with its progress, and when to come again', async () => {
    world.state = { phase: 'catching-up', version: 7, behind: 12 };
    const told = await world.ask('/nodes?namespace=shop');
    expect(told).toMatchObject({ status: 503, code: 'FEED_CATCHING_UP', retryAfterMs: 2_000 });
    expect(told.message).toContain('catching-up, 1 objects held, 12 messages to go');
    expect((await world.ask('/nodes?namespace=shop&x=1')).status).toBe(400);
    expect((await world.ask('/feed')).status).toBe(200);
  });

  test('a picture that was whole is answered from, and says that it may be old', async () => {
    // Nobody asked while it was current.
    world.whenCurrent = () => Promise.resolve(100);
    world.state = { phase: 'connecting', version: 100 };
    await world.ask('/feed');
    const { body } = await world.ask('/pod?ip=10.0.0.1');
    expect(body).toMatchObject({ version: 100, state: 'connecting' });
  });

  test('a version that comes in time is waited for', async () => {
    await world.ask('/feed');
    world.whenCurrent = () => {
      world.state = { phase: 'current', version: 105 };
      world.put({ name: 'new', ips: ['10.0.0.2'] });
      return Promise.resolve(105);
    };
    const { body } = await world.ask('/pod?ip=10.0.0.2&minVersion=103');
    expect(body).toMatchObject({ version: 105, object: { name: 'new' } });
  });

  test('a version that does not come is told, with the one that is there', async () => {
    const told = await world.ask('/pod?ip=10.0.0.1&minVersion=101');
    expect(told).toMatchObject({ status: 503, code: 'FEED_VERSION_AHEAD', retryAfterMs: 1_000 });
    expect(told).toMatchObject({ field: 'minVersion' });
    expect(told.message).toContain('stands at 100 (current)');
  });

  test('a caller that goes away is waited for no longer', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const answer = world.ask('/pod?ip=10.0.0.1&minVersion=101', undefined, gone);
    await expect(answer).rejects.toThrow('gone');
  });
});

test('the description names exactly what is taken', async () => {
  const { paths } = await description();
  const must = Object.entries(paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? []).filter((one) => one.required).map(({ name }) => `${path} ${name}`),
  );
  expect(must).toEqual(['/who ip', '/who at', '/complete prefix']);
  world.put({ resource: 'deployments', kind: 'Deployment', name: 'web' });
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { parameters, requestBody }] of Object.entries(operations)) {
      expect(requestBody !== undefined).toBe(method === 'post');
      const body = method === 'post' ? { uids: ['u'] } : undefined;
      for (const { name, required, example } of parameters) {
        const query = new URLSearchParams({ [name]: String(example) });
        for (const other of parameters.filter((one) => one.required && one.name !== name)) {
          query.set(other.name, String(other.example));
        }
        const told = await world.ask(`${path}?${query.toString()}`, body);
        // Its form is right; it may still need another parameter beside it.
        expect(told.status === 400 ? told.message : 'is missing').toContain('is missing');
        const refused = await world.ask(`${path}?${name}=`, body);
        expect(refused).toMatchObject({ status: 400, field: name });
        if (!required) continue;
        query.delete(name);
        expect((await world.ask(`${path}?${query.toString()}`, body)).field).toBe(name);
      }
    }
  }
});
