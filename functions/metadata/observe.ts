// Reads the world for one look: the objects from the API server, what stands about them from the
// stream. The only place of this function that reads.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import type { StoredMessage, Stream } from '../../shared/nats/stream.ts';
import type { Input, Published, Tombstone } from './decide.ts';
import { type Kind, type Projection, isKind, projectNode, projectPod } from './projection.ts';
import {
  type ObjectKey,
  keyOf,
  kindFilters,
  subjectFilters,
  subjectTail,
  tailOf,
} from './subjects.ts';

export interface Doors {
  readonly kube: KubeClient;
  readonly stream: Stream;
  /** What every subject of this feed begins with. */
  readonly prefix: string;
  readonly tombstoneSeconds: number;
}

interface Source {
  readonly resource: ResourceRef;
  readonly project: (object: KubeObject) => Projection;
}

const SOURCES: Readonly<Record<Kind, Source>> = {
  Pod: { resource: { group: '', version: 'v1', resource: 'pods' }, project: projectPod },
  Node: { resource: { group: '', version: 'v1', resource: 'nodes' }, project: projectNode },
};

/** Objects per page of a sweep: a page of pods stays near 2 MB. */
const PAGE_SIZE = 500;

/** One object. A list by name and not a get: only a list says as of when the object is absent. */
export async function observeOne(
  key: ObjectKey,
  doors: Doors,
  signal: AbortSignal,
): Promise<Input> {
  const { resource, project } = SOURCES[key.kind];
  const [list, published] = await Promise.all([
    doors.kube.list(resource, {
      ...(key.namespace === '' ? {} : { namespace: key.namespace }),
      fieldSelector: `metadata.name=${key.name}`,
      signal,
    }),
    readPublished(doors, subjectFilters(key), signal),
  ]);
  const [object] = list.items;
  return {
    current: object === undefined ? undefined : project(object),
    observedAt: list.metadata.resourceVersion,
    published,
  };
}

/** Every object of a kind that the API server has, and every one that only the stream still has. */
export async function observeAll(
  kind: Kind,
  doors: Doors,
  signal: AbortSignal,
): Promise<readonly Input[]> {
  // The stream first: what is published while the list runs is then newer than what was read.
  const published = Map.groupBy(
    await readPublished(doors, kindFilters(kind), signal),
    ({ subject }) => tailOf(subject),
  );
  const current = new Map<string, Projection>();
  const { resource, project } = SOURCES[kind];
  let observedAt = '';
  for await (const page of doors.kube.pages(resource, { limit: PAGE_SIZE, signal })) {
    // All pages of a list show the state as of the first one.
    observedAt ||= page.metadata.resourceVersion;
    for (const object of page.items) {
      const projection = project(object);
      current.set(subjectTail(keyOf(projection)), projection);
    }
  }
  return [...new Set([...current.keys(), ...published.keys()])].map((key) => ({
    current: current.get(key),
    observedAt,
    published: published.get(key) ?? [],
  }));
}

async function readPublished(
  { stream, prefix }: Doors,
  filters: readonly string[],
  signal: AbortSignal,
): Promise<readonly Published[]> {
  const read = filters.map(async (filter) => {
    const published: Published[] = [];
    for await (const message of stream.read(`${prefix}.${filter}`, signal)) {
      published.push({
        ...publishedFrom(message),
        subject: message.subject.slice(prefix.length + 1),
      });
    }
    return published;
  });
  return (await Promise.all(read)).flat();
}

function publishedFrom({ subject, sequence, data }: StoredMessage): Published {
  return { subject, sequence, value: valueOf(new TextDecoder().decode(data)) };
}

/** What somebody else wrote counts as nothing: it stops no look, and is overwritten in its turn. */
const FOREIGN: Tombstone = { deleted: true, uid: '', resourceVersion: '0' };

function valueOf(text: string): Projection | Tombstone {
  try {
    const value: unknown = JSON.parse(text);
    return isOurs(value) ? value : FOREIGN;
  } catch {
    return FOREIGN;
  }
}

function isOurs(value: unknown): value is Projection | Tombstone {
  return (
    typeof value === 'object' &&
    value !== null &&
    'resourceVersion' in value &&
    typeof value.resourceVersion === 'string' &&
    ('deleted' in value || ('kind' in value && isKind(value.kind)))
  );
}
