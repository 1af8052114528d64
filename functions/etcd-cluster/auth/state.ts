// Users and roles as etcd has them, as the spec wants them, and as the status remembers them.
// Types, and small questions about them. Pure.
import { createHmac } from 'node:crypto';
import type { EtcdAuthStatus, EtcdPermission, EtcdUser } from '../../../shared/api/etcd-auth.ts';
import type { EtcdLogin } from '../../../shared/etcd/admin/caller.ts';
import { allUnder, type Permission } from '../../../shared/etcd/admin/roles.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';

/** The user whose rights nothing limits. The function logs in as it. */
export const ROOT = 'root';

/** NoPassword: etcd takes none for it, whichever is set. */
export type LoginOutcome = 'Works' | 'Wrong' | 'NoPassword';

/** As etcd told it. */
export interface AuthSeen {
  readonly isEnabled: boolean;
  /** Counts changes. */
  readonly revision: string;
  /** The roles of each user. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  /** The permissions of each role. */
  readonly roles: ReadonlyMap<string, readonly Permission[]>;
  /** The outcome for the user who has yet to be proven. */
  readonly logins: ReadonlyMap<string, LoginOutcome>;
}

/** From Secrets. */
export interface AuthParts {
  readonly root: EtcdLogin | undefined;
  /** By the name of the user. */
  readonly passwords: ReadonlyMap<string, string>;
  /** Why users and roles cannot be brought to what the spec says; the rest goes on. */
  readonly lacking: Reason | undefined;
}

/** The Secret that is made for a user who names none. */
export const userSecret = (cluster: string, user: string): string => `${cluster}-user-${user}`;

/** Undefined for a user without a password. */
export function secretOf(cluster: string, user: EtcdUser): string | undefined {
  if (user.login === 'Certificate') return undefined;
  return user.passwordSecret?.name ?? userSecret(cluster, user.name);
}

/**
 * Another one for each phase: while etcd asks for no login anybody may change a user, so all of
 * them are proven once more when it does.
 */
export function madeAs(
  { root, passwords }: AuthParts,
  phase: EtcdAuthStatus['phase'],
  { name, login }: EtcdUser,
): string {
  const text = JSON.stringify([phase, name, login, passwords.get(name) ?? '']);
  const key = root?.password ?? '';
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32);
}

const TYPES = { Read: 'READ', Write: 'WRITE', ReadWrite: 'READWRITE' } as const;

export const permissionOf = ({ prefix, access }: EtcdPermission): Permission => ({
  type: TYPES[access],
  ...allUnder(prefix),
});
