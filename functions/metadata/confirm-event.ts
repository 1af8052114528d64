// What an event says, replaced by what the API server says of the object that it names: anybody
// who reaches the function can send an event. Nothing of the event is published, and an event that
// would change nothing costs no question.
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

export async function confirmEvent(task: EpochTask, look: Observation): Promise<ReconcileResult> {
  const { deps, session, signal, epoch, nowMs } = task;
  const options = { epoch, nowMs, trust: 'hint' } as const;
  const claimed = project(session.feed, look, epoch);
  if (!deps.confirmsEvents) return reconcileObject(session, claimed, options, signal);
  const looked = await resultIfInSync(session, claimed, options, signal);
  if (looked !== undefined) return looked;
  const confirmed = await liveProjection(task, look, claimed);
  // What cannot be read now is listed by the sweep, once it can.
  if (confirmed === undefined) return { outcome: 'unchanged', confirmed: new Map() };
  return reconcileObject(session, confirmed, options, signal);
}

/** Undefined when nobody can tell: the kind is not there, or nobody allowed it. */
async function liveProjection(
  task: EpochTask,
  look: Observation,
  claimed: Projection,
): Promise<Projection | undefined> {
  const { session, epoch } = task;
  const { resource } = look;
  try {
    const live = await readLiveAsNewAs(task, look, claimed);
    const projection = project(session.feed, observationOf(look, live), epoch);
    if (live.object === undefined) session.absences.note(epoch, resource.name, live.asOf);
    else await endEarlierLife(task, look, { claimed, projection, live });
    return projection;
  } catch (error) {
    blockedBy(error);
    // With its kind an object is gone, too.
    const isGone = look.isGone && isKubeError(error, 'KUBE_NOT_FOUND');
    return isGone ? project(session.feed, withoutAge(look), epoch) : undefined;
  }
}

/** One API server hears of a change some milliseconds after another. */
const BEHIND_MS = 20;

/**
 * What the API server has at hand costs it next to nothing, but may be old, above all where there
 * are several of them. It stands when it is as new as the event says, as the last sweep, and as
 * the last end of such an object that was heard of. What is a moment behind is live again: the
 * consistent list may wait a tenth of a second in the API server. A claim of the far future costs
 * two more questions.
 */
async function readLiveAsNewAs(
  task: EpochTask,
  { resource, resourceVersion }: Observation,
  { plan: { key } }: Projection,
): Promise<LiveRead> {
  const { deps, session, epoch, signal } = task;
  const verified = session.feed.status.resources?.find(({ name }) => name === resource.name);
  const absent = session.absences.latest(epoch, resource.name);
  const least = [resourceVersion, verified?.resourceVersion, absent];
  const isNewEnough = ({ asOf }: LiveRead): boolean =>
    isRevision(asOf) &&
    least.every((one = '1') => isRevision(one) && compareVersions(asOf, one) >= 0);
  const atHand = await readLive(task, resource, key, 'any');
  if (isNewEnough(atHand)) return atHand;
  await deps.clock.sleep(BEHIND_MS, signal);
  const again = await readLive(task, resource, key, 'any');
  if (isNewEnough(again)) return again;
  return session.insisting.take(() => readLive(task, resource, key, 'latest'), signal);
}

function observationOf(
  look: Observation,
  { object, isTooLarge, resourceVersion }: LiveRead,
): Observation {
  const { resource } = look;
  if (object !== undefined) return { resource, object, isGone: false, isTooLarge, resourceVersion };
  return { ...withoutAge(look), isGone: true, resourceVersion };
}

/** Without an age it closes no place to what comes late: that is live about, too. */
function withoutAge(look: Observation): Observation {
  const { creationTimestamp: _age, ...metadata } = look.object.metadata;
  return { ...look, object: { ...look.object, metadata } };
}

/**
 * Where the event saw it and where it is not: a pod that was made again under its name, on another
 * node. Nobody tells of its earlier life again. A slice is found there by its head.
 */
async function endEarlierLife(
  { session, epoch, nowMs, signal }: EpochTask,
  { resource }: Observation,
  found: { readonly claimed: Projection; readonly projection: Projection; readonly live: LiveRead },
): Promise<void> {
  const { claimed, projection, live } = found;
  if (resource.name === SLICES) return;
  const left = claimed.plan.subjects.filter((one) => !projection.plan.subjects.includes(one));
  if (left.length === 0) return;
  const options = { epoch, nowMs, resourceVersion: live.asOf, isAuthoritative: false };
  for (const entry of await readSubjects(session, left, signal)) {
    await writeTombstone(session, entry, options, signal);
  }
}
