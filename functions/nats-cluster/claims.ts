// The claims of a cluster: how many servers they were made for, and the size that they can have.
import {
  type Claim,
  type ClaimsDeps,
  findGrowth,
  type Growth,
} from '../../shared/stateful/claims.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { claimName, type Cluster, serverName, serverNames } from './cluster.ts';

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
export function attainableBy(cluster: Cluster, growth: Growth | undefined): Cluster {
  const { spec } = cluster;
  const { fileStorage } = spec.jetStream;
  if (growth === undefined || growth.isAllowed || fileStorage === undefined) return cluster;
  const { size } = growth.claim;
  const jetStream = { ...spec.jetStream, fileStorage: { ...fileStorage, size } };
  return { ...cluster, spec: { ...spec, jetStream } };
}

/** The smallest claim that is smaller than the spec says. */
export async function growthOf(
  deps: ClaimsDeps,
  cluster: Cluster,
  claims: readonly Claim[],
): Promise<Growth | undefined> {
  const { jetStream, replicas } = cluster.spec;
  const size = jetStream.fileStorage?.size;
  if (size === undefined) return undefined;
  const names = serverNames(cluster, replicas).map(claimName);
  const own = claims.filter(({ name }) => names.includes(name));
  return findGrowth(deps, own, size);
}
