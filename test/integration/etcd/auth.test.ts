// Users and roles of a real etcd, before and after it asks for a login.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allUnder, oneKey } from '../../../shared/etcd/admin/roles.ts';
import { EtcdCluster } from './cluster.ts';

let cluster: EtcdCluster;

const ROOT = { user: 'root', password: 'for-root' };
const APP = { user: 'app', password: 'for-app' };
const refused = (reason: string): object => ({ code: 'ETCD_REFUSED', reason, isInDoubt: false });

beforeAll(async () => {
  cluster = await EtcdCluster.start(1);
});

afterAll(async () => {
  await cluster?.stop();
});

test('auth is off until there is a root, and says so', async () => {
  const { auth, users } = cluster.admin({ login: ROOT });
  expect(await auth.status()).toEqual({ isEnabled: false, revision: expect.any(String) });
  await expect(auth.enable()).rejects.toMatchObject(refused('ROOT_IS_NEEDED'));
  await expect(auth.checkLogin(ROOT)).rejects.toMatchObject(refused('AUTH_NOT_ENABLED'));
  await users.add(ROOT);
  await expect(auth.enable()).rejects.toMatchObject(refused('ROOT_IS_NEEDED'));
  await users.grant('root', 'root');
  expect(await users.rolesOf('root')).toEqual(['root']);
});

test('roles and users are made, listed and refused when they are there or are not', async () => {
  const { users, roles } = cluster.admin();
  await roles.add('app');
  await expect(roles.add('app')).rejects.toMatchObject(refused('ROLE_EXISTS'));
  const permissions = [
    { type: 'READ', ...oneKey('/all') },
    { type: 'READWRITE', ...allUnder('/app/ÿ') },
    { type: 'WRITE', ...allUnder('/log/') },
  ] as const;
  for (const permission of permissions) await roles.grant('app', permission);
  const byKey = (one: { key: string }, other: { key: string }): number =>
    Buffer.compare(Buffer.from(one.key, 'base64'), Buffer.from(other.key, 'base64'));
  expect((await roles.permissionsOf('app')).toSorted(byKey)).toEqual(permissions);
  await roles.revoke('app', allUnder('/log/'));
  await expect(roles.revoke('app', allUnder('/log/'))).rejects.toMatchObject(
    refused('PERMISSION_NOT_GRANTED'),
  );
  await users.add(APP);
  await expect(users.add(APP)).rejects.toMatchObject(refused('USER_EXISTS'));
  await expect(users.grant('app', 'none')).rejects.toMatchObject(refused('ROLE_NOT_FOUND'));
  await expect(users.revoke('app', 'app')).rejects.toMatchObject(refused('ROLE_NOT_GRANTED'));
  await users.grant('app', 'app');
  const gone = refused('USER_NOT_FOUND');
  await expect(users.delete('none')).rejects.toMatchObject(gone);
  await expect(users.rolesOf('none')).rejects.toMatchObject(gone);
  await expect(users.grant('none', 'app')).rejects.toMatchObject(gone);
  await expect(roles.permissionsOf('none')).rejects.toMatchObject(refused('ROLE_NOT_FOUND'));
  expect([...(await users.list())].toSorted()).toEqual(['app', 'root']);
  expect([...(await roles.list())].toSorted()).toContain('app');
});

test('once auth is on, each may do what its roles say', async () => {
  await cluster.admin().auth.enable();
  const nobody = cluster.at(0);
  await expect(nobody.status()).rejects.toMatchObject(refused('NO_LOGIN'));
  await expect(nobody.keys.get('/all')).rejects.toMatchObject(refused('NO_LOGIN'));
  await expect(nobody.users.list()).rejects.toMatchObject(refused('NO_LOGIN'));
  const app = cluster.at(0, { login: APP });
  expect((await app.status()).version).toMatch(/^3\./);
  await app.keys.put('/app/ÿ/1', 'mine');
  expect((await app.keys.get('/app/ÿ/1')).found?.value.toString()).toBe('mine');
  await expect(app.keys.put('/all', 'x')).rejects.toMatchObject(refused('PERMISSION_DENIED'));
  await expect(app.keys.count('/')).rejects.toMatchObject(refused('PERMISSION_DENIED'));
  await expect(app.members.remove('8')).rejects.toMatchObject(refused('PERMISSION_DENIED'));
  await expect(app.defragment({ timeoutMs: 5_000 })).rejects.toMatchObject(
    refused('PERMISSION_DENIED'),
  );
  const root = cluster.at(0, { login: ROOT });
  expect(await root.auth.status()).toMatchObject({ isEnabled: true });
  expect((await root.members.list({ isLinearizable: true })).members).toHaveLength(1);
  expect(await root.alarms.list()).toEqual([]);
  await root.defragment({ timeoutMs: 5_000 });
  await expect(root.users.delete('root')).rejects.toMatchObject(refused('ROOT_IS_NEEDED'));
});

test('a token that etcd forgot is renewed, and a password that is wrong is told', async () => {
  const app = cluster.at(0, { login: APP });
  await app.keys.put('/app/ÿ/1', 'before');
  await cluster.part(0).restart();
  await app.keys.put('/app/ÿ/1', 'after');
  const root = cluster.at(0, { login: ROOT });
  await root.users.changePassword({ ...APP, password: 'changed' });
  await expect(root.auth.checkLogin(APP)).rejects.toMatchObject(refused('LOGIN_FAILED'));
  await root.auth.checkLogin({ ...APP, password: 'changed' });
  await cluster.part(0).restart();
  await expect(app.keys.get('/all')).rejects.toMatchObject(refused('LOGIN_FAILED'));
});

test('a login goes on through changes of users and roles, and auth goes off again', async () => {
  const root = cluster.at(0, { login: ROOT });
  await root.users.revoke('app', 'app');
  await root.roles.delete('app');
  await root.users.delete('app');
  expect(await root.users.list()).toEqual(['root']);
  await root.auth.disable();
  expect(await cluster.at(0).auth.status()).toMatchObject({ isEnabled: false });
  expect((await cluster.at(0).keys.get('/app/ÿ/1')).found?.value.toString()).toBe('after');
});
