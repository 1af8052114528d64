// Plans what becomes of users and roles, one at a time. A user is recorded before it is made, and
// only those that are recorded as made are ever removed. One of this name that somebody else made
// is replaced: its password would be known to him. Pure.
import type { EtcdAuthStatus, EtcdUser, MadeUser } from '../../../shared/api/etcd-auth.ts';
import type { Permission } from '../../../shared/etcd/admin/roles.ts';
import type { AuthChange, Decision } from '../decision.ts';
import { remember } from '../records.ts';
import type { State } from '../state.ts';
import { type AuthParts, type AuthSeen, madeAs, permissionOf, secretOf } from './state.ts';

/** All that these planners need, once it is known. */
export interface Known {
  readonly seen: AuthSeen;
  readonly parts: AuthParts;
  readonly record: AuthRecord;
}

export type AuthRecord = Required<EtcdAuthStatus>;

export const recordIn = ({ users = [], roles = [], ...rest }: EtcdAuthStatus): AuthRecord => ({
  ...rest,
  users,
  roles,
});

const change = (what: AuthChange, next: string): Decision => ({
  step: { type: 'change-auth', change: what },
  next,
});

/** Users and roles that we made, and that the spec has no more. */
export function removeGone(state: State, { seen, record }: Known): Decision | undefined {
  const { users = [], roles = [] } = state.cluster.spec.auth ?? {};
  const user = record.users.find(({ name }) => !users.some((one) => one.name === name));
  if (user !== undefined) {
    const { name } = user;
    const next = `Remove user ${name}`;
    if (user.madeAs !== undefined && seen.users.has(name)) {
      return change({ do: 'delete-user', user: name }, next);
    }
    const others = record.users.filter((one) => one !== user);
    return remember(state, { auth: { ...record, users: others } }, next);
  }
  const role = record.roles.find((name) => !roles.some((one) => one.name === name));
  if (role === undefined) return undefined;
  const next = `Remove role ${role}`;
  if (seen.roles.has(role)) return change({ do: 'delete-role', role }, next);
  return remember(
    state,
    { auth: { ...record, roles: record.roles.filter((one) => one !== role) } },
    next,
  );
}

export function keepRoles(state: State, { seen, record }: Known): Decision | undefined {
  for (const { name, permissions } of state.cluster.spec.auth?.roles ?? []) {
    const next = `Let role ${name} be as the spec says`;
    if (!record.roles.includes(name)) {
      return remember(state, { auth: { ...record, roles: [...record.roles, name] } }, next);
    }
    const found = seen.roles.get(name);
    if (found === undefined) return change({ do: 'add-role', role: name }, next);
    const wanted = permissions.map(permissionOf);
    const extra = found.find((one) => !wanted.some((other) => isSameRange(one, other)));
    if (extra !== undefined) {
      return change({ do: 'revoke', role: name, permission: extra }, next);
    }
    const missing = wanted.find(
      (one) => !found.some((other) => isSameRange(one, other) && one.type === other.type),
    );
    if (missing !== undefined) {
      return change({ do: 'grant', role: name, permission: missing }, next);
    }
  }
  return undefined;
}

const isSameRange = (one: Permission, other: Permission): boolean =>
  one.key === other.key && one.rangeEnd === other.rangeEnd;

export function keepUsers(state: State, known: Known): Decision | undefined {
  for (const user of state.cluster.spec.auth?.users ?? []) {
    const decision = keepUser(state, known, user) ?? keepRolesOf(known, user);
    if (decision !== undefined) return decision;
  }
  return undefined;
}

function keepUser(state: State, known: Known, user: EtcdUser): Decision | undefined {
  const { seen, parts, record } = known;
  const { name, login } = user;
  const next = `Let user ${name} be as the spec says`;
  const made = record.users.find((one) => one.name === name);
  const wanted = madeAs(parts, record.phase, user);
  const isThere = seen.users.has(name);
  const isProven = made?.login === login && made.madeAs === wanted;
  if (!isThere) {
    if (!isProven)
      return rememberUser(state, known, { ...entry(state, user), madeAs: wanted }, next);
    return change({ do: 'add-user', user: name, login }, next);
  }
  if (isProven && made.secret === entry(state, user).secret) return undefined;
  // Its name is recorded before anything is done to it.
  if (made?.login !== login) return rememberUser(state, known, entry(state, user), next);
  const outcome = seen.logins.get(name);
  if (isProven || outcome === 'Works') {
    return rememberUser(state, known, { ...entry(state, user), madeAs: wanted }, next);
  }
  if (outcome === 'Wrong') return change({ do: 'change-password', user: name }, next);
  if (login === 'Password' && seen.isEnabled && outcome === undefined) return undefined;
  return change({ do: 'delete-user', user: name }, next);
}

function entry({ cluster }: State, user: EtcdUser): MadeUser {
  const secret = secretOf(cluster.name, user);
  const { name, login } = user;
  return { name, login, ...(secret === undefined ? {} : { secret }) };
}

function rememberUser(state: State, { record }: Known, user: MadeUser, next: string): Decision {
  const others = record.users.filter(({ name }) => name !== user.name);
  return remember(state, { auth: { ...record, users: [...others, user] } }, next);
}

function keepRolesOf({ seen }: Known, { name, roles }: EtcdUser): Decision | undefined {
  const has = seen.users.get(name) ?? [];
  const next = `Let user ${name} have its roles`;
  const extra = has.find((role) => !roles.includes(role));
  if (extra !== undefined) return change({ do: 'take-role', user: name, role: extra }, next);
  const missing = roles.find((role) => !has.includes(role));
  return missing === undefined
    ? undefined
    : change({ do: 'give-role', user: name, role: missing }, next);
}
