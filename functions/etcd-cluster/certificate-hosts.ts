// The names in the certificates of members and clients. Pure.
import { CLUSTER_DOMAIN } from '../../shared/stateful/certificates/managed.ts';
import { type Cluster, headlessHost, hostOf, peerNames, serviceHost } from './cluster.ts';

/** Shown by members to clients, by clients to members, and by members to each other. */
export type Listener = 'server' | 'client' | 'peer';

export const firstHost = (cluster: Cluster, listener: Listener): string =>
  HOSTS[listener](cluster)[0].replace('*', 'any');

export const HOSTS: Readonly<
  Record<Listener, (cluster: Cluster) => readonly [string, ...string[]]>
> = {
  server: serverNames,
  client: ({ name, namespace }) => [`client.${name}.${namespace}`],
  peer: memberNames,
};

function serverNames(cluster: Cluster): readonly [string, ...string[]] {
  const service = serviceHost(cluster);
  const headless = headlessHost(cluster);
  const { name, namespace } = cluster;
  return [
    service,
    `${service}.${CLUSTER_DOMAIN}`,
    `${name}.${namespace}`,
    name,
    `*.${headless}`,
    `*.${headless}.${CLUSTER_DOMAIN}`,
    'localhost',
  ];
}

/**
 * Names of members. etcd resolves each name in a certificate that it is shown, until one has the
 * address of the connection, so there is no wildcard, and the members that are likely come first.
 */
function memberNames(cluster: Cluster): readonly [string, ...string[]] {
  const [first = '', ...others] = peerNames(cluster).map((peer) => hostOf(cluster, peer));
  return [first, ...others];
}
