// Asks the API server about what was published and what its own history did not confirm: mostly
// changes that are younger than the history just read, and now and then a claim without ground.
import { type ObjectKey, subjectOf } from '../../shared/feed/subjects.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { isName } from './change.ts';
import type { Doors } from './doors.ts';
import type { ShownResource } from './feed.ts';
import { type Doubt, type Outcome, buryAt, lookAtTruth } from './look.ts';
import { readPublished, readSubjects } from './observe.ts';
import type { Session } from './session.ts';
import { type Look, type Moment, planLook } from './sight.ts';

export interface ConfirmTask extends Moment {
  readonly doors: Doors;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/**
 * The outcome of each thing done about it. What was written after `before` may be later than what
 * the API server answers here.
 */
export async function confirm(
  task: ConfirmTask & { readonly before: number },
  resource: ShownResource,
  { key, subjects: doubted }: Doubt,
): Promise<readonly Outcome[]> {
  const { doors: _doors, session, signal, before, ...moment } = task;
  if (!canExist(resource, key)) return buryImpossible(task, doubted);
  const { object, isTooLarge, resourceVersion } = await ask(task, resource, key);
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

/**
 * What an event says, replaced by what the API server says of the object that it names: anybody
 * who reaches the function can send an event.
 */
export async function confirmed(
  task: Pick<ConfirmTask, 'doors' | 'session' | 'signal'>,
  look: Look,
): Promise<Look> {
  const { resource, object } = look;
  const { name, namespace = '' } = object.metadata;
  const asked = await ask(task, resource, { resource: resource.name, namespace, name });
  const { resourceVersion, isTooLarge } = asked;
  if (asked.object !== undefined) {
    return { resource, object: asked.object, isGone: false, isTooLarge, resourceVersion };
  }
  // Without an age, it closes no place to what comes late: that would be asked about, too.
  const { creationTimestamp: _age, ...metadata } = object.metadata;
  return { resource, object: { ...object, metadata }, isGone: true, resourceVersion };
}

interface Asked {
  readonly object: KubeObject | undefined;
  readonly isTooLarge: boolean;
  /** As of when it is there, or is not. */
  readonly resourceVersion: string;
}

/** A list and not a get: only a list says as of when the object is absent. */
async function ask(
  { doors, session, signal }: Pick<ConfirmTask, 'doors' | 'session' | 'signal'>,
  { ref }: ShownResource,
  { name, namespace }: ObjectKey,
): Promise<Asked> {
  return session.asking.pass(signal, async () => {
    const pages = doors.kube.pages(ref, {
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: `metadata.name=${name.replaceAll(/[\\,=]/g, String.raw`\$&`)}`,
      limit: 1,
      onTooLarge: 'skim',
      signal,
    });
    for await (const { items, tooLarge = [], metadata } of pages) {
      const object = items[0] ?? tooLarge[0];
      const { resourceVersion } = object?.metadata ?? metadata;
      return { object, isTooLarge: tooLarge.length > 0, resourceVersion };
    }
    throw new TypeError('a list without a page');
  });
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
