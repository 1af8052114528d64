// Reads what only matters while a plan that gives the data up is carried out or taken back: the new
// EtcdCluster, and claims of its members. Writes nothing.
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import type { TakeoverWork } from '../../../shared/api/takeover.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { foundCluster, memberClaims } from '../find-new.ts';
import { isMadeFor } from '../made-for.ts';
import type { Takeover } from '../object.ts';
import { isUndoing } from '../records.ts';
import type { Own } from '../state.ts';

/** No cluster has it. */
const UNBORN = '';

export async function observeWiping(
  looking: { readonly kube: KubeClient; readonly signal: AbortSignal },
  takeover: Takeover,
  work: TakeoverWork,
): Promise<Own> {
  const { kube, signal } = looking;
  const { newClusterId } = work;
  const claims = isUndoing(work) ? await memberClaims(looking, takeover, newClusterId) : [];
  const target = { namespace: takeover.namespace, name: takeover.spec.into.name };
  const object = (await kube.get(ETCD_CLUSTERS, target, { signal })) ?? undefined;
  return {
    cluster: object && foundCluster(object, isEmpty(object, takeover), newClusterId ?? UNBORN),
    memberClaims: claims,
  };
}

/** It was made for this Takeover, and is not to be born with the data of a cluster. */
const isEmpty = (object: KubeObject, takeover: Takeover): boolean =>
  isMadeFor(object, takeover) && object.metadata.annotations?.[CLUSTER_ID_ANNOTATION] === undefined;
