// Writes an Event, or counts on where it is there already. Two instances at once lose no count:
// each patch carries the version that was read.
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { microTime } from '../../shared/kube/timestamp.ts';

const EVENTS: ResourceRef = { group: 'events.k8s.io', version: 'v1', resource: 'events' };
/** Each round lost is a round that another writer won. */
const ROUNDS_MAX = 8;

/** `count` letters of one cause, in one write. */
export async function tell(
  kube: KubeClient,
  event: Manifest,
  { count, nowMs }: { readonly count: number; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  for (let round = 1; ; round += 1) {
    const { object, isNew } = await kube.create(EVENTS, event, { signal });
    const more = isNew ? count - 1 : count;
    if (more === 0) return;
    try {
      return await countOn(kube, object, { more, nowMs }, signal);
    } catch (error) {
      // It ran out of time, which Events do, or somebody else counted.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND') || round === ROUNDS_MAX) {
        throw error;
      }
      if (isNew) count -= 1;
    }
  }
}

async function countOn(
  kube: KubeClient,
  { metadata: { name, namespace = '', resourceVersion }, series }: KubeObject,
  { more, nowMs }: { readonly more: number; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const body = {
    metadata: { resourceVersion },
    series: { count: countOf(series) + more, lastObservedTime: microTime(nowMs) },
  };
  await kube.patch(EVENTS, { namespace, name }, { type: 'merge', body }, { signal });
}

/** An Event without a series stands for one. */
function countOf(series: unknown): number {
  const isSeries = typeof series === 'object' && series !== null && 'count' in series;
  return isSeries && typeof series.count === 'number' ? series.count : 1;
}
