// Logins of an EtcdCluster on real etcds: turned on, held through another password, new members,
// restarts, and the EtcdCluster made again, and turned off.
import { afterAll, expect, test } from 'vitest';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import { type Named, SCENARIO_MS } from './etcd-scene.ts';
import { place } from './shared-place.ts';

afterAll(() => place.endAll());

const SECRETS = { group: '', version: 'v1', resource: 'secrets' } as const;
const CLUSTER: Named = { namespace: 'logins', name: 'etcd' };
const GIVEN = { namespace: 'logins', name: 'given' };

const ROLES = [
  { name: 'orders', permissions: [{ prefix: '/orders/', access: 'ReadWrite' }] },
  { name: 'reader', permissions: [{ prefix: '/orders/', access: 'Read' }] },
];
const USERS = [
  { name: 'orders', passwordSecret: { name: 'given' }, roles: ['orders'] },
  { name: 'reader', roles: ['reader'] },
];

const encoded = (text: string): string => Buffer.from(text).toString('base64');

const giveSecret = (password: string) =>
  place.kube.apply(
    SECRETS,
    { apiVersion: 'v1', kind: 'Secret', metadata: GIVEN, data: { password: encoded(password) } },
    { force: true },
  );

async function passwordIn(name: string): Promise<string> {
  const secret = await place.kube.get(SECRETS, { namespace: CLUSTER.namespace, name });
  const { password = '' } = Object(secret?.['data']) as { readonly password?: string };
  return Buffer.from(password, 'base64').toString();
}

async function as<Result>(
  user: string,
  password: string,
  ask: (admin: EtcdAdmin) => Promise<Result>,
): Promise<Result | string> {
  const admin = await place.client(CLUSTER, user === '' ? undefined : { user, password });
  try {
    return await ask(admin);
  } catch (error) {
    return String(Object(error).reason);
  } finally {
    await admin.close();
  }
}

const put = (key: string) => (admin: EtcdAdmin) => admin.keys.put(key, 'x').then(() => 'done');
const read = (key: string) => (admin: EtcdAdmin) =>
  admin.keys.get(key).then(({ found }) => found?.value.toString() ?? 'nothing');

const untilLogin = (what: string, user: string, password: string) =>
  place.wakeUntil(CLUSTER, what, async () => (await as(user, password, read('/orders/1'))) === 'x');

async function expectRights(): Promise<void> {
  const reader = await passwordIn('etcd-user-reader');
  expect(await as('reader', reader, read('/orders/1'))).toBe('x');
  expect(await as('reader', reader, put('/orders/1'))).toBe('PERMISSION_DENIED');
  expect(await as('', '', read('/orders/1'))).toBe('NO_LOGIN');
}

test(
  'users are made, and each may do what its roles say',
  async () => {
    await place.namespace(CLUSTER.namespace);
    await giveSecret('first');
    await place.create(CLUSTER, { replicas: 1 });
    await place.wakeUntilReady(CLUSTER);
    expect(await as('', '', put('/orders/1'))).toBe('done');
    await place.edit(CLUSTER, { auth: { users: USERS, roles: ROLES } });
    await place.wakeUntilReady(CLUSTER);
    expect(await as('orders', 'first', put('/orders/1'))).toBe('done');
    expect(await as('orders', 'first', put('/other'))).toBe('PERMISSION_DENIED');
    await expectRights();
    const { auth } = await place.status(CLUSTER);
    expect(auth).toMatchObject({
      phase: 'On',
      rootSecret: 'etcd-root',
      users: [{ name: 'orders', secret: 'given' }, { secret: 'etcd-user-reader' }],
    });
    expect(JSON.stringify(await place.read(CLUSTER))).not.toContain('first');
  },
  SCENARIO_MS,
);

test(
  'new members join and members are restarted while etcd asks for logins',
  async () => {
    await place.edit(CLUSTER, { replicas: 3 });
    await place.wakeUntilReady(CLUSTER);
    await expectRights();
    const before = await place.podUids(CLUSTER);
    await place.edit(CLUSTER, { snapshotCount: 5_000 });
    await place.wakeUntilReady(CLUSTER);
    expect((await place.podUids(CLUSTER)).filter((uid) => before.includes(uid))).toEqual([]);
    await expectRights();
  },
  SCENARIO_MS,
);

test(
  'another password, other rights, and users that are taken away come to etcd',
  async () => {
    await giveSecret('second');
    await place.edit(CLUSTER, {
      auth: {
        users: [{ ...USERS[0], roles: ['reader'] }],
        roles: [ROLES[1]],
      },
    });
    await place.wakeUntilReady(CLUSTER);
    await untilLogin('the other password', 'orders', 'second');
    expect(await as('orders', 'first', read('/orders/1'))).toBe('LOGIN_FAILED');
    expect(await as('orders', 'second', put('/orders/1'))).toBe('PERMISSION_DENIED');
    const root = await passwordIn('etcd-root');
    expect(await as('root', root, (admin) => admin.users.list())).toEqual(['orders', 'root']);
    expect(await as('root', root, (admin) => admin.roles.list())).not.toContain('orders');
  },
  SCENARIO_MS,
);

test(
  'made again it finds its data and its logins, and without auth it opens them to all',
  async () => {
    const { clusterId } = await place.status(CLUSTER);
    await place.delete(CLUSTER);
    await place.create(CLUSTER, {});
    await place.wakeUntil(CLUSTER, 'AuthLeftOn', async () =>
      (await place.condition(CLUSTER, 'Degraded')).startsWith('True AuthLeftOn'),
    );
    await place.edit(CLUSTER, { auth: { users: USERS, roles: ROLES } });
    await place.wakeUntilReady(CLUSTER);
    expect((await place.status(CLUSTER)).clusterId).toBe(clusterId);
    await expectRights();
    await place.edit(CLUSTER, { auth: null });
    await place.wakeUntilReady(CLUSTER);
    expect(await as('', '', read('/orders/1'))).toBe('x');
    expect(await as('', '', (admin) => admin.users.list())).toEqual([]);
    expect((await place.status(CLUSTER)).auth).toBeUndefined();
  },
  SCENARIO_MS,
);
