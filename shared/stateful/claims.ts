// The claims of servers as listed, and whether they can grow.
import type { AccessMode } from '../api/servers.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { quantityOf } from '../kube/quantity.ts';
import { modeAmong } from './claim-template.ts';
import { CLAIMS } from './parts.ts';

export interface Claim {
  readonly name: string;
  readonly uid: string;
  readonly phase: string;
  readonly size: string;
  readonly storageClassName: string | undefined;
  readonly accessMode: AccessMode;
  readonly createdAt: string | undefined;
  /** The node that its volume was made for; others may reach it too. */
  readonly node: string | undefined;
  /** Undefined as long as it has none. */
  readonly volume: string | undefined;
  readonly isEnding: boolean;
}

export interface ClaimsDeps {
  readonly kube: KubeClient;
  readonly signal: AbortSignal;
}

export interface ClaimSelection {
  readonly namespace: string;
  readonly labelSelector: string;
  /** Whether a claim with these labels and this name belongs to the servers. */
  readonly isOwn: (name: string) => boolean;
}

/** Anybody who may create claims in the namespace may label them: pages bound memory. */
const CLAIMS_PER_PAGE = 500;

/** With what `more` takes of each: a claim may have as many annotations as anybody likes. */
export async function readClaims<More extends object>(
  { kube, signal }: ClaimsDeps,
  { namespace, labelSelector, isOwn }: ClaimSelection,
  more: (claim: KubeObject) => More,
): Promise<readonly (Claim & More)[]> {
  const claims: (Claim & More)[] = [];
  const options = { namespace, labelSelector, limit: CLAIMS_PER_PAGE, signal };
  for await (const { items } of kube.pages(CLAIMS, options)) {
    const own = items.filter(({ metadata }) => isOwn(metadata.name));
    claims.push(...own.map((one) => ({ ...claimOf(one), ...more(one) })));
  }
  return claims;
}

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

export function claimOf(object: KubeObject): Claim {
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

const STORAGE_CLASSES = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
} as const;

/** A claim that is smaller than it should be. */
export interface Growth {
  readonly claim: Claim;
  /** The wanted size. */
  readonly size: string;
  /** Its storage class lets claims grow. */
  readonly isAllowed: boolean;
}

/** The smallest of the claims that are smaller than this size; undefined when none is. */
export async function findGrowth(
  { kube, signal }: ClaimsDeps,
  claims: readonly Claim[],
  size: string,
): Promise<Growth | undefined> {
  const [claim] = claims
    .filter((one) => quantityOf(one.size) < quantityOf(size))
    .toSorted((a, b) => quantityOf(a.size) - quantityOf(b.size));
  if (claim === undefined) return undefined;
  const { storageClassName: name } = claim;
  const found = name === undefined ? null : await kube.get(STORAGE_CLASSES, { name }, { signal });
  return { claim, size, isAllowed: found?.['allowVolumeExpansion'] === true };
}
