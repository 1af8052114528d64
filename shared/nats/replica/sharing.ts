// Thousands of objects hold the same few values: namespaces, nodes, images, the labels of a
// ReplicaSet. Each decoded message has its own copies; here they become one.
import type { ContainerMessage, ObjectMessage, OwnerMessage } from '../../feed/messages.ts';
import type { Place } from '../../feed/subjects.ts';
import type { Entry } from './entry.ts';

/** Longer texts, such as messages, are rarely said twice. */
const TEXT_LENGTH_MAX = 256;
/** Texts of one generation: a cluster's images, nodes and label values; 200 bytes each at most. */
const GENERATION_MAX = 20_000;

/** Texts by their content. A text that was not used during two generations is dropped. */
export class TextPool {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  share(text: string): string {
    if (text.length > TEXT_LENGTH_MAX) return text;
    const known = this.#young.get(text) ?? this.#old.get(text) ?? text;
    this.#young.set(known, known);
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    return known;
  }
}

/**
 * About as many as a cluster has workloads and nodes. A sibling that was dropped is learned again.
 */
const SIBLINGS_MAX = 5_000;
/** Labels of all siblings together: about a dozen each. A tenant may give one pod ten thousand. */
const LABELS_MAX = 60_000;

/** The values that objects of one owner, or of one node, have in common. */
export interface Sibling {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly owner: OwnerMessage | undefined;
  readonly place: Place;
}

/** The last seen object of each owner, and of each node for objects without an owner. */
export class Siblings {
  readonly #last = new Map<string, Sibling>();
  #labels = 0;

  of({ object: { owner, node = '' } }: Entry): Sibling | undefined {
    return this.#last.get(owner?.uid ?? node);
  }

  note(entry: Entry): void {
    const { owner, node, labels } = entry.object;
    const name = owner?.uid ?? node;
    if (name === undefined) return;
    this.#labels += countOf(labels) - countOf(this.#last.get(name)?.labels);
    if (this.#last.size >= SIBLINGS_MAX || this.#labels > LABELS_MAX) {
      this.#last.clear();
      this.#labels = countOf(labels);
    }
    this.#last.set(name, siblingOf(entry));
  }
}

const siblingOf = ({ object: { labels, owner }, place }: Entry): Sibling => ({
  labels,
  owner,
  place,
});

const countOf = (labels: Sibling['labels']): number => Object.keys(labels ?? {}).length;

type Open<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/**
 * The same entry, sharing what it can: with what stood in its place, with a sibling and with the
 * pool. The object is taken over: its texts are replaced by equal ones.
 */
export function shareTexts(
  entry: Entry,
  stood: Entry | undefined,
  sibling: Sibling | undefined,
  pool: TextPool,
): Entry {
  const { version, fingerprint, key } = entry;
  const object: Open<ObjectMessage> = entry.object;
  const like = sibling ?? (stood && siblingOf(stood));
  object.kind = pool.share(object.kind);
  if (object.namespace !== undefined) object.namespace = pool.share(object.namespace);
  if (object.node !== undefined) object.node = pool.share(object.node);
  if (object.service !== undefined) object.service = pool.share(object.service);
  for (const container of object.containers ?? []) shareContainer(container, pool);
  if (object.labels !== undefined) {
    object.labels = shareRecord(object.labels, like?.labels, pool);
  }
  if (object.owner !== undefined) object.owner = shareOwner(object.owner, like?.owner);
  if (stood !== undefined) shareOwn(object, stood.object);
  return {
    subject: stood?.subject ?? entry.subject,
    version,
    fingerprint,
    key: stood?.key ?? {
      resource: pool.share(key.resource),
      namespace: pool.share(key.namespace),
      name: object.name === key.name ? object.name : key.name,
    },
    place: stood?.place ?? sharePlace(entry.place, like?.place, pool),
    object,
  };
}

/** The indexes go on holding the texts of the object before, which a second copy would double. */
function shareOwn(object: Open<ObjectMessage>, stood: ObjectMessage): void {
  if (object.name === stood.name) object.name = stood.name;
  if (object.uid === stood.uid) object.uid = stood.uid;
  const { ips } = stood;
  const isSame = ips?.length === object.ips?.length;
  if (ips !== undefined && isSame && ips.every((ip, at) => ip === object.ips?.[at])) {
    object.ips = ips;
  }
  for (const [at, container] of (object.containers ?? []).entries()) {
    const open: Open<ContainerMessage> = container;
    const id = stood.containers?.[at]?.id;
    if (id !== undefined && id === container.id) open.id = id;
  }
}

function shareOwner(owner: OwnerMessage, known: OwnerMessage | undefined): OwnerMessage {
  const isSame = known?.uid === owner.uid && known.name === owner.name;
  return isSame && known.kind === owner.kind ? known : owner;
}

function shareContainer(container: Open<ContainerMessage>, pool: TextPool): void {
  container.name = pool.share(container.name);
  container.image = pool.share(container.image);
}

function shareRecord(
  record: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>> | undefined,
  pool: TextPool,
): Readonly<Record<string, string>> {
  const names = Object.keys(record);
  const isSame =
    other !== undefined &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && other[name] === record[name]);
  if (isSame) return other;
  const own: Record<string, string> = record;
  for (const name of names) {
    const text = record[name];
    if (text !== undefined) own[name] = pool.share(text);
  }
  return own;
}

function sharePlace(place: Place, other: Place | undefined, pool: TextPool): Place {
  if (typeof place === 'string') return place;
  if (typeof other === 'object' && other.node === place.node) return other;
  return { node: pool.share(place.node) };
}
