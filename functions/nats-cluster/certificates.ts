// The certificates of a cluster: one for clients, and one for the routes between servers.
import {
  CLUSTER_DOMAIN,
  type Managed,
  type CertificatesRead,
  readGiven,
  readManaged,
} from '../../shared/stateful/certificates/managed.ts';
import { type Cluster, headlessHost, serviceHost } from './cluster.ts';
import {
  hostOf,
  type KnownSecrets,
  type Listener,
  recoverAuthority,
  TLS_SUFFIX,
} from './lost-authority.ts';
import { ownerOf } from './owner.ts';
import type { SecretsDeps } from './secret-data.ts';

/** Reads the one that the spec names; without a name it is made and renewed. */
export function readCertificate(
  deps: SecretsDeps,
  cluster: Cluster,
  listener: Listener,
  knownSecrets: KnownSecrets,
): Promise<CertificatesRead> {
  const { namespace, spec } = cluster;
  const secretName = spec.tls?.[listener]?.secretName;
  if (secretName === undefined) {
    return readManaged(deps, managedOf(deps, cluster, knownSecrets), listener);
  }
  const field = `spec.tls.${listener}`;
  return readGiven(deps, { namespace, secretName, field, host: hostOf(cluster, listener) });
}

const managedOf = (
  { nowMs }: SecretsDeps,
  cluster: Cluster,
  knownSecrets: KnownSecrets,
): Managed<Listener> => ({
  owner: ownerOf(cluster),
  suffix: TLS_SUFFIX,
  listeners: [
    { listener: 'clients', hosts: clientNames(cluster) },
    { listener: 'routes', hosts: routeNames(cluster) },
  ],
  recover: () => recoverAuthority(nowMs, cluster, knownSecrets),
});

function clientNames(cluster: Cluster): readonly [string, ...string[]] {
  const service = serviceHost(cluster);
  const headless = headlessHost(cluster);
  const { name, namespace } = cluster;
  return [
    service,
    `${service}.${CLUSTER_DOMAIN}`,
    `${name}.${namespace}`,
    name,
    `*.${headless}`,
    'localhost',
  ];
}

function routeNames(cluster: Cluster): readonly [string, ...string[]] {
  const headless = headlessHost(cluster);
  return [`*.${headless}`, headless];
}
