// The EtcdCluster whose members join old ones: it is told whose data they have, and who the others
// are. It stays when the Takeover goes. Pure.
import { JOINS_ANNOTATION, joinsText } from '../../../shared/api/etcd-joins.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import type { TakeoverWork } from '../../../shared/api/takeover.ts';
import type { KubeObject, Manifest } from '../../../shared/kube/objects.ts';
import { annotationsFor, isMadeFor } from '../made-for.ts';
import type { Takeover } from '../object.ts';
import { ownClusterManifest } from '../own-cluster.ts';

/** As it is made. A plan about members at other addresses is refused. */
export function joiningManifest(
  takeover: Takeover,
  spec: Readonly<Record<string, unknown>>,
  { clusterId = '', oldMembers = [] }: TakeoverWork,
): Manifest {
  const manifest = ownClusterManifest(takeover, spec);
  const joins = joinsText(
    oldMembers.map(({ name, peerUrl: url }) => ({ name, url })),
    takeover.namespace,
  );
  if (typeof joins !== 'string') throw new Error(joins.message);
  const told = { [CLUSTER_ID_ANNOTATION]: clusterId, [JOINS_ANNOTATION]: joins };
  const annotations = { ...annotationsFor(takeover), ...told };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/** It was made for this Takeover, and joins the cluster that was confirmed. */
export const isJoining = (
  object: KubeObject,
  takeover: Takeover,
  { clusterId }: TakeoverWork,
): boolean =>
  isMadeFor(object, takeover) && object.metadata.annotations?.[CLUSTER_ID_ANNOTATION] === clusterId;
