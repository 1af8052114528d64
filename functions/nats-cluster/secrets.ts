// The Secrets of a cluster: those that we make (passwords for the system account, the routes and
// users, certificates), and those of the user that the spec names. What is missing is either made
// next, or named.
import type { Certificates } from '../../shared/api/nats-cluster.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { readByo, readManaged } from './certificates.ts';
import type { Cluster } from './cluster.ts';
import type { CertificateFiles, Credentials } from './credentials.ts';
import { readOwn, type SecretData, type SecretsDoor, type SecretsRead } from './secret-data.ts';
import {
  formerPasswords,
  keepKnown,
  knownIn,
  newSystem,
  PASSWORD,
  ROUTE_PASSWORD,
  SYSTEM_SUFFIX,
  TRUSTED,
} from './system-secret.ts';
import { readUsers } from './users.ts';
import type { Word } from './world.ts';

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
  // The Secrets of users say whom to believe: that has to be there first.
  const { files, ...without } = await readCertificates(door, cluster);
  if (without.toMake !== undefined) return without;
  const { passwords, ...users } = await readUsers(door, cluster, files?.clients?.ca);
  if (passwords === undefined) return users;
  if (files === undefined) return without;
  return {
    ...users,
    credentials: {
      systemPassword: system[PASSWORD] ?? '',
      routePassword: system[ROUTE_PASSWORD] ?? '',
      passwords,
      certificates: files,
    },
  };
}

interface CertificatesRead extends SecretsRead {
  readonly files?: Credentials['certificates'];
}

async function readCertificates(door: SecretsDoor, cluster: Cluster): Promise<CertificatesRead> {
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
