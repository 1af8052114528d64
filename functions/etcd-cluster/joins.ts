// The members of a legacy cluster that those of an EtcdCluster join. Until the id of the cluster is
// known an annotation tells them, and then the status alone, for good: whatever becomes of the
// annotation, nobody joins a second time. Pure.
import {
  joinsIn,
  JOINS_ANNOTATION,
  type JoinsRefused,
  legacyNameOf,
  type OldMember,
} from '../../shared/api/etcd-joins.ts';
import { type Cluster, peerNames, peerUrl } from './cluster.ts';

/** The members of before; undefined where nobody joins, or all of them have left. */
export function joinsOf(cluster: Cluster): readonly OldMember[] | JoinsRefused | undefined {
  const { status, object, namespace } = cluster;
  const text = object.metadata.annotations?.[JOINS_ANNOTATION];
  if (status.clusterId !== undefined) return status.joining;
  if (text === undefined) return undefined;
  const read = joinsIn(text, namespace);
  return 'reason' in read ? read : (refusedOwn(cluster, read) ?? read);
}

function refusedOwn(cluster: Cluster, old: readonly OldMember[]): JoinsRefused | undefined {
  const own = peerNames(cluster);
  const urls = own.map((name) => peerUrl(cluster, name));
  const found = old.find(({ name, url }) => own.includes(name) || urls.includes(url));
  if (found === undefined) return undefined;
  const message =
    `Annotation ${JOINS_ANNOTATION} names ${found.name}, which is a name of members of ` +
    `${cluster.name} itself. Nothing is started.`;
  return { reason: 'JoinsRefused', message };
}

/** Its pods, as far as the policy of the network can tell them; undefined where none may come. */
export function legacyOf(cluster: Cluster): string | undefined {
  const joins = joinsOf(cluster);
  const isRead =
    joins !== undefined && !('reason' in joins) && cluster.spec.tls.peers.mode === 'None';
  const name = isRead && joins[0] !== undefined ? legacyNameOf(joins[0]) : '';
  return name === '' ? undefined : name;
}
