// Pods and claims of members that somebody took the label of their EtcdCluster off: no list has
// them, and they run on and keep their data all the same. They are looked up by their names, and
// never changed: what has no label is nobody's to change.
import { ETCD_CLUSTER_LABEL } from '../../shared/api/etcd-cluster.ts';
import { claimName, podName } from '../../shared/api/etcd-names.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../shared/stateful/parts.ts';
import { podOf as podIn } from '../../shared/stateful/pods.ts';
import { applyParts } from './apply-parts.ts';
import { type Cluster, peerNames } from './cluster.ts';
import type { Deps } from './deps.ts';
import { byOrdinal, claimOf, namesOf, podOf, type State, type Stray } from './state.ts';

type Seen = Pick<State, 'cluster' | 'parts' | 'peers' | 'pods' | 'claims' | 'etcd'>;

export async function findStrays(
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  seen: Seen,
  signal: AbortSignal,
): Promise<readonly Stray[]> {
  const { namespace } = seen.cluster;
  const find = async (ref: ResourceRef, name: string): Promise<KubeObject | undefined> => {
    const options = { namespace, fieldSelector: `metadata.name=${name}`, limit: 1, signal };
    for await (const { items } of kube.pages(ref, options)) {
      const found = items.find(({ metadata }) => metadata.name === name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const strays: Stray[] = [];
  for (const peer of namesIn(seen)) {
    const pod = podOf(seen, peer) === undefined ? await find(PODS, podName(peer)) : undefined;
    if (pod !== undefined && !isLabelled(seen.cluster, pod)) {
      const { isReady } = podIn(pod, clock.nowMs());
      strays.push({ peer, kind: 'Pod', name: podName(peer), isReady });
    }
    if (seen.cluster.spec.storage.medium !== 'Volume') continue;
    const claim =
      claimOf(seen, peer) === undefined ? await find(CLAIMS, claimName(peer)) : undefined;
    if (claim === undefined || isLabelled(seen.cluster, claim)) continue;
    const clusterId = claim.metadata.annotations?.[CLUSTER_ID_ANNOTATION];
    strays.push({ peer, kind: 'Claim', name: claimName(peer), clusterId });
  }
  return strays;
}

/** One that came since the list is none. */
const isLabelled = ({ name }: Cluster, { metadata }: KubeObject): boolean =>
  metadata.labels?.[ETCD_CLUSTER_LABEL] === name;

/** All that are, or were, members; before a birth and amid a recovery all that could ever be. */
function namesIn({ cluster, parts, peers, etcd }: Seen): readonly string[] {
  const { status } = cluster;
  const isUnborn = status.clusterId === undefined && status.bootstrap === undefined;
  const ours = peers.filter(({ isOurs }) => isOurs).map(({ name }) => name);
  // Nobody is born in this look, and 32 requests in each were a quarter of those of a birth.
  if (isUnborn && applyParts({ parts }) !== undefined) return [];
  // The first of those that join a legacy cluster was made when nothing was in its way.
  const isFirst = isUnborn && ours.length === 0;
  if (isFirst || status.recovering !== undefined) return peerNames(cluster);
  const views = [...etcd.views.values()].map(({ members }) => members);
  const members = [etcd.list?.members ?? [], ...views].flatMap((of) => namesOf({ cluster }, of));
  const before = (status.members ?? []).map(({ name }) => name);
  const leaving = status.leaving === undefined ? [] : [status.leaving.peer];
  return [...new Set([...ours, ...members, ...before, ...leaving])].toSorted(byOrdinal);
}

export const labelLost = ({ cluster }: Pick<State, 'cluster'>, { kind, name }: Stray): Reason => {
  const [resource, or] = kind === 'Pod' ? ['pod', ', or delete the pod'] : ['pvc', ''];
  const label = `${ETCD_CLUSTER_LABEL}=${cluster.name}`;
  const message =
    `${kind} ${name} has lost its label, so nothing is done with it: put it back (kubectl -n ` +
    `${cluster.namespace} label ${resource} ${name} ${label} --overwrite)${or}.`;
  return { reason: 'LabelLost', message };
};
