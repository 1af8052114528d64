// Reads what the stream has about objects. What the API server has comes with the event, or is read
// by the sweep.
import { decodeMessage, isTombstone } from '../../shared/feed/messages.ts';
import { encodeToken, subjectOf } from '../../shared/feed/subjects.ts';
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import type { Published } from './decide.ts';
import type { Session } from './session.ts';
import type { LookPlan } from './sight.ts';

/** Where to look for what stands about an object. */
type Place = Pick<LookPlan, 'key' | 'subjects'>;

export function publishedFrom(
  prefix: string,
  { subject, sequence, data }: StoredMessage,
): Published {
  return { subject: subject.slice(prefix.length + 1), sequence, message: decodeMessage(data) };
}

/** What stands on these subjects. */
export async function readSubjects(
  { feed: { prefix }, stream }: Session,
  subjects: readonly string[],
  signal: AbortSignal,
): Promise<readonly Published[]> {
  const full = subjects.map((subject) => `${prefix}.${subject}`);
  const stored = await stream.last(full, signal);
  return [...stored.values()].map((message) => publishedFrom(prefix, message));
}

/** What stands about each of these, in their order. */
export async function readPublished(
  session: Session,
  plans: readonly Place[],
  signal: AbortSignal,
): Promise<readonly (readonly Published[])[]> {
  const read = async (subjects: readonly string[]): Promise<ReadonlyMap<string, Published>> => {
    const found = await readSubjects(session, subjects, signal);
    return new Map(found.map((entry) => [entry.subject, entry]));
  };
  const first = await read(plans.flatMap(({ subjects }) => subjects));
  const further = plans.map((plan) => partsElsewhere(plan, first));
  const more = further.flat();
  const second = more.length === 0 ? new Map<string, Published>() : await read(more);
  return plans.map(({ subjects }, index) =>
    [...subjects, ...(further[index] ?? [])].flatMap(
      (subject) => first.get(subject) ?? second.get(subject) ?? [],
    ),
  );
}

/** What stands about one object, read now and remembered. */
export async function readOne(
  session: Session,
  plan: LookPlan,
  signal: AbortSignal,
): Promise<readonly Published[]> {
  const [published = []] = await readPublished(session, [plan], signal);
  for (const subject of plan.subjects) {
    session.recent.note(
      subject,
      published.find((entry) => entry.subject === subject),
    );
  }
  return published;
}

/** What stands about it as far as this instance remembers all of it. */
export function recentlyPublished(
  { recent }: Session,
  plan: LookPlan,
): readonly Published[] | undefined {
  const known = recent.find(plan.subjects);
  if (known === undefined) return undefined;
  const further = partsElsewhere(plan, new Map(known.map((entry) => [entry.subject, entry])));
  const parts = recent.find(further);
  return parts && [...known, ...parts];
}

/** The head of an endpoint slice names the nodes that hold a part of it. */
function partsElsewhere(
  { key, subjects }: Place,
  published: ReadonlyMap<string, Published>,
): readonly string[] {
  const head = published.get(subjectOf('cluster', key))?.message;
  if (head === undefined || isTombstone(head)) return [];
  return (head.nodes ?? [])
    .map((node) => subjectOf({ node }, key))
    .filter((subject) => !subjects.includes(subject));
}

/** Every subject on which objects of this resource stand. */
export const resourceFilter = (prefix: string, resource: string): string =>
  `${prefix}.*.*.${encodeToken(resource)}.*.*`;
