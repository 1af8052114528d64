// Creates an Event, or adds to the count of the existing one. Each patch carries the version that
// was read, so two instances at once lose no count.
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { EVENTS } from '../../shared/kube/not-delivered.ts';
import type { KubeObject, Manifest } from '../../shared/kube/objects.ts';
import { microTime } from '../../shared/kube/timestamp.ts';

/** A conflict means that another writer made progress. */
const ROUNDS_MAX = 8;

/** Writes `count` letters of one cause with one request. */
export async function writeEvent(
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
      return await incrementSeries(kube, object, { more, nowMs }, signal);
    } catch (error) {
      // The Event expired, or another instance added to it.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND') || round === ROUNDS_MAX) {
        throw error;
      }
      if (isNew) count -= 1;
    }
  }
}

async function incrementSeries(
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

/** An Event without a series counts as one. */
function countOf(series: unknown): number {
  const isSeries = typeof series === 'object' && series !== null && 'count' in series;
  return isSeries && typeof series.count === 'number' ? series.count : 1;
}
