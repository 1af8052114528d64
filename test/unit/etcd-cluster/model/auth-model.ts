// Users, roles and logins as far as functions can tell them from etcd's. It throws when somebody is
// locked out by our doing, or when what others made is deleted.
import type { EtcdAdmin } from '../../../../shared/etcd/admin.ts';
import { EtcdFailure } from '../../../../shared/etcd/admin/failure.ts';
import type { EtcdReason } from '../../../../shared/etcd/admin/reasons.ts';
import type { EtcdLogin, Session } from '../../../../shared/etcd/admin/caller.ts';
import type { KeyRange, Permission } from '../../../../shared/etcd/admin/roles.ts';

interface UserModel {
  /** Undefined for one who has none. */
  readonly password: string | undefined;
  readonly roles: readonly string[];
}

export class AuthModel {
  isEnabled = false;
  revision = 1;
  users = new Map<string, UserModel>();
  roles = new Map<string, readonly Permission[]>();
  /** Users that a person made, and that no function may touch. */
  foreign = new Set<string>();

  copy(): AuthModel {
    const copy = new AuthModel();
    copy.isEnabled = this.isEnabled;
    copy.revision = this.revision;
    copy.users = new Map(this.users);
    copy.roles = new Map(this.roles);
    copy.foreign = new Set(this.foreign);
    return copy;
  }

  /** Throws what etcd answers to whoever is not root. */
  admit(session: Session | undefined): void {
    if (!this.isEnabled) return;
    const { login } = session ?? {};
    if (login === undefined) throw refusal('NO_LOGIN');
    this.checkLogin(login);
  }

  checkLogin({ user, password }: EtcdLogin): void {
    if (!this.isEnabled) throw refusal('AUTH_NOT_ENABLED');
    const found = this.users.get(user);
    if (found === undefined) throw refusal('LOGIN_FAILED');
    if (found.password === undefined) throw refusal('NO_PASSWORD');
    if (found.password !== password) throw refusal('LOGIN_FAILED');
  }

  enable(rootPassword: string): void {
    const root = this.users.get('root');
    if (root?.roles.includes('root') !== true) throw refusal('ROOT_IS_NEEDED');
    if (root.password !== rootPassword) throw new Error('logins were turned on without root');
    this.isEnabled = true;
    this.revision += 1;
  }

  add(name: string, password: string | undefined): void {
    if (this.users.has(name)) throw refusal('USER_EXISTS');
    this.#set(name, { password, roles: [] });
  }

  remove(name: string): void {
    if (this.foreign.has(name)) throw new Error(`${name}, which a person made, was deleted`);
    if (name === 'root' && this.isEnabled) throw refusal('ROOT_IS_NEEDED');
    if (!this.users.delete(name)) throw refusal('USER_NOT_FOUND');
    this.revision += 1;
  }

  change(name: string, how: (user: UserModel) => UserModel): void {
    const user = this.users.get(name);
    if (user === undefined) throw refusal('USER_NOT_FOUND');
    this.#set(name, how(user));
  }

  permit(role: string, how: (all: readonly Permission[]) => readonly Permission[]): void {
    const found = this.roles.get(role);
    if (found === undefined) throw refusal('ROLE_NOT_FOUND');
    this.roles.set(role, how(found));
    this.revision += 1;
  }

  addRole(role: string): void {
    if (this.roles.has(role)) throw refusal('ROLE_EXISTS');
    this.roles.set(role, []);
    this.revision += 1;
  }

  removeRole(role: string): void {
    if (!this.roles.delete(role)) throw refusal('ROLE_NOT_FOUND');
    for (const [name, user] of this.users) {
      this.users.set(name, { ...user, roles: user.roles.filter((one) => one !== role) });
    }
    this.revision += 1;
  }

  #set(name: string, user: UserModel): void {
    this.users.set(name, user);
    this.revision += 1;
  }
}

const refusal = (reason: EtcdReason): EtcdFailure =>
  new EtcdFailure(
    { endpoint: 'http://model', path: '/v3/auth', isChange: false },
    { reason, code: 'ETCD_REFUSED', what: reason, next: '' },
  );

const without = (all: readonly Permission[], { key, rangeEnd }: KeyRange): readonly Permission[] =>
  all.filter((one) => one.key !== key || one.rangeEnd !== rangeEnd);

type Change = (what: string, how: () => void) => Promise<void>;
type Part<Name extends 'auth' | 'users' | 'roles'> = {
  readonly [Method in keyof EtcdAdmin[Name]]: EtcdAdmin[Name][Method];
};

/** `rootPassword`: in the Secret of root. */
export function authAdminOf(
  auth: AuthModel,
  change: Change,
  rootPassword: () => string,
): { readonly auth: Part<'auth'>; readonly users: Part<'users'>; readonly roles: Part<'roles'> } {
  return {
    auth: {
      status: async () => ({ isEnabled: auth.isEnabled, revision: String(auth.revision) }),
      enable: () => change('enable auth', () => auth.enable(rootPassword())),
      disable: () => change('disable auth', () => void (auth.isEnabled = false)),
      checkLogin: async (login) => auth.checkLogin(login),
    },
    users: usersOf(auth, change),
    roles: {
      list: async () => [...auth.roles.keys()],
      permissionsOf: async (role) => auth.roles.get(role) ?? [],
      add: (role) => change(`add role ${role}`, () => auth.addRole(role)),
      delete: (role) => change(`delete role ${role}`, () => auth.removeRole(role)),
      grant: (role, permission) =>
        change(`grant ${role}`, () =>
          auth.permit(role, (all) => [...without(all, permission), permission]),
        ),
      revoke: (role, range) =>
        change(`revoke ${role}`, () => auth.permit(role, (all) => without(all, range))),
    },
  };
}

const usersOf = (auth: AuthModel, change: Change): Part<'users'> => ({
  list: async () => [...auth.users.keys()],
  rolesOf: async (name) => auth.users.get(name)?.roles ?? [],
  add: ({ user, password }) => change(`add user ${user}`, () => auth.add(user, password)),
  addWithoutPassword: (name) => change(`add user ${name}`, () => auth.add(name, undefined)),
  delete: (name) => change(`delete user ${name}`, () => auth.remove(name)),
  changePassword: ({ user, password }) =>
    change(`password of ${user}`, () =>
      auth.change(user, (one) => (one.password === undefined ? one : { ...one, password })),
    ),
  grant: (name, role) =>
    change(`give ${name} ${role}`, () =>
      auth.change(name, (one) => ({ ...one, roles: [...new Set([...one.roles, role])] })),
    ),
  revoke: (name, role) =>
    change(`take ${role} from ${name}`, () =>
      auth.change(name, (one) => ({ ...one, roles: one.roles.filter((held) => held !== role) })),
    ),
});
