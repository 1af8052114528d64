// Probes a resource with a list of one object: its newest resourceVersion, and how many objects
// there are. The cheapest proof that nothing changed and that nothing is missing.
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Deps } from './deps.ts';
import type { ShownResource } from './feed.ts';

export interface ListProbe {
  readonly resourceVersion: string;
  /** Undefined when the API server does not count them. */
  readonly objects: number | undefined;
}

/** Why a resource cannot be read: its kind is not installed, or RBAC does not allow it. */
export interface Blocked {
  readonly reason: 'ResourceUnknown' | 'ResourceForbidden';
  readonly message: string;
}

export async function probeList(
  { kube }: Deps,
  { ref }: ShownResource,
  signal: AbortSignal,
): Promise<ListProbe | Blocked> {
  try {
    const { metadata, items } = await kube.list(ref, {
      limit: 1,
      metadataOnly: true,
      isBounded: true,
      signal,
    });
    const { resourceVersion, remainingItemCount, continue: more = '' } = metadata;
    const rest = more === '' ? 0 : remainingItemCount;
    return { resourceVersion, objects: rest === undefined ? undefined : items.length + rest };
  } catch (error) {
    return blockedBy(error);
  }
}

/**
 * Returns why a resource is blocked, and throws every other error. One blocked resource must not
 * stop the feed.
 */
export function blockedBy(error: unknown): Blocked {
  if (isKubeError(error, 'KUBE_NOT_FOUND')) {
    return { reason: 'ResourceUnknown', message: error.message };
  }
  if (isKubeError(error, 'KUBE_FORBIDDEN')) {
    return { reason: 'ResourceForbidden', message: error.message };
  }
  throw error;
}

export const isBlocked = (result: object): result is Blocked => 'reason' in result;
