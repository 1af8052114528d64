// Asks the API server about what was published and what its own history did not confirm: mostly
// changes that are younger than the history just read, and now and then a claim without ground.
import { type ObjectKey, subjectOf } from '../../shared/feed/subjects.ts';
import { type AskTask, ask } from './ask.ts';
import { isName } from './change.ts';
import type { ShownResource } from './feed.ts';
import { type Doubt, type Outcome, buryAt, lookAtTruth } from './look.ts';
import { readPublished, readSubjects } from './observe.ts';
import { type Moment, planLook } from './sight.ts';

export type ConfirmTask = AskTask & Moment;

/**
 * The outcome of each thing done about it. What was written after `before` may be later than what
 * the API server answers here.
 */
export async function confirm(
  task: ConfirmTask & { readonly before: number },
  resource: ShownResource,
  { key, subjects: doubted }: Doubt,
): Promise<readonly Outcome[]> {
  const { deps: _doors, session, signal, before, ...moment } = task;
  if (!canExist(resource, key)) return buryImpossible(task, doubted);
  const { object, isTooLarge, resourceVersion } = await ask(task, resource, key, 'latest');
  const outcomes: Outcome[] = [];
  const head = subjectOf('cluster', key);
  // What is gone is gone with all that its head names, in doubt or not.
  const rest = new Set(object === undefined ? [...doubted, head] : doubted);
  if (object !== undefined) {
    const look = { resource, object, isGone: false, isTooLarge, resourceVersion };
    const planned = planLook(session.feed, look, moment.epoch);
    for (const subject of planned.plan.subjects) rest.delete(subject);
    outcomes.push((await lookAtTruth(session, planned, { ...moment, before }, signal)).outcome);
  }
  const places = [{ key, subjects: [...rest] }];
  const [found = []] = await readPublished(session, places, signal);
  // The head last: while it stands, whoever comes after us finds the others.
  for (const entry of found.toSorted(
    (a, b) => Number(a.subject === head) - Number(b.subject === head),
  )) {
    // What was written since is somebody else's word, and the next sweep's matter.
    if (entry.sequence > before) continue;
    const options = { ...moment, resourceVersion, isTruth: true };
    outcomes.push((await buryAt(session, entry, options, signal)).outcome);
  }
  return outcomes;
}

const NEVER_IN_A_NAMESPACE = /[^-a-z0-9]/;

/** Not so of what the API server could not even be asked about: somebody else wrote it. */
function canExist({ isNamespaced }: ShownResource, { namespace, name }: ObjectKey): boolean {
  if (NEVER_IN_A_NAMESPACE.test(namespace) || !isName(name)) return false;
  return isNamespaced === undefined || isNamespaced === (namespace !== '');
}

async function buryImpossible(
  { session, signal, before, ...moment }: ConfirmTask & { readonly before: number },
  doubted: ReadonlySet<string>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const entry of await readSubjects(session, [...doubted], signal)) {
    if (entry.sequence > before) continue;
    const { resourceVersion = '0' } = entry.message ?? {};
    const options = { ...moment, resourceVersion, isTruth: true };
    outcomes.push((await buryAt(session, entry, options, signal)).outcome);
  }
  return outcomes;
}
