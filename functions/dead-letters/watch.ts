// The tick of the function's own PingSource: looks whether the sweeps of others came. A function
// that is dead cannot say so itself.
import { METADATA_FEEDS } from '../../shared/api/metadata-feed.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import { SWEEP } from '../../shared/function/sources.ts';
import { setConditions } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import type { Doors } from './doors.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { unswept } from './unswept.ts';

/** A tick of ours, and not one that somebody else did not take. */
export const isOwnTick = (event: IncomingEvent): boolean =>
  event.type === SWEEP &&
  event['ballastfunction'] === 'dead-letters' &&
  event['knativeerrordest'] === undefined;

const FEEDS_AT_ONCE = 100;

export async function watchFeeds({ doors, log, signal }: Context<Doors>): Promise<void> {
  const { kube, place } = doors;
  const options = { namespace: place.namespace, limit: FEEDS_AT_ONCE, signal };
  for await (const { items } of kube.pages(METADATA_FEEDS, options)) {
    for (const feed of items) {
      if (await mark(feed, doors, signal)) {
        log.warn({ feed: feed.metadata.name }, 'a feed says Ready, and nobody swept it');
      }
    }
  }
}

async function mark(
  object: KubeObject,
  { kube, clock }: Doors,
  signal: AbortSignal,
): Promise<boolean> {
  const nowMs = clock.nowMs();
  const stale = unswept(object, nowMs);
  if (stale.length === 0) return false;
  const { generation: observedGeneration } = object.metadata;
  const moment = { fieldManager: FIELD_MANAGER, observedGeneration, nowMs };
  try {
    await writeStatus(kube, {
      ref: METADATA_FEEDS,
      object,
      status: { conditions: setConditions(object, stale, moment) },
      fieldManager: FIELD_MANAGER,
      // Swept meanwhile, it is right.
      ifUnmoved: true,
      signal,
    });
    return true;
  } catch (error) {
    if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) return false;
    throw error;
  }
}
