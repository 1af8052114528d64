// Reads what the stream has about objects. What the API server has is live about a single object
// (ask.ts), or read by the sweep.
import { decodeMessage, isTombstone } from '../../shared/feed/messages.ts';
import { type ObjectKey, encodeToken, subjectOf } from '../../shared/feed/subjects.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Freshness } from '../../shared/kube/reads.ts';
import type { PageSize } from '../../shared/kube/page-size.ts';
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import type { Published } from './decide.ts';
import type { FeedTask } from './deps.ts';
import type { ShownResource } from './feed.ts';
import type { Placement } from './observation.ts';
import type { Session } from './session.ts';

/** Of these the server finds each by itself, and together they stay small. */
const FEW = 4;

/** Where to look for what stands about an object. */
type Place = Pick<Placement, 'key' | 'subjects'>;

export function publishedFrom(
  prefix: string,
  { subject, sequence, data }: StoredMessage,
): Published {
  return {
    subject: subject.slice(prefix.length + 1),
    sequence,
    bytes: data.byteLength,
    message: decodeMessage(data),
  };
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
  const read: Read = (subjects) => readSubjects(session, subjects, signal);
  return (await readWith(read, plans)) ?? [];
}

/** Undefined when it is more than may be read. */
type Read = (subjects: readonly string[]) => Promise<readonly Published[] | undefined>;

/** First where each may stand, and then where its head says that there is more. */
async function readWith(
  read: Read,
  plans: readonly Place[],
): Promise<readonly (readonly Published[])[] | undefined> {
  const found = await read(plans.flatMap(({ subjects }) => subjects));
  if (found === undefined) return undefined;
  const first = new Map(found.map((entry) => [entry.subject, entry]));
  const further = plans.map((plan) => partsElsewhere(plan, first));
  const more = further.flat();
  const parts = more.length === 0 ? [] : await read(more);
  if (parts === undefined) return undefined;
  const second = new Map(parts.map((entry) => [entry.subject, entry]));
  return plans.map(({ subjects }, index) =>
    [...subjects, ...(further[index] ?? [])].flatMap(
      (subject) => first.get(subject) ?? second.get(subject) ?? [],
    ),
  );
}

/** The same; undefined when it is more than a page may weigh, and fewer can be live about. */
export async function readPublishedWithin(
  session: Session,
  plans: readonly Place[],
  size: PageSize,
  signal: AbortSignal,
): Promise<readonly (readonly Published[])[] | undefined> {
  const { prefix } = session.feed;
  if (plans.length <= FEW) return readPublished(session, plans, signal);
  const { bytesMax } = size;
  let bytes = 0;
  const found = await readWith(async (subjects) => {
    const full = subjects.map((subject) => `${prefix}.${subject}`);
    const stored = await session.stream.lastWithin(full, bytesMax - bytes, signal);
    if (stored === undefined) return undefined;
    const published = [...stored.values()].map((message) => publishedFrom(prefix, message));
    bytes += published.reduce((sum, entry) => sum + entry.bytes, 0);
    return published;
  }, plans);
  if (found !== undefined) size.came(plans.length, bytes);
  return found;
}

/** What stands about one object, read now and remembered. */
export async function readOne(
  session: Session,
  plan: Placement,
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
export function cachedPublished(
  { recent }: Session,
  plan: Placement,
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

export interface LiveRead {
  readonly object: KubeObject | undefined;
  readonly isTooLarge: boolean;
  /** As of when it is as it is: its own version, or that of the list that lacks it. */
  readonly resourceVersion: string;
  /** As of when the API server looked. */
  readonly asOf: string;
}

export async function readLive(
  { deps, session, signal }: FeedTask,
  { ref }: ShownResource,
  { name, namespace }: ObjectKey,
  freshness: Freshness,
): Promise<LiveRead> {
  return session.asking.take(async () => {
    const pages = deps.kube.pages(ref, {
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: `metadata.name=${name.replaceAll(/[\\,=]/g, String.raw`\$&`)}`,
      limit: 1,
      freshness,
      onTooLarge: 'skim',
      signal,
    });
    for await (const { items, tooLarge = [], metadata } of pages) {
      const object = items[0] ?? tooLarge[0];
      const { resourceVersion: asOf } = metadata;
      const { resourceVersion } = object?.metadata ?? metadata;
      return { object, isTooLarge: tooLarge.length > 0, resourceVersion, asOf };
    }
    throw new TypeError('a list without a page');
  }, signal);
}
