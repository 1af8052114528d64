// The claims of a cluster: their size, whether they can grow, and how many servers they were made
// for.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import { modeAmong } from './claim-template.ts';
import { CLAIM, claimName, type Cluster, serverName, serverNames } from './cluster.ts';
import { selectorText } from './render/labels.ts';
import { CLAIMS } from './render/manifests.ts';
import type { Claim, Parts, Pod } from './state.ts';

interface ClaimsDeps {
  readonly kube: KubeClient;
  readonly signal: AbortSignal;
}

const STORAGE_CLASSES = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
} as const;

export async function readClaims(
  { kube, signal }: ClaimsDeps,
  cluster: Cluster,
): Promise<readonly Claim[]> {
  const labelSelector = selectorText(cluster);
  const { namespace } = cluster;
  const claims: Claim[] = [];
  const options = { namespace, labelSelector, limit: CLAIMS_PER_PAGE, signal };
  for await (const { items } of kube.pages(CLAIMS, options)) {
    const own = items.filter(({ metadata }) => metadata.name.startsWith(`${CLAIM}-`));
    claims.push(...own.map(claimOf));
  }
  return claims;
}

const CLAIMS_PER_PAGE = 500;
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

function claimOf(object: KubeObject): Claim {
  // The API server holds claims to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status } = object as unknown as {
    readonly spec: {
      readonly storageClassName?: string;
      readonly volumeName?: string;
      readonly accessModes?: readonly string[];
      readonly resources: { readonly requests: { readonly storage: string } };
    };
    readonly status?: { readonly phase?: string };
  };
  const { name, uid, annotations, creationTimestamp, deletionTimestamp } = object.metadata;
  return {
    name,
    uid,
    phase: status?.phase ?? '',
    size: spec.resources.requests.storage,
    storageClassName: spec.storageClassName,
    accessMode: modeAmong(spec.accessModes),
    createdAt: creationTimestamp,
    node: annotations?.[SELECTED_NODE],
    volume: spec.volumeName,
    isEnding: deletionTimestamp !== undefined,
  };
}

/**
 * Without a StatefulSet, the pods and claims tell the size, so that no server ends with it or is
 * left out: surplus ones are emptied and removed one by one. A single server is no cluster, and
 * shares nothing with others.
 */
export function sizeAmong(
  cluster: Cluster,
  pods: readonly Pod[],
  claims: readonly Claim[],
): number {
  const there = new Set([...pods, ...claims].flatMap((one) => (one.isEnding ? [] : one.name)));
  const isThere = (server: string): boolean => there.has(server) || there.has(claimName(server));
  let size = cluster.spec.replicas;
  while (size > 1 && isThere(serverName(cluster, size))) size += 1;
  return size;
}

/**
 * The cluster with the size that its claims keep: other edits are still possible then, and
 * certificates still have to be renewed.
 */
export function attainableBy(cluster: Cluster, growth: Parts['growth']): Cluster {
  const { spec } = cluster;
  const { fileStorage } = spec.jetStream;
  if (growth === undefined || growth.isAllowed || fileStorage === undefined) return cluster;
  const { size } = growth.claim;
  const jetStream = { ...spec.jetStream, fileStorage: { ...fileStorage, size } };
  return { ...cluster, spec: { ...spec, jetStream } };
}

/** The smallest claim that is smaller than the spec says. */
export async function findGrowth(
  { kube, signal }: ClaimsDeps,
  cluster: Cluster,
  claims: readonly Claim[],
): Promise<Parts['growth']> {
  const { jetStream, replicas } = cluster.spec;
  const size = jetStream.fileStorage?.size;
  if (size === undefined) return undefined;
  const names = serverNames(cluster, replicas).map(claimName);
  const [claim] = claims
    .filter((one) => names.includes(one.name) && quantityOf(one.size) < quantityOf(size))
    .toSorted((a, b) => quantityOf(a.size) - quantityOf(b.size));
  if (claim === undefined) return undefined;
  const { storageClassName: name } = claim;
  const found = name === undefined ? null : await kube.get(STORAGE_CLASSES, { name }, { signal });
  return { claim, size, isAllowed: found?.['allowVolumeExpansion'] === true };
}
