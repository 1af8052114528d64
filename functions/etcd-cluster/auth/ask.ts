// Asks an etcd for its users and roles. Each question goes through the log of all members, so they
// are asked anew only when etcd says that something changed.
import { hashOf } from '../../../shared/hash.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { Permission } from '../../../shared/etcd/admin/roles.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { Cluster } from '../cluster.ts';
import { type AuthParts, type AuthSeen, type LoginOutcome, madeAs } from './state.ts';

/** Users and roles, of one revision of one cluster. */
export interface KnownAuth extends Pick<AuthSeen, 'revision' | 'users' | 'roles'> {
  /** Those of which more than the name was asked. */
  readonly own: Own;
}

/** Names of users and roles of the spec, and of those that were made for it. */
interface Own {
  readonly users: readonly string[];
  readonly roles: readonly string[];
}

export interface AuthMemory {
  auth?: KnownAuth;
}

const ANSWERS_WITHIN_MS = 5_000;

/** Fails as the calls do. */
export async function askAuth(
  admin: EtcdAdmin,
  cluster: Cluster,
  parts: AuthParts,
  memory: AuthMemory,
  signal: AbortSignal,
): Promise<AuthSeen> {
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
  const { isEnabled, revision } = await admin.auth.status(options);
  const own = ownOf(cluster);
  if (memory.auth?.revision !== revision || hashOf(memory.auth.own) !== hashOf(own)) {
    memory.auth = { revision, own, ...(await readAll(admin, own, options)) };
  }
  const { users, roles } = memory.auth;
  const seen = { isEnabled, revision, users, roles, logins: new Map() };
  return { ...seen, logins: isEnabled ? await tryLogin(admin, cluster, parts, seen) : new Map() };
}

function ownOf({ spec, status }: Cluster): Own {
  const nameOf = ({ name }: { readonly name: string }): string => name;
  const made = status.auth;
  return {
    users: [...(spec.auth?.users ?? []), ...(made?.users ?? [])].map(nameOf),
    roles: [...(spec.auth?.roles ?? []).map(nameOf), ...(made?.roles ?? [])],
  };
}

/** Others may have made any number of users, of which nothing but the name is told. */
async function readAll(
  admin: EtcdAdmin,
  own: Own,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Pick<KnownAuth, 'users' | 'roles'>> {
  const users = new Map<string, readonly string[]>();
  for (const name of await admin.users.list(options)) {
    users.set(name, own.users.includes(name) ? await admin.users.rolesOf(name, options) : []);
  }
  const roles = new Map<string, readonly Permission[]>();
  for (const name of await admin.roles.list(options)) {
    const isOwn = own.roles.includes(name);
    roles.set(name, isOwn ? await admin.roles.permissionsOf(name, options) : []);
  }
  return { users, roles };
}

/** A login costs a member much, so one user is tried at a time, and none that the status knows. */
async function tryLogin(
  admin: EtcdAdmin,
  { spec, status }: Cluster,
  parts: AuthParts,
  { users }: AuthSeen,
): Promise<ReadonlyMap<string, LoginOutcome>> {
  const user = spec.auth?.users?.find(
    (one) =>
      users.has(one.name) &&
      parts.passwords.has(one.name) &&
      status.auth?.users?.find(({ name }) => name === one.name)?.madeAs !==
        madeAs(parts, 'On', one),
  );
  if (user === undefined) return new Map();
  const password = parts.passwords.get(user.name) ?? '';
  return new Map([[user.name, await outcomeOf(admin, { user: user.name, password })]]);
}

async function outcomeOf(
  admin: EtcdAdmin,
  login: { readonly user: string; readonly password: string },
): Promise<LoginOutcome> {
  try {
    await admin.auth.checkLogin(login, { timeoutMs: ANSWERS_WITHIN_MS });
    return 'Works';
  } catch (error) {
    if (isEtcdFailure(error, 'NO_PASSWORD')) return 'NoPassword';
    if (isEtcdFailure(error, 'LOGIN_FAILED')) return 'Wrong';
    throw error;
  }
}
