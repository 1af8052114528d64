// The tick of this function's own PingSource: checks that the sweeps of the other functions ran. A
// function that is dead cannot report that itself.
import { METADATA_FEEDS } from '../../shared/api/metadata-feed.ts';
import {
  feedSweptAt,
  stalenessOf,
  WATCHED_KINDS,
  type WatchedKind,
} from '../../shared/kube/swept-kinds.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import { settleAll } from '../../shared/function/settle-all.ts';
import { SWEEP } from '../../shared/function/sources.ts';
import { type ConditionInput, setConditions } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { writeStatus } from '../../shared/kube/status.ts';
import { LEASES, readSweepLease } from '../../shared/kube/sweep-lease.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { staleConditions, staleFeedConditions } from './not-swept.ts';

/**
 * True for this function's own tick, and false for another function's tick that became a dead
 * letter.
 */
export const isOwnTick = (event: IncomingEvent): boolean =>
  event.type === SWEEP &&
  event['ballastfunction'] === 'dead-letters' &&
  event['knativeerrordest'] === undefined;

const OBJECTS_AT_ONCE = 100;

/** Checks all kinds, then throws the first failure: one forbidden kind must not hide the others. */
export async function checkSweeps(context: Context<Deps>): Promise<void> {
  await settleAll([checkFeeds(context), ...WATCHED_KINDS.map((one) => checkObjects(one, context))]);
}

async function checkFeeds(context: Context<Deps>): Promise<void> {
  const { kube, place, clock, feedAges } = context.deps;
  const seen = new Set<string>();
  const options = { namespace: place.namespace, limit: OBJECTS_AT_ONCE, signal: context.signal };
  for await (const { items } of kube.pages(METADATA_FEEDS, options)) {
    for (const feed of items) {
      const nowMs = clock.nowMs();
      const { uid } = feed.metadata;
      seen.add(uid);
      const ageMs = feedAges.ageMs(uid, feedSweptAt(feed), nowMs);
      await mark(METADATA_FEEDS, feed, staleFeedConditions(feed, ageMs), nowMs, context);
    }
  }
  feedAges.keepOnly(seen);
}

/** Reads no object while the Lease is renewed and names no failing one. */
async function checkObjects(watched: WatchedKind, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const { kube, place, clock, leaseAges } = deps;
  const target = { namespace: place.namespace, name: watched.lease };
  const lease = readSweepLease(await kube.get(LEASES, target, { signal }));
  const nowMs = clock.nowMs();
  const found = stalenessOf(lease, leaseAges.ageMs(watched.lease, lease.renewTime, nowMs), nowMs);
  if (found === undefined) return;
  try {
    for await (const { items } of kube.pages(watched.ref, { limit: OBJECTS_AT_ONCE, signal })) {
      for (const object of items) {
        await mark(
          watched.ref,
          object,
          staleConditions(object, watched, found, nowMs),
          nowMs,
          context,
        );
      }
    }
  } catch (error) {
    // The kind is not installed.
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
  }
}

async function mark(
  ref: ResourceRef,
  object: KubeObject,
  stale: readonly ConditionInput[],
  nowMs: number,
  { deps, log, signal }: Context<Deps>,
): Promise<void> {
  if (stale.length === 0) return;
  const { generation: observedGeneration, namespace, name } = object.metadata;
  const moment = { fieldManager: FIELD_MANAGER, observedGeneration, nowMs };
  try {
    await writeStatus(deps.kube, {
      ref,
      object,
      status: { conditions: setConditions(object, stale, moment) },
      fieldManager: FIELD_MANAGER,
      // An object that was reconciled meanwhile needs no mark.
      ifUnmoved: true,
      signal,
    });
    const types = stale.map(({ type }) => type);
    log.warn({ kind: object.kind, namespace, name, types }, 'it says True, and nobody looks at it');
  } catch (error) {
    if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
  }
}
