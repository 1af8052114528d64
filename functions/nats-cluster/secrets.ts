// The Secrets of a cluster: those that we make (passwords for the system account and the routes, a
// user for clusters that name none, certificates), and those of the user that the spec names. What
// is missing is either made next, or named.
import type { Certificates } from '../../shared/api/nats-cluster.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { readByo, readManaged } from './certificates.ts';
import { CLIENT_PORT, type Cluster, serviceHost } from './cluster.ts';
import type { CertificateFiles, Credentials } from './credentials.ts';
import { DEFAULT_USER } from './render/config.ts';
import {
  newSecret,
  type OwnSecret,
  readData,
  readOwn,
  renewedSecret,
  type SecretData,
  type SecretsDoor,
  type SecretsRead,
} from './secret-data.ts';
import {
  formerPasswords,
  keepKnown,
  knownIn,
  newPassword,
  newSystem,
  PASSWORD,
  ROUTE_PASSWORD,
  SYSTEM_SUFFIX,
  TRUSTED,
} from './system-secret.ts';
import type { SecretToMake, Word } from './world.ts';

const USER_SUFFIX = '-user';

export async function readSecrets(
  door: SecretsDoor,
  cluster: Cluster,
  config: KubeObject | null,
): Promise<SecretsRead> {
  const { own: system, lacking } = await readOwn(door, cluster, SYSTEM_SUFFIX);
  if (lacking !== undefined) return { lacking };
  if (system === undefined) return { toMake: newSystem(cluster, config, door.known) };
  const { data } = system;
  const { [PASSWORD]: systemPassword = '', [TRUSTED]: trustedCa = '' } = data;
  if (systemPassword === '' || (data[ROUTE_PASSWORD] ?? '') === '') {
    return { lacking: emptied(cluster) };
  }
  const known = knownIn(cluster, config) ?? door.known;
  const rest = await readRest({ ...door, known }, cluster, data);
  const clientsCa = rest.credentials?.certificates.clients?.ca;
  const toMake = keepKnown(cluster, system, config, clientsCa) ?? rest.toMake;
  const read = { system, systemPassword, formerPasswords: formerPasswords(data), trustedCa };
  return { ...rest, ...read, ...(toMake === undefined ? {} : { toMake }) };
}

const emptied = ({ namespace, name }: Cluster): Word => ({
  reason: 'PasswordMissing',
  message:
    `Secret ${namespace}/${name}${SYSTEM_SUFFIX} has no ${PASSWORD} or no ${ROUTE_PASSWORD} any ` +
    'more: delete it, and it is made of what the servers have.',
});

async function readRest(
  door: SecretsDoor,
  cluster: Cluster,
  system: SecretData,
): Promise<SecretsRead> {
  const isNamed = (cluster.spec.accounts ?? []).length > 0;
  const { own, lacking } = isNamed ? {} : await readOwn(door, cluster, USER_SUFFIX);
  if (lacking !== undefined) return { lacking };
  if (!isNamed && own === undefined) return { toMake: newUser(cluster, door.known?.user) };
  const user = own?.data;
  if (user !== undefined && (user['password'] ?? '') === '') {
    const lost = noPassword(
      DEFAULT_USER,
      `${cluster.namespace}/${cluster.name}${USER_SUFFIX}`,
      'password',
    );
    return { lacking: lost };
  }
  const users = await readPasswords(door, cluster);
  if ('reason' in users) return { lacking: users };
  const certificates = await readCertificates(door, cluster);
  if (!('files' in certificates)) return certificates;
  const renewed = own === undefined ? undefined : renewedUser(cluster, own);
  return {
    ...(renewed === undefined ? {} : { toMake: renewed }),
    credentials: {
      systemPassword: system[PASSWORD] ?? '',
      routePassword: system[ROUTE_PASSWORD] ?? '',
      defaultPassword: user?.['password'],
      passwords: users,
      certificates: certificates.files,
    },
  };
}

/** With the password that servers know, as long as anybody can tell it. */
function newUser(cluster: Cluster, known: string | undefined): SecretToMake {
  const password = known ?? newPassword();
  const url = urlFor(cluster, password);
  const data = { username: DEFAULT_USER, password, url };
  return newSecret(cluster, USER_SUFFIX, data, known === undefined);
}

/** When servers speak TLS no more, or do so now, or somebody gave the user another password. */
function renewedUser(cluster: Cluster, own: OwnSecret): SecretToMake | undefined {
  const url = urlFor(cluster, own.data['password'] ?? '');
  if (own.data['url'] === url) return undefined;
  return renewedSecret(cluster, USER_SUFFIX, own, { ...own.data, url });
}

function urlFor(cluster: Cluster, password: string): string {
  const scheme = cluster.spec.tls?.clients === undefined ? 'nats' : 'tls';
  const login = `${DEFAULT_USER}:${encodeURIComponent(password)}`;
  return `${scheme}://${login}@${serviceHost(cluster)}:${CLIENT_PORT}`;
}

/** By user; the first that is missing is named. */
async function readPasswords(
  door: SecretsDoor,
  cluster: Cluster,
): Promise<ReadonlyMap<string, string> | Word> {
  const users = (cluster.spec.accounts ?? []).flatMap((account) => account.users);
  const passwords = new Map<string, string>();
  const secrets = new Map<string, SecretData | undefined>();
  for (const { name: user, passwordSecret } of users) {
    const { name, key } = passwordSecret;
    if (passwords.has(user)) return twice(user);
    if (!secrets.has(name)) secrets.set(name, await readData(door, cluster, name));
    const password = secrets.get(name)?.[key] ?? '';
    if (password === '') return noPassword(user, `${cluster.namespace}/${name}`, key);
    passwords.set(user, password);
  }
  return passwords;
}

const twice = (user: string): Word => ({
  reason: 'UserTwice',
  message: `User ${user} stands in two accounts; NATS tells accounts apart by their users.`,
});

const noPassword = (user: string, secret: string, key: string): Word => ({
  reason: 'PasswordMissing',
  message: `User ${user} has no password: Secret ${secret} has no key ${key}; create it.`,
});

async function readCertificates(
  door: SecretsDoor,
  cluster: Cluster,
): Promise<SecretsRead | { readonly files: Credentials['certificates'] }> {
  const { tls = {} } = cluster.spec;
  const listeners = (['clients', 'routes'] as const).filter((one) => tls[one] !== undefined);
  const files: Partial<Record<'clients' | 'routes', CertificateFiles>> = {};
  for (const listener of listeners) {
    const found = await readOne(door, cluster, listener, tls[listener] ?? {});
    if (!('certificate' in found)) return found;
    files[listener] = found;
  }
  return { files };
}

const readOne = (
  door: SecretsDoor,
  cluster: Cluster,
  listener: 'clients' | 'routes',
  { secretName }: Certificates,
): Promise<SecretsRead | CertificateFiles> =>
  secretName === undefined
    ? readManaged(door, cluster, listener)
    : readByo(door, cluster, listener, secretName);
