// Replaces the claim of an event by the state of the object in the API server. Anybody who reaches
// the function can send an event, so nothing of it is published. An event that would change nothing
// costs the API server no request.
import { isKubeError } from '../../shared/kube/errors.ts';
import { compareVersions, isRevision } from './decide.ts';
import type { EpochTask } from './deps.ts';
import { blockedBy } from './list-probe.ts';
import { type Observation, project, type Projection, SLICES } from './observation.ts';
import { type LiveRead, readLive, readSubjects } from './observe.ts';
import {
  reconcileObject,
  type ReconcileResult,
  resultIfInSync,
  writeTombstone,
} from './reconcile-object.ts';

export async function confirmEvent(
  task: EpochTask,
  observation: Observation,
): Promise<ReconcileResult> {
  const { deps, session, signal, epoch, nowMs } = task;
  const options = { epoch, nowMs, source: 'event' } as const;
  const claimed = project(session.feed, observation, epoch);
  if (!deps.confirmsEvents) return reconcileObject(session, claimed, options, signal);
  const result = await resultIfInSync(session, claimed, options, signal);
  if (result !== undefined) return result;
  const confirmed = await liveProjection(task, observation, claimed);
  // A resource that cannot be read now is listed by a sweep once it can.
  if (confirmed === undefined) return { outcome: 'unchanged', confirmed: new Map() };
  return reconcileObject(session, confirmed, options, signal);
}

/**
 * The object's state in the API server. Undefined when the kind is not installed or not allowed.
 */
async function liveProjection(
  task: EpochTask,
  observation: Observation,
  claimed: Projection,
): Promise<Projection | undefined> {
  const { session, epoch } = task;
  const { resource } = observation;
  try {
    const live = await readLiveAsNewAs(task, observation, claimed);
    const projection = project(session.feed, observationOf(observation, live), epoch);
    if (live.object === undefined) session.latestAbsences.note(epoch, resource.name, live.asOf);
    else await endEarlierLife(task, observation, { claimed, projection, live });
    return projection;
  } catch (error) {
    blockedBy(error);
    // When the CRD is gone, its objects are gone as well.
    const isGone = observation.isGone && isKubeError(error, 'KUBE_NOT_FOUND');
    return isGone ? project(session.feed, withoutAge(observation), epoch) : undefined;
  }
}

/** How far the watch cache of one API server may lag behind another. */
const BEHIND_MS = 20;

/**
 * Reads from the watch cache first: that is cheap, but it may be stale where there are several API
 * servers. The answer counts if it is at least as new as the event, the last sweep, and the last
 * absence that was observed. If not, it is read a second time after a moment, and then with a
 * consistent list, which may wait 100 ms in the API server. An event that claims a version of the
 * far future costs these two more requests and no harm.
 */
async function readLiveAsNewAs(
  task: EpochTask,
  { resource, resourceVersion }: Observation,
  { placement: { key } }: Projection,
): Promise<LiveRead> {
  const { deps, session, epoch, signal } = task;
  const verified = session.feed.status.resources?.find(({ name }) => name === resource.name);
  const absent = session.latestAbsences.latest(epoch, resource.name);
  const least = [resourceVersion, verified?.resourceVersion, absent];
  const isNewEnough = ({ asOf }: LiveRead): boolean =>
    isRevision(asOf) &&
    least.every((one = '1') => isRevision(one) && compareVersions(asOf, one) >= 0);
  const atHand = await readLive(task, resource, key, 'any');
  if (isNewEnough(atHand)) return atHand;
  await deps.clock.sleep(BEHIND_MS, signal);
  const again = await readLive(task, resource, key, 'any');
  if (isNewEnough(again)) return again;
  return session.latestReadSlots.take(() => readLive(task, resource, key, 'latest'), signal);
}

function observationOf(
  observation: Observation,
  { object, isTooLarge, resourceVersion }: LiveRead,
): Observation {
  const { resource } = observation;
  if (object !== undefined) return { resource, object, isGone: false, isTooLarge, resourceVersion };
  return { ...withoutAge(observation), isGone: true, resourceVersion };
}

/**
 * Without a creationTimestamp the object writes no guard tombstones. The API server is asked about
 * late events anyway.
 */
function withoutAge(observation: Observation): Observation {
  const { creationTimestamp: _age, ...metadata } = observation.object.metadata;
  return { ...observation, object: { ...observation.object, metadata } };
}

/**
 * Ends the messages on subjects that the event names and the API server does not: a pod was deleted
 * and created again under its name on another node. No later event tells about its earlier life.
 * The parts of an endpoint slice are found by its head.
 */
async function endEarlierLife(
  { session, epoch, nowMs, signal }: EpochTask,
  { resource }: Observation,
  found: { readonly claimed: Projection; readonly projection: Projection; readonly live: LiveRead },
): Promise<void> {
  const { claimed, projection, live } = found;
  if (resource.name === SLICES) return;
  const left = claimed.placement.subjects.filter(
    (one) => !projection.placement.subjects.includes(one),
  );
  if (left.length === 0) return;
  const options = { epoch, nowMs, resourceVersion: live.asOf, isAuthoritative: false };
  for (const entry of await readSubjects(session, left, signal)) {
    await writeTombstone(session, entry, options, signal);
  }
}
