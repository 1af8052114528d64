// The passwords of users: from Secrets that the spec names; other users get a Secret of their own,
// with a URL and an authority that a client can use as they are.
import type { User } from '../../shared/api/nats-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import {
  newPassword,
  newSecret,
  type OwnSecret,
  readData,
  readOwn,
  renewedSecret,
  type SecretData,
  type SecretToMake,
} from '../../shared/stateful/certificates/secret-data.ts';
import { CLIENT_PORT, type Cluster, serviceHost } from './cluster.ts';
import { ownerOf } from './owner.ts';
import { accountsOf } from './render/config.ts';
import { passwordLost, reported, type SecretsDeps } from './secret-data.ts';

interface UsersRead {
  /** By the name of the user; undefined while one is missing. */
  readonly passwords?: ReadonlyMap<string, string>;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
}

/** The end of the names of users' Secrets begins with it. */
export const USER_SUFFIX = '-user';

/**
 * The end of the name of a user's Secret. A spec without accounts has one user, and needs no name.
 */
const suffixOf = ({ spec: { accounts = [] } }: Cluster, user: User): string =>
  accounts.length === 0 ? USER_SUFFIX : `${USER_SUFFIX}-${user.name}`;

/** Makes or names the first missing Secret. `ca` signed the certificates that clients see. */
export async function readUsers(
  deps: SecretsDeps,
  cluster: Cluster,
  ca: string | undefined,
): Promise<UsersRead> {
  const passwords = new Map<string, string>();
  const theirs = new Map<string, SecretData | undefined>();
  let toMake: SecretToMake | undefined;
  for (const user of accountsOf(cluster.spec).flatMap(({ users }) => users)) {
    if (passwords.has(user.name)) return { lacking: duplicateUser(user.name) };
    const one =
      user.passwordSecret === undefined
        ? await readManagedUser(deps, cluster, { ...user, ca })
        : await readGivenUser(deps, cluster, { ...user, secret: user.passwordSecret, theirs });
    if (one.password === undefined) return one;
    passwords.set(user.name, one.password);
    toMake ??= one.toMake;
  }
  return { passwords, ...(toMake === undefined ? {} : { toMake }) };
}

interface UserWithCa extends User {
  readonly ca: string | undefined;
}

interface UserRead extends Omit<UsersRead, 'passwords'> {
  readonly password?: string;
}

async function readManagedUser(
  deps: SecretsDeps,
  cluster: Cluster,
  user: UserWithCa,
): Promise<UserRead> {
  const suffix = suffixOf(cluster, user);
  const { own, lacking } = await readOwn(deps, cluster, suffix);
  if (lacking !== undefined) return { lacking };
  if (own === undefined) {
    return { toMake: newUser(deps, cluster, user) };
  }
  const password = own.data['password'] ?? '';
  if (password === '') {
    const secret = `${cluster.namespace}/${cluster.name}${suffix}`;
    return { lacking: noPassword(user.name, secret, 'password') };
  }
  const toMake = renewedUser(cluster, user, own);
  return { password, ...(toMake === undefined ? {} : { toMake }) };
}

interface Theirs {
  readonly name: string;
  readonly secret: Required<User>['passwordSecret'];
  /** Secrets that were read already. */
  readonly theirs: Map<string, SecretData | undefined>;
}

async function readGivenUser(
  deps: SecretsDeps,
  cluster: Cluster,
  { name: user, secret: { name, key }, theirs }: Theirs,
): Promise<UserRead> {
  if (!theirs.has(name)) theirs.set(name, await readData(deps, cluster, name));
  const password = theirs.get(name)?.[key] ?? '';
  if (password === '') return { lacking: noPassword(user, `${cluster.namespace}/${name}`, key) };
  return { password };
}

/** Keeps the password that servers know, as long as a copy of it is left. */
function newUser({ known }: SecretsDeps, cluster: Cluster, user: UserWithCa): SecretToMake {
  const password = known?.users.get(user.name) ?? newPassword();
  const suffix = suffixOf(cluster, user);
  const data = { username: user.name, password, ...connectionData(cluster, user, password) };
  // A user in no known configuration is new: no password was lost.
  const lost = known === undefined ? passwordLost(cluster, suffix) : undefined;
  return newSecret(ownerOf(cluster), suffix, data, reported(cluster, lost));
}

/** Renews the Secret when TLS, the authority or the password of the user changed. */
function renewedUser(cluster: Cluster, user: UserWithCa, own: OwnSecret): SecretToMake | undefined {
  const { url: _url, [CA]: before, ...rest } = own.data;
  const way = connectionData(
    cluster,
    { ...user, ca: user.ca ?? before },
    own.data['password'] ?? '',
  );
  if (own.data['url'] === way.url && before === way[CA]) return undefined;
  return renewedSecret(ownerOf(cluster), suffixOf(cluster, user), own, { ...rest, ...way });
}

/** Address and authority beside the password, so that a pod can mount the Secret and connect. */
function connectionData(cluster: Cluster, { name, ca }: UserWithCa, password: string) {
  const login = `${name}:${encodeURIComponent(password)}`;
  const rest = `${login}@${serviceHost(cluster)}:${CLIENT_PORT}`;
  if (cluster.spec.tls?.clients === undefined) return { url: `nats://${rest}` };
  return { url: `tls://${rest}`, ...(ca === undefined ? {} : { [CA]: ca }) };
}

const CA = 'ca.crt';

const duplicateUser = (user: string): Reason => ({
  reason: 'UserTwice',
  message: `User ${user} stands in two accounts; NATS tells accounts apart by their users.`,
});

const noPassword = (user: string, secret: string, key: string): Reason => ({
  reason: 'PasswordMissing',
  message: `User ${user} has no password: Secret ${secret} has no key ${key}; create it.`,
});
