// Users of etcd, and whether it asks for them at all. Once it does, every call needs a login, and
// all but reads and those for keys need root's. Up to 3.6.8 the status of a member does, too.
import type { CallOptions, Caller, EtcdLogin } from './caller.ts';
import { type Fields, flagIn, idIn, textsIn } from './fields.ts';

export interface AuthStatus {
  readonly isEnabled: boolean;
  /** Counts changes of users and roles. */
  readonly revision: string;
}

/** Operators make a handful; the answer is bounded in bytes as well. */
const NAMES_MAX = 10_000;

export class Auth {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  status(options?: CallOptions): Promise<AuthStatus> {
    const read = (answer: Fields): AuthStatus => ({
      isEnabled: flagIn(answer, 'enabled'),
      revision: idIn(answer, 'authRevision'),
    });
    return this.#caller.ask({ path: '/v3/auth/status', read }, options);
  }

  /** Takes a user `root` that has the role `root`. */
  enable(options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'enable', {}, options);
  }

  disable(options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'disable', {}, options);
  }

  /**
   * Fails with LOGIN_FAILED when it is none, with NO_PASSWORD for a user who has none, and with
   * AUTH_NOT_ENABLED where nobody needs one.
   */
  checkLogin(login: EtcdLogin, options?: CallOptions): Promise<void> {
    return this.#caller.checkLogin(login, options);
  }
}

export class Users {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  list(options?: CallOptions): Promise<readonly string[]> {
    return names(this.#caller, 'user/list', {}, 'users', options);
  }

  rolesOf(name: string, options?: CallOptions): Promise<readonly string[]> {
    return names(this.#caller, 'user/get', { name }, 'roles', options);
  }

  add({ user, password }: EtcdLogin, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'user/add', { name: user, password }, options);
  }

  /** Known by a certificate with this common name alone. */
  addWithoutPassword(name: string, options?: CallOptions): Promise<void> {
    const body = { name, options: { no_password: true } };
    return changed(this.#caller, 'user/add', body, options);
  }

  delete(name: string, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'user/delete', { name }, options);
  }

  changePassword({ user, password }: EtcdLogin, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'user/changepw', { name: user, password }, options);
  }

  grant(user: string, role: string, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'user/grant', { user, role }, options);
  }

  revoke(user: string, role: string, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'user/revoke', { name: user, role }, options);
  }
}

export async function changed(
  caller: Caller,
  what: string,
  body: object,
  options: CallOptions | undefined,
): Promise<void> {
  const path = `/v3/auth/${what}`;
  await caller.ask({ path, body, isChange: true, read: () => undefined }, options);
}

export function names(
  caller: Caller,
  what: string,
  body: object,
  field: string,
  options: CallOptions | undefined,
): Promise<readonly string[]> {
  const read = (answer: Fields): readonly string[] => textsIn(answer, field, NAMES_MAX);
  return caller.ask({ path: `/v3/auth/${what}`, body, bytesMax: NAMES_BYTES_MAX, read }, options);
}

const NAMES_BYTES_MAX = 1024 * 1024;
