// The Secrets of a cluster: those that this function makes (passwords for the system account, the
// routes and users, certificates), and those of the user that the spec names. A missing one is
// either made next, or named in the status.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { readByo, readManaged } from './certificates.ts';
import type { Cluster } from './cluster.ts';
import type { CertificateFiles, Credentials } from './credentials.ts';
import { filesIn, type KnownSecrets, type Listener } from './lost-authority.ts';
import { SYSTEM_USER } from './render/config.ts';
import { accountsBefore } from './render/read-back.ts';
import {
  configTextOf,
  dataOf,
  readOwn,
  type SecretsDeps,
  type SecretsRead,
} from './secret-data.ts';
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
  const speaksTls = certificates === undefined || certificates.clients !== undefined;
  const { passwords, lacking, ...users } = await readUsers(
    deps,
    speaksTls ? cluster : withoutTls(cluster),
    certificates?.clients?.ca,
  );
  if (passwords === undefined) return users;
  const { [PASSWORD]: systemPassword = '', [ROUTE_PASSWORD]: routePassword = '' } =
    knownSecrets.system;
  const text = configTextOf(cluster, knownSecrets.config);
  const accounts = accountsBefore(text, new Map([...passwords, [SYSTEM_USER, systemPassword]]));
  if (lacking !== undefined && accounts === undefined) return { ...users, lacking };
  if (certificates === undefined) return more;
  const kept = lacking === undefined ? {} : { accounts };
  return {
    ...users,
    ...more,
    refused: more.refused ?? lacking,
    accounts,
    credentials: { systemPassword, routePassword, passwords, certificates, ...kept },
  };
}

/** While TLS for clients cannot be turned on, they are told the way without it. */
function withoutTls(cluster: Cluster): Cluster {
  const { clients: _, ...tls } = cluster.spec.tls ?? {};
  return { ...cluster, spec: { ...cluster.spec, tls } };
}

async function readCertificates(
  deps: SecretsDeps,
  cluster: Cluster,
  knownSecrets: KnownSecrets,
): Promise<SecretsRead & Partial<Pick<Credentials, 'certificates'>>> {
  const { tls = {} } = cluster.spec;
  const listeners = (['clients', 'routes'] as const).filter((one) => tls[one] !== undefined);
  const certificates: Partial<Record<'clients' | 'routes', CertificateFiles>> = {};
  let more: Pick<SecretsRead, 'notice' | 'refused'> = {};
  for (const listener of listeners) {
    const { secretName } = tls[listener] ?? {};
    const { lacking, ...rest } =
      secretName === undefined
        ? await readManaged(deps, cluster, listener, knownSecrets)
        : await readByo(deps, cluster, listener, secretName);
    if (rest.toMake !== undefined) return rest;
    const served = lacking && servedFiles(cluster, knownSecrets, listener);
    if (lacking !== undefined && served === undefined) return { lacking };
    const { files = served?.files, notice } = rest;
    if (files !== undefined) certificates[listener] = files;
    const told = notice === undefined ? {} : { notice };
    more = { ...more, ...told, refused: more.refused ?? lacking };
  }
  return { ...more, certificates };
}

/** The files of a listener as servers have them; undefined when nobody can tell. */
function servedFiles(
  cluster: Cluster,
  { config }: KnownSecrets,
  listener: Listener,
): { readonly files?: CertificateFiles } | undefined {
  if (config === null || knownIn(cluster, config) === undefined) return undefined;
  const { certificate = '', key = '', ca = '' } = filesIn(listener, dataOf(config));
  return certificate === '' ? {} : { files: { certificate, key, ca } };
}
