// Anybody with a client certificate may make users before etcd asks for logins: however many there
// are, the function asks about those of its spec alone.
import { beforeEach, expect, test } from 'vitest';
import { askAuth, type AuthMemory } from '../../../functions/etcd-cluster/auth/ask.ts';
import type { AuthParts } from '../../../functions/etcd-cluster/auth/state.ts';
import type { EtcdClusterSpec } from '../../../shared/api/etcd-cluster.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import { state } from './samples.ts';

const MANY = Array.from({ length: 5_000 }, (_, index) => `user-${index}`);
const PARTS: AuthParts = { root: undefined, passwords: new Map(), lacking: undefined };
const { signal } = new AbortController();

let asked: string[];

beforeEach(() => {
  asked = [];
});

const admin = {
  auth: { status: async () => ({ isEnabled: false, revision: '7' }) },
  users: {
    list: async () => MANY,
    rolesOf: async (name: string) => {
      asked.push(name);
      return [`role of ${name}`];
    },
  },
  roles: {
    list: async () => MANY,
    permissionsOf: async (name: string) => {
      asked.push(`permissions of ${name}`);
      return [];
    },
  },
} as unknown as EtcdAdmin;

const auth = (name: string): Partial<EtcdClusterSpec> => ({
  auth: {
    users: [{ name, login: 'Password', roles: [name] }],
    roles: [{ name, permissions: [{ prefix: '', access: 'Read' }] }],
  },
});

const ask = (memory: AuthMemory, name: string) =>
  askAuth(admin, state({ spec: auth(name) }).cluster, PARTS, memory, signal);

test('of users and roles of others their names alone are asked', async () => {
  const seen = await ask({}, 'user-7');
  expect(asked).toEqual(['user-7', 'permissions of user-7']);
  expect(seen.users.size).toBe(5_000);
  expect(seen.users.get('user-7')).toEqual(['role of user-7']);
});

test('they are asked again when etcd or the spec has others, and not before', async () => {
  const memory: AuthMemory = {};
  await ask(memory, 'user-7');
  await ask(memory, 'user-7');
  expect(asked).toHaveLength(2);
  expect((await ask(memory, 'user-8')).users.get('user-8')).toEqual(['role of user-8']);
  expect(asked).toHaveLength(4);
});
