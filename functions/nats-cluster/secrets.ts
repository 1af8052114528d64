// The Secrets of a cluster: those that this function makes (passwords for the system account, the
// routes and users, certificates), and those of the user that the spec names. A missing one is
// either made next, or named in the status.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { type CertificateFiles, readOwn } from '../../shared/stateful/certificates/secret-data.ts';
import { readCertificate } from './certificates.ts';
import type { Cluster } from './cluster.ts';
import type { Credentials } from './credentials.ts';
import type { KnownSecrets } from './lost-authority.ts';
import type { SecretsDeps, SecretsRead } from './secret-data.ts';
import {
  beforeTlsIn,
  formerPasswords,
  keepKnown,
  knownIn,
  newSystem,
  PASSWORD,
  ROUTE_PASSWORD,
  SYSTEM_SUFFIX,
  TRUSTED,
} from './system-secret.ts';
import { readUsers } from './user-secrets.ts';

export async function readSecrets(
  deps: SecretsDeps,
  cluster: Cluster,
  config: KubeObject | null,
): Promise<SecretsRead> {
  const { own: system, lacking } = await readOwn(deps, cluster, SYSTEM_SUFFIX);
  if (lacking !== undefined) return { lacking };
  if (system === undefined) return { toMake: newSystem(cluster, config, deps.known) };
  const { data } = system;
  const { [PASSWORD]: systemPassword = '', [TRUSTED]: trustedCa = '' } = data;
  if (systemPassword === '' || (data[ROUTE_PASSWORD] ?? '') === '') {
    return { lacking: emptied(cluster) };
  }
  const known = knownIn(cluster, config) ?? deps.known;
  const rest = await readRest({ ...deps, known }, cluster, { system: data, config });
  const clientsCa = rest.credentials?.certificates.clients?.ca;
  const toMake = keepKnown(deps, cluster, system, { config, clientsCa }) ?? rest.toMake;
  const read = {
    system,
    systemPassword,
    formerPasswords: formerPasswords(data),
    trustedCa,
    beforeTls: beforeTlsIn(data),
  };
  return { ...rest, ...read, ...(toMake === undefined ? {} : { toMake }) };
}

const emptied = ({ namespace, name }: Cluster): Reason => ({
  reason: 'PasswordMissing',
  message:
    `Secret ${namespace}/${name}${SYSTEM_SUFFIX} has no ${PASSWORD} or no ${ROUTE_PASSWORD} any ` +
    'more: delete it, and it is made of what the servers have.',
});

async function readRest(
  deps: SecretsDeps,
  cluster: Cluster,
  knownSecrets: KnownSecrets,
): Promise<SecretsRead> {
  // Secrets of users contain the authority of the servers, so certificates come first.
  const { certificates, ...more } = await readCertificates(deps, cluster, knownSecrets);
  if (more.toMake !== undefined) return more;
  const { passwords, ...users } = await readUsers(deps, cluster, certificates?.clients?.ca);
  if (passwords === undefined) return users;
  if (certificates === undefined) return more;
  return {
    ...users,
    ...more,
    credentials: {
      systemPassword: knownSecrets.system[PASSWORD] ?? '',
      routePassword: knownSecrets.system[ROUTE_PASSWORD] ?? '',
      passwords,
      certificates,
    },
  };
}

async function readCertificates(
  deps: SecretsDeps,
  cluster: Cluster,
  knownSecrets: KnownSecrets,
): Promise<SecretsRead & Partial<Pick<Credentials, 'certificates'>>> {
  const { tls = {} } = cluster.spec;
  const listeners = (['clients', 'routes'] as const).filter((one) => tls[one] !== undefined);
  const certificates: Partial<Record<'clients' | 'routes', CertificateFiles>> = {};
  let notices: Pick<SecretsRead, 'notice'> = {};
  for (const listener of listeners) {
    const { files, ...rest } = await readCertificate(deps, cluster, listener, knownSecrets);
    if (files === undefined) return rest;
    certificates[listener] = files;
    notices = { ...notices, ...rest };
  }
  return { ...notices, certificates };
}
