// Reads all objects of our kinds, the Leases that say whether somebody looks at them, and Events
// about what was not delivered. A kind that cannot be read hides no other. Bounded: one page each.
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { EVENTS, NOT_DELIVERED } from '../../shared/kube/not-delivered.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { LEASES, readSweepLease, type SweepLeaseState } from '../../shared/kube/sweep-lease.ts';
import type { ReplicaState } from '../../shared/nats/replica/state.ts';
import { SHOWN_KINDS, type ShownKind } from './kinds.ts';

/** More than anybody reads; the answer says that there are others. */
const OBJECTS_MAX = 500;
const LETTERS = `reason=${NOT_DELIVERED},regarding.kind=Broker`;

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

/** Events on the broker, one for each cause for which something was not delivered. */
export interface LettersObservation {
  readonly events: readonly KubeObject[];
  readonly failure?: string;
}

export interface Observation {
  readonly nowMs: number;
  readonly kinds: readonly KindObservation[];
  readonly letters: LettersObservation;
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

/** `namespace` is that of the broker: Events of other namespaces are not ours to read. */
export async function observeLetters(
  kube: Kube,
  namespace: string,
  signal: AbortSignal,
): Promise<LettersObservation> {
  const options = { namespace, fieldSelector: LETTERS, limit: OBJECTS_MAX, signal };
  try {
    return { events: (await kube.list(EVENTS, options)).items };
  } catch (error) {
    return { events: [], failure: textOf(error) };
  }
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
    return { ...none, failure: textOf(error) };
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
