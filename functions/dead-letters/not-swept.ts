// Decides when a condition that is True becomes Unknown: the function that renews it is dead, or
// fails for this object, for two periods. Only conditions that are True change, and the function
// sets them again at its next reconcile. Pure.
import {
  feedLastsMs,
  feedStatusOf,
  type Staleness,
  sweepSecondsOf,
  type WatchedKind,
} from '../../shared/kube/swept-kinds.ts';
import { type ConditionInput, NOT_SWEPT, conditionsOf } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { sweptKey } from '../../shared/kube/sweep-lease.ts';

/**
 * The conditions to set. A condition younger than the period was written by a function that is
 * alive.
 */
export function staleConditions(
  object: KubeObject,
  watched: WatchedKind,
  found: Staleness,
  nowMs: number,
): readonly ConditionInput[] {
  const message = messageOf(sweptKey(object), watched, found);
  if (message === undefined) return [];
  return conditionsOf(object)
    .filter(({ type, status }) => watched.claims.includes(type) && status === 'True')
    .filter((one) => nowMs - Date.parse(one.lastTransitionTime) > found.lastsMs)
    .map(({ type }) => ({ type, status: 'Unknown', reason: NOT_SWEPT, message }));
}

function messageOf(key: string, watched: WatchedKind, found: Staleness): string | undefined {
  const { kind, functionName, lease } = watched;
  const { isAll, renewTime, failing } = found;
  const before = 'What its status says is of before.';
  if (!isAll) {
    const since = failing.get(key);
    if (since === undefined) return undefined;
    return (
      `Each look at this ${kind} has failed since ${since}. ${before} ` +
      `The log of ${functionName} says why.`
    );
  }
  const gap =
    renewTime === undefined
      ? `Nobody is known to look at this ${kind}: there is no Lease ${lease}`
      : `Nobody has looked at this ${kind} since ${renewTime}, when Lease ${lease} was renewed`;
  return (
    `${gap}, as each sweep does. ${before} Look at the function ${functionName}: whether it is ` +
    `installed, its pods, its log, and the PingSource ${functionName}-sweep.`
  );
}

/** The conditions that report a healthy feed. */
const FEED_CLAIMS: readonly string[] = ['Ready', 'InSync'];

/** The conditions of a feed to set; none while it is swept in time. `ageMs`: of its last sweep. */
export function staleFeedConditions(feed: KubeObject, ageMs: number): readonly ConditionInput[] {
  const { sweptAt, conditions = [] } = feedStatusOf(feed);
  if (ageMs <= feedLastsMs(feed)) return [];
  const since = sweptAt === undefined ? 'since it was made' : `since ${sweptAt}`;
  const message =
    `Nobody has compared this feed with the API server ${since}, though it is due every ` +
    `${sweepSecondsOf(feed)} s. Readers go on with what they have. Look at the function ` +
    'metadata: its pods, its log, and the PingSource metadata-sweep.';
  return conditions
    .filter(({ type, status }) => FEED_CLAIMS.includes(type) && status === 'True')
    .map(({ type }) => ({ type, status: 'Unknown', reason: NOT_SWEPT, message }));
}
