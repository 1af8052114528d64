// What an event says, replaced by what the API server says of the object that it names: anybody
// who reaches the function can send an event. Nothing of the event is published, and an event that
// would change nothing costs no question.
import { isKubeError } from '../../shared/kube/errors.ts';
import { type AskTask, type Asked, ask } from './ask.ts';
import { compareVersions, isRevision } from './decide.ts';
import { blockedBy } from './heads.ts';
import { type Looked, buryAt, lookAt, lookOnly } from './look.ts';
import { readSubjects } from './observe.ts';
import { type Look, type Moment, type Planned, SLICES, planLook } from './sight.ts';

export type HintTask = AskTask & Moment;

export async function takeHint(task: HintTask, look: Look): Promise<Looked> {
  const { deps, session, signal, epoch, nowMs } = task;
  const options = { epoch, nowMs, trust: 'hint' } as const;
  const hinted = planLook(session.feed, look, epoch);
  if (!deps.confirmsEvents) return lookAt(session, hinted, options, signal);
  const looked = await lookOnly(session, hinted, options, signal);
  if (looked !== undefined) return looked;
  const confirmed = await truthOf(task, look, hinted);
  // What cannot be read now is listed by the sweep, once it can.
  if (confirmed === undefined) return { outcome: 'unchanged', settled: new Map() };
  return lookAt(session, confirmed, options, signal);
}

/** Undefined when nobody can tell: the kind is not there, or nobody allowed it. */
async function truthOf(task: HintTask, look: Look, hinted: Planned): Promise<Planned | undefined> {
  const { session, epoch } = task;
  const { resource } = look;
  try {
    const asked = await askAsNew(task, look, hinted);
    const planned = planLook(session.feed, answered(look, asked), epoch);
    if (asked.object === undefined) session.absences.note(epoch, resource.name, asked.asOf);
    else await buryEarlierLife(task, look, { hinted, planned, asked });
    return planned;
  } catch (error) {
    blockedBy(error);
    // With its kind an object is gone, too.
    const isGone = look.isGone && isKubeError(error, 'KUBE_NOT_FOUND');
    return isGone ? planLook(session.feed, withoutAge(look), epoch) : undefined;
  }
}

/** One API server hears of a change some milliseconds after another. */
const BEHIND_MS = 20;

/**
 * What the API server has at hand costs it next to nothing, but may be old, above all where there
 * are several of them. It stands when it is as new as the event says, as the last sweep, and as
 * the last end of such an object that was heard of. What is a moment behind is asked again: the
 * consistent list may wait a tenth of a second in the API server. A claim of the far future costs
 * two more questions.
 */
async function askAsNew(
  task: HintTask,
  { resource, resourceVersion }: Look,
  { plan: { key } }: Planned,
): Promise<Asked> {
  const { deps, session, epoch, signal } = task;
  const verified = session.feed.status.resources?.find(({ name }) => name === resource.name);
  const absent = session.absences.latest(epoch, resource.name);
  const least = [resourceVersion, verified?.resourceVersion, absent];
  const isNewEnough = ({ asOf }: Asked): boolean =>
    isRevision(asOf) &&
    least.every((one = '1') => isRevision(one) && compareVersions(asOf, one) >= 0);
  const atHand = await ask(task, resource, key, 'any');
  if (isNewEnough(atHand)) return atHand;
  await deps.clock.sleep(BEHIND_MS, signal);
  const again = await ask(task, resource, key, 'any');
  if (isNewEnough(again)) return again;
  return session.insisting.take(() => ask(task, resource, key, 'latest'), signal);
}

function answered(look: Look, { object, isTooLarge, resourceVersion }: Asked): Look {
  const { resource } = look;
  if (object !== undefined) return { resource, object, isGone: false, isTooLarge, resourceVersion };
  return { ...withoutAge(look), isGone: true, resourceVersion };
}

/** Without an age it closes no place to what comes late: that is asked about, too. */
function withoutAge(look: Look): Look {
  const { creationTimestamp: _age, ...metadata } = look.object.metadata;
  return { ...look, object: { ...look.object, metadata } };
}

/**
 * Where the event saw it and where it is not: a pod that was made again under its name, on another
 * node. Nobody tells of its earlier life again. A slice is found there by its head.
 */
async function buryEarlierLife(
  { session, epoch, nowMs, signal }: HintTask,
  { resource }: Look,
  found: { readonly hinted: Planned; readonly planned: Planned; readonly asked: Asked },
): Promise<void> {
  const { hinted, planned, asked } = found;
  if (resource.name === SLICES) return;
  const left = hinted.plan.subjects.filter((one) => !planned.plan.subjects.includes(one));
  if (left.length === 0) return;
  const options = { epoch, nowMs, resourceVersion: asked.asOf, isTruth: false };
  for (const entry of await readSubjects(session, left, signal)) {
    await buryAt(session, entry, options, signal);
  }
}
