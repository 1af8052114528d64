// Looks whether the names of a new EtcdCluster are free: of itself, and of the members, claims and
// StatefulSets that it could ever have. By their names, since a label may have been taken off.
import { claimName, ORDINALS, peerNameOf } from '../../shared/api/etcd-names.ts';
import { ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import { forEachLimited } from '../../shared/function/for-each-limited.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ResourceRef } from '../../shared/kube/objects.ts';
import { CLAIMS, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import { clusterNameOf, type EtcdRestore } from './object.ts';

interface Named {
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly name: string;
}

/** Kind and name of each that is there; `ownClaim` is not counted. */
export async function findTaken(
  kube: KubeClient,
  restore: EtcdRestore,
  ownClaim: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { namespace } = restore;
  const peers = Array.from({ length: ORDINALS }, (_, at) => peerNameOf(clusterNameOf(restore), at));
  const all: readonly Named[] = peers.flatMap((name) => [
    { ref: ETCD_PEERS, kind: 'EtcdPeer', name },
    { ref: STATEFUL_SETS, kind: 'StatefulSet', name },
    { ref: CLAIMS, kind: 'claim', name: claimName(name) },
  ]);
  const found = new Set<Named>();
  await forEachLimited(all, signal, async (one) => {
    const object = await kube.get(one.ref, { namespace, name: one.name }, { signal });
    if (object !== null && object.metadata.uid !== ownClaim) found.add(one);
  });
  return all.filter((one) => found.has(one)).map(({ kind, name }) => `${kind} ${name}`);
}
