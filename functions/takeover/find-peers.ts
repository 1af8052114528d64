// Finds the objects between a legacy object and its pods, where its operator makes one for each
// member: the object, and its ReplicaSet, which has the pod.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { belongsTo, labelled } from './labelled.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { FoundPeer } from './state.ts';

const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' } as const;

interface Peers {
  readonly peers: readonly FoundPeer[];
  /** The uids of their ReplicaSets. */
  readonly holders: ReadonlySet<string>;
}

/** Theirs alone that the object owns: somebody may have made one beside it by hand. */
export async function findPeers(
  kube: KubeClient,
  { namespace, uid, selector, peers: of }: LegacyEtcd,
  signal: AbortSignal,
): Promise<Peers> {
  const peers: FoundPeer[] = [];
  const holders = new Set<string>();
  if (of === undefined) return { peers, holders };
  const where = { namespace, labelSelector: selector };
  for await (const object of labelled(kube, of.ref, where, signal)) {
    if (!belongsTo(object, uid)) continue;
    const { name, uid: own, resourceVersion, finalizers = [] } = object.metadata;
    peers.push({ name, uid: own, resourceVersion, isEnding: isEnding(object), finalizers });
  }
  for await (const object of labelled(kube, REPLICA_SETS, where, signal)) {
    if (peers.some((peer) => belongsTo(object, peer.uid))) holders.add(object.metadata.uid);
  }
  return { peers, holders };
}
