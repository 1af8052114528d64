// Reads from the API server the objects that history did not confirm. Most of them changed after
// the history was read; now and then somebody wrote a message without ground.
import { type ObjectKey, parseSubject, subjectOf } from '../../shared/feed/subjects.ts';
import type { EpochTask } from './deps.ts';
import type { ShownResource } from './feed.ts';
import { project } from './observation.ts';
import { readLive, readPublished, readSubjects } from './observe.ts';
import { isName } from './parse-event.ts';
import {
  type Outcome,
  reconcileLive,
  type Unverified,
  writeTombstone,
} from './reconcile-object.ts';
import type { Session } from './session.ts';

/**
 * The outcome of each write. A message written after `before` may be newer than the API server's
 * answer, so it is left alone.
 */
export async function verifyLive(
  task: EpochTask & { readonly before: number },
  resource: ShownResource,
  { key, subjects: unverifiedSubjects }: Unverified,
): Promise<readonly Outcome[]> {
  const { deps: _doors, session, signal, before, ...moment } = task;
  if (!canExist(resource, key)) return endImpossible(task, unverifiedSubjects);
  const { object, isTooLarge, resourceVersion } = await readLive(task, resource, key, 'latest');
  const outcomes: Outcome[] = [];
  const head = subjectOf('cluster', key);
  // An object that is gone ends with all the parts that its head names, confirmed or not.
  const rest = new Set(object === undefined ? [...unverifiedSubjects, head] : unverifiedSubjects);
  if (object !== undefined) {
    const observation = { resource, object, isGone: false, isTooLarge, resourceVersion };
    const projection = project(session.feed, observation, moment.epoch);
    for (const subject of projection.placement.subjects) rest.delete(subject);
    outcomes.push(
      (await reconcileLive(session, projection, { ...moment, before }, signal)).outcome,
    );
  }
  const places = [{ key, subjects: [...rest] }];
  const [found = []] = await readPublished(session, places, signal);
  // The head comes last: while it stands, a retry finds the other parts by it.
  for (const entry of found.toSorted(
    (a, b) => Number(a.subject === head) - Number(b.subject === head),
  )) {
    // Written by another instance since: the next sweep verifies it.
    if (entry.sequence > before) continue;
    const options = { ...moment, resourceVersion, isAuthoritative: true };
    outcomes.push((await writeTombstone(session, entry, options, signal)).outcome);
  }
  return outcomes;
}

const NEVER_IN_A_NAMESPACE = /[^-a-z0-9]/;

/**
 * False for names that the API server would not even take in a request: a stranger wrote the
 * message.
 */
function canExist({ isNamespaced }: ShownResource, { namespace, name }: ObjectKey): boolean {
  if (NEVER_IN_A_NAMESPACE.test(namespace) || !isName(name)) return false;
  return isNamespaced === undefined || isNamespaced === (namespace !== '');
}

async function endImpossible(
  { session, signal, before, ...moment }: EpochTask & { readonly before: number },
  unverifiedSubjects: ReadonlySet<string>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const entry of await readSubjects(session, [...unverifiedSubjects], signal)) {
    if (entry.sequence > before) continue;
    const { resourceVersion = '0' } = entry.message ?? {};
    const options = { ...moment, resourceVersion, isAuthoritative: true };
    outcomes.push((await writeTombstone(session, entry, options, signal)).outcome);
  }
  return outcomes;
}

export interface Range {
  /** The last sequence that was confirmed. */
  readonly after: number;
  readonly upTo: number;
}

/** Messages from this range of sequences that are not confirmed, by object. */
export async function unverifiedIn(
  session: Session,
  { after, upTo }: Range,
  isConfirmed: (subject: string, sequence: number) => boolean,
  signal: AbortSignal,
): Promise<readonly Unverified[]> {
  const { prefix } = session.feed;
  const unverified = new Map<string, Unverified>();
  for await (const { subject, sequence } of session.stream.read(`${prefix}.>`, signal, after + 1)) {
    if (sequence > upTo) break;
    const place = subject.slice(prefix.length + 1);
    const key = parseSubject(place)?.key;
    if (key === undefined || isConfirmed(place, sequence)) continue;
    const name = `${key.resource} ${key.namespace}/${key.name}`;
    const unverifiedObject = unverified.get(name) ?? { key, subjects: new Set<string>() };
    unverifiedObject.subjects.add(place);
    unverified.set(name, unverifiedObject);
  }
  return [...unverified.values()];
}
