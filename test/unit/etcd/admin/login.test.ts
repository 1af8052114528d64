// A login to etcd is used when etcd asks for one, its token is kept and renewed, and keys and
// permissions are taken only in the shapes that etcd gives them.
import { afterEach, describe, expect, test } from 'vitest';
import { type EtcdMemberAdmin, openEtcdAdmin } from '../../../../shared/etcd/admin.ts';
import {
  type Manner,
  poseAsEtcd,
  type PosingEtcd,
  refuses,
  says,
} from '../../../builders/posing-etcd.ts';

const opened: EtcdMemberAdmin[] = [];

afterEach(async () => {
  for (const admin of opened.splice(0)) await admin.close();
});

const header = { cluster_id: '1', member_id: '2', revision: '3', raft_term: '2' };
const AUTHENTICATE = '/v3/auth/authenticate';
const login = { user: 'root', password: 'secret' };

async function adminOf(
  manner: Manner,
): Promise<{ readonly admin: EtcdMemberAdmin; readonly etcd: PosingEtcd }> {
  const etcd = await poseAsEtcd(manner);
  const admin = openEtcdAdmin({ endpoint: etcd.url, login });
  opened.push(admin);
  return { admin, etcd };
}

/** Knows one token at a time: the one that it gave last. */
function guarded(answer: unknown): { readonly manner: Manner; readonly forget: () => void } {
  let token = '';
  let given = 0;
  return {
    forget: () => (token = ''),
    manner: (response, asked) => {
      if (asked.path === AUTHENTICATE) {
        given += 1;
        token = `token.${given}`;
        return says({ header, token })(response, asked);
      }
      if (asked.token === undefined) {
        return refuses('etcdserver: user name is empty', 3)(response, asked);
      }
      if (asked.token === token) return says(answer)(response, asked);
      return refuses('etcdserver: invalid auth token', 16, 401)(response, asked);
    },
  };
}

describe('a login', () => {
  test('is used once etcd asks, its token is kept, and renewed for reads and changes', async () => {
    const { manner, forget } = guarded({ header, users: ['root'] });
    const { admin, etcd } = await adminOf(manner);
    expect(await admin.users.list()).toEqual(['root']);
    expect(await admin.at(etcd.url).users.list()).toEqual(['root']);
    forget();
    await admin.users.delete('app');
    const told = etcd.asked.map(({ path, token = '-' }) => `${path.split('/').at(-1)} ${token}`);
    expect(told).toEqual([
      'list -',
      'authenticate -',
      'list token.1',
      'list token.1',
      'delete token.1',
      'authenticate -',
      'delete token.2',
    ]);
    expect(etcd.asked[1]?.body).toEqual({ name: 'root', password: 'secret' });
  });

  test('that is never good enough ends with what etcd says', async () => {
    const never: Manner = (response, asked) =>
      asked.path === AUTHENTICATE
        ? says({ header, token: 'token' })(response, asked)
        : refuses('etcdserver: invalid auth token', 16, 401)(response, asked);
    const { admin, etcd } = await adminOf(never);
    const refused = { code: 'ETCD_REFUSED', reason: 'INVALID_TOKEN', isInDoubt: false };
    await expect(admin.users.delete('app')).rejects.toMatchObject(refused);
    const told = etcd.asked.map(({ path, token = '-' }) => `${path.split('/').at(-1)} ${token}`);
    const withToken = told.filter((one) => one === 'delete token');
    expect(told).toEqual(['delete -', 'authenticate -', ...withToken]);
    // It is shown a few times more, since a member may hear of a new token a moment later.
    expect(withToken).toHaveLength(10);
  });

  test.each(['', 'a\r\nInjected: yes', 'a b', 7, null])(
    'whose token is %j is not sent on, and nothing was changed',
    async (token) => {
      const odd: Manner = (response, asked) =>
        asked.path === AUTHENTICATE
          ? says({ header, token })(response, asked)
          : refuses('etcdserver: user name is empty', 3)(response, asked);
      const { admin, etcd } = await adminOf(odd);
      const change = admin.users.delete('app');
      await expect(change).rejects.toMatchObject({ reason: 'NOT_ETCD', isInDoubt: false });
      expect(etcd.asked).toHaveLength(2);
    },
  );

  test('stands in no failure', async () => {
    const { admin } = await adminOf(refuses('etcdserver: user name is empty', 3));
    const failure: unknown = await admin.users.list().catch((error: unknown) => error);
    expect(JSON.stringify([failure, String(failure)])).not.toContain(login.password);
  });
});

describe('a member that poses', () => {
  test.each<[string, unknown]>([
    ['keys that are no base64', [{ key: '%%' }]],
    ['keys that are objects', [{ key: {} }]],
    ['more keys than were asked for', [{ key: 'YQ==' }, { key: 'Yg==' }]],
    ['keys before those that were asked for', [{ key: 'AA==' }]],
  ])('with %s is found out', async (_, kvs) => {
    const { admin } = await adminOf(says({ header, kvs }));
    const counted = admin.keys.countParts('/a/', { partsMax: 10 });
    await expect(counted).rejects.toMatchObject({ reason: 'NOT_ETCD' });
  });

  test('by counting for ever is asked no more often than there may be parts', async () => {
    const { admin, etcd } = await adminOf((response, asked) => {
      const from = Buffer.from(String(asked.body['key']), 'base64');
      const key = Buffer.concat([from, Buffer.from('/')]).toString('base64');
      says({ header, count: '1', kvs: [{ key }] })(response, asked);
    });
    const { parts, isWhole } = await admin.keys.countParts('/a', { partsMax: 5 });
    expect([parts.length, isWhole]).toEqual([5, false]);
    expect(etcd.asked).toHaveLength(11);
  });

  test.each<[string, unknown]>([
    ['a type that there is not', [{ permType: 'ADMIN', key: 'YQ==' }]],
    ['a key that is a number', [{ key: 7 }]],
    ['null', [null]],
  ])('with a permission of %s is found out', async (_, perm) => {
    const { admin } = await adminOf(says({ header, perm }));
    const told = admin.roles.permissionsOf('app');
    await expect(told).rejects.toMatchObject({ reason: 'NOT_ETCD' });
  });
});
