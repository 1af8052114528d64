// Asks the members of a cluster: each at the address of its pod, under the name that its
// certificate has. Only pods with the names of our peers are asked, and only members that the
// authority of this cluster signed are believed.
import { CLIENT_PORT, podName } from '../../shared/api/etcd-names.ts';
import type { EtcdAdmin, openEtcdAdmin } from '../../shared/etcd/admin.ts';
import type { EtcdEndpoint } from '../../shared/etcd/admin/gateway.ts';
import { type Cluster, hostOf } from './cluster.ts';
import type { Access, State } from './state.ts';

type Target = Pick<State, 'cluster' | 'pods'> & { readonly access: Access };

/** Where a peer's pod answers; undefined as long as it has no address. */
export function endpointOf(
  cluster: Cluster,
  pods: State['pods'],
  peer: string,
): EtcdEndpoint | undefined {
  const pod = pods.find(({ name }) => name === podName(peer));
  if (pod?.ip === undefined || pod.isEnding) return undefined;
  const scheme = cluster.spec.tls.clients.mode === 'Mutual' ? 'https' : 'http';
  return { url: `${scheme}://${pod.ip}:${CLIENT_PORT}`, serverName: hostOf(cluster, peer) };
}

/** Opens the members of these peers, and closes them after the work. */
export async function withMembers<Result>(
  open: typeof openEtcdAdmin,
  { cluster, pods, access }: Target,
  peers: readonly string[],
  work: (admin: EtcdAdmin) => Promise<Result>,
): Promise<Result> {
  const endpoints = peers.flatMap((peer) => endpointOf(cluster, pods, peer) ?? []);
  const admin = open({ endpoints, tls: access.tls, session: access.session });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
