// Reads all objects of our kinds, and the Leases that say whether somebody looks at them. A kind
// that cannot be read hides no other. Bounded: of each kind one page.
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { LEASES, readSweepLease, type SweepLeaseState } from '../../shared/kube/sweep-lease.ts';
import type { ReplicaState } from '../../shared/nats/replica/state.ts';
import { SHOWN_KINDS, type ShownKind } from './kinds.ts';

/** More than anybody reads; the answer says that there are others. */
const OBJECTS_MAX = 500;

export interface KindObservation {
  readonly shown: ShownKind;
  readonly objects: readonly KubeObject[];
  /** There are more than were read. */
  readonly isCut: boolean;
  /** Undefined for feeds, and where there is nothing that it would be about. */
  readonly lease?: SweepLeaseState;
  /** Why it could not be read. */
  readonly failure?: string;
}

export interface Observation {
  readonly nowMs: number;
  readonly kinds: readonly KindObservation[];
  /** The copy of the feed that this instance has. */
  readonly replica: ReplicaState;
}

/** The reads that are made. */
export type Kube = Pick<KubeClient, 'list' | 'get'>;

export async function observeKinds(
  kube: Kube,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly KindObservation[]> {
  return Promise.all(SHOWN_KINDS.map((shown) => observeKind(kube, shown, namespace, signal)));
}

async function observeKind(
  kube: Kube,
  shown: ShownKind,
  namespace: string,
  signal: AbortSignal,
): Promise<KindObservation> {
  const none = { shown, objects: [], isCut: false };
  try {
    const page = await kube.list(shown.ref, { limit: OBJECTS_MAX, signal });
    const found = { shown, objects: page.items, isCut: (page.metadata.continue ?? '') !== '' };
    const { watched } = shown;
    if (watched === undefined || page.items.length === 0) return found;
    const lease = await kube.get(LEASES, { namespace, name: watched.lease }, { signal });
    return { ...found, lease: readSweepLease(lease) };
  } catch (error) {
    // The kind is not installed.
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return none;
    return { ...none, failure: error instanceof Error ? error.message : String(error) };
  }
}
