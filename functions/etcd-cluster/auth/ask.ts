// Asks an etcd for its users and roles. Each question goes through the log of all members, so they
// are asked anew only when etcd says that something changed.
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { Permission } from '../../../shared/etcd/admin/roles.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { Cluster } from '../cluster.ts';
import { type AuthParts, type AuthSeen, type LoginOutcome, madeAs } from './state.ts';

/** Users and roles, of one revision of one cluster. */
export type KnownAuth = Pick<AuthSeen, 'revision' | 'users' | 'roles'>;

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
  if (memory.auth?.revision !== revision) {
    memory.auth = { revision, ...(await readAll(admin, options)) };
  }
  const { users, roles } = memory.auth;
  const seen = { isEnabled, revision, users, roles, logins: new Map() };
  return { ...seen, logins: isEnabled ? await tryLogin(admin, cluster, parts, seen) : new Map() };
}

async function readAll(
  admin: EtcdAdmin,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Omit<KnownAuth, 'revision'>> {
  const users = new Map<string, readonly string[]>();
  for (const name of await admin.users.list(options)) {
    users.set(name, await admin.users.rolesOf(name, options));
  }
  const roles = new Map<string, readonly Permission[]>();
  for (const name of await admin.roles.list(options)) {
    // Nothing limits root, and nothing is told of it.
    roles.set(name, name === 'root' ? [] : await admin.roles.permissionsOf(name, options));
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
