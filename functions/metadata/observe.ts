// Reads both sides: the messages that the stream has about objects, and one object in the API
// server. The sweep reads lists and histories of the API server itself (replay.ts, list-probe.ts).
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

/** The NATS server finds each of so few by itself, and together they stay small. */
const FEW = 4;

/** The subjects on which an object's messages may stand. */
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

/** The messages on these subjects. */
export async function readSubjects(
  { feed: { prefix }, stream }: Session,
  subjects: readonly string[],
  signal: AbortSignal,
): Promise<readonly Published[]> {
  const full = subjects.map((subject) => `${prefix}.${subject}`);
  const stored = await stream.last(full, signal);
  return [...stored.values()].map((message) => publishedFrom(prefix, message));
}

/** The messages of each object, in the order of the placements. */
export async function readPublished(
  session: Session,
  placements: readonly Place[],
  signal: AbortSignal,
): Promise<readonly (readonly Published[])[]> {
  const read: Read = (subjects) => readSubjects(session, subjects, signal);
  return (await readWith(read, placements)) ?? [];
}

/** Undefined when the messages weigh more than the caller allows. */
type Read = (subjects: readonly string[]) => Promise<readonly Published[] | undefined>;

/** Reads the known subjects first, and then those that a head names. */
async function readWith(
  read: Read,
  placements: readonly Place[],
): Promise<readonly (readonly Published[])[] | undefined> {
  const found = await read(placements.flatMap(({ subjects }) => subjects));
  if (found === undefined) return undefined;
  const first = new Map(found.map((entry) => [entry.subject, entry]));
  const further = placements.map((placement) => partsElsewhere(placement, first));
  const more = further.flat();
  const parts = more.length === 0 ? [] : await read(more);
  if (parts === undefined) return undefined;
  const second = new Map(parts.map((entry) => [entry.subject, entry]));
  return placements.map(({ subjects }, index) =>
    [...subjects, ...(further[index] ?? [])].flatMap(
      (subject) => first.get(subject) ?? second.get(subject) ?? [],
    ),
  );
}

/**
 * The same within the weight of one page. Undefined when the messages weigh more; the caller then
 * reads fewer objects at once.
 */
export async function readPublishedWithin(
  session: Session,
  placements: readonly Place[],
  size: PageSize,
  signal: AbortSignal,
): Promise<readonly (readonly Published[])[] | undefined> {
  const { prefix } = session.feed;
  if (placements.length <= FEW) return readPublished(session, placements, signal);
  const { bytesMax } = size;
  let bytes = 0;
  const found = await readWith(async (subjects) => {
    const full = subjects.map((subject) => `${prefix}.${subject}`);
    const stored = await session.stream.lastWithin(full, bytesMax - bytes, signal);
    if (stored === undefined) return undefined;
    const published = [...stored.values()].map((message) => publishedFrom(prefix, message));
    bytes += published.reduce((sum, entry) => sum + entry.bytes, 0);
    return published;
  }, placements);
  if (found !== undefined) size.came(placements.length, bytes);
  return found;
}

/** The messages of one object, read now and cached. */
export async function readOne(
  session: Session,
  placement: Placement,
  signal: AbortSignal,
): Promise<readonly Published[]> {
  const [published = []] = await readPublished(session, [placement], signal);
  for (const subject of placement.subjects) {
    session.publishedCache.note(
      subject,
      published.find((entry) => entry.subject === subject),
    );
  }
  return published;
}

/** The messages of one object from the cache; undefined unless the cache has all of them. */
export function cachedPublished(
  { publishedCache }: Session,
  placement: Placement,
): readonly Published[] | undefined {
  const known = publishedCache.find(placement.subjects);
  if (known === undefined) return undefined;
  const further = partsElsewhere(placement, new Map(known.map((entry) => [entry.subject, entry])));
  const parts = publishedCache.find(further);
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

/** The filter for all subjects of a resource. */
export const resourceFilter = (prefix: string, resource: string): string =>
  `${prefix}.*.*.${encodeToken(resource)}.*.*`;

export interface LiveRead {
  readonly object: KubeObject | undefined;
  readonly isTooLarge: boolean;
  /** The object's own version, or that of the list that lacks it. */
  readonly resourceVersion: string;
  /** The version of the list, which says how stale the answer may be. */
  readonly asOf: string;
}

export async function readLive(
  { deps, session, signal }: FeedTask,
  { ref }: ShownResource,
  { name, namespace }: ObjectKey,
  freshness: Freshness,
): Promise<LiveRead> {
  return session.liveReadSlots.take(async () => {
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
