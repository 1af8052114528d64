// Looks whether the names of the new cluster are free: of its Services, and of the members, claims
// and StatefulSets that it could ever have. By their names, since a label may be missing.
import { claimName, headlessName, ORDINALS, peerNameOf } from '../../shared/api/etcd-names.ts';
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import { forEachLimited } from '../../shared/function/for-each-limited.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { ResourceRef } from '../../shared/kube/objects.ts';
import { CLAIMS, SERVICES, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import type { Takeover } from './object.ts';

interface Named {
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly name: string;
}

export async function findTaken(
  kube: KubeClient,
  { namespace, spec }: Takeover,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const cluster = spec.into.name;
  const peers = Array.from({ length: ORDINALS }, (_, at) => peerNameOf(cluster, at));
  const all: readonly Named[] = [
    { ref: ETCD_CLUSTERS, kind: 'EtcdCluster', name: cluster },
    { ref: SERVICES, kind: 'Service', name: cluster },
    { ref: SERVICES, kind: 'Service', name: headlessName(cluster) },
    ...peers.flatMap((name) => [
      { ref: ETCD_PEERS, kind: 'EtcdPeer', name },
      { ref: STATEFUL_SETS, kind: 'StatefulSet', name },
      { ref: CLAIMS, kind: 'claim', name: claimName(name) },
    ]),
  ];
  return namesTaken(kube, namespace, all, signal);
}

/** As `Service new`. */
export async function namesTaken(
  kube: KubeClient,
  namespace: string,
  all: readonly Named[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = new Set<Named>();
  await forEachLimited(all, signal, async (one) => {
    if (await isThere(kube, one.ref, { namespace, name: one.name }, signal)) found.add(one);
  });
  return all.filter((one) => found.has(one)).map(({ kind, name }) => `${kind} ${name}`);
}

/** Where a kind is not known there is none of it. */
async function isThere(
  kube: KubeClient,
  ref: ResourceRef,
  target: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await kube.get(ref, target, { signal, metadataOnly: true })) !== null;
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
    throw error;
  }
}
