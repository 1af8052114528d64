// All ways in which a catalog finds an entry, kept up together: what one change of an object leaves
// as it was is not touched.
import { EntryIndex } from './by-value.ts';
import type { Entry } from './entry.ts';
import { KeyTree } from './key-tree.ts';

export const PODS = 'pods';
/** The one kind of which an object stands on many subjects for good: a part on each node. */
export const SLICES = 'endpointslices';

export class Indexes {
  readonly byKey = new KeyTree();
  readonly byUid = new EntryIndex();
  readonly byIp = new EntryIndex();
  readonly byContainer = new EntryIndex();
  readonly byNode = new EntryIndex();
  readonly byOwner = new EntryIndex();
  /** Endpoint slices by `namespace/service`. */
  readonly byService = new EntryIndex();
  /** Endpoint slices by the uid of a pod among their endpoints. */
  readonly byEndpoint = new EntryIndex();
  /** `containerd://` and the like, as far as seen. */
  readonly containerSchemes = new Set<string>();
  readonly #all: readonly (readonly [EntryIndex, (entry: Entry) => readonly string[]])[] = [
    [this.byUid, ({ object }) => [object.uid]],
    [this.byIp, ({ object }) => distinct(object.ips)],
    [this.byContainer, containersOf],
    [this.byNode, ({ key, object }) => (key.resource === PODS ? present(object.node) : NOTHING)],
    [this.byOwner, ({ object }) => present(object.owner?.uid)],
    [this.byService, serviceOf],
    [this.byEndpoint, endpointsOf],
  ];

  /** Both are of one subject, and so of one key. */
  update(stood: Entry | undefined, held: Entry | undefined): void {
    if (stood !== undefined && held !== undefined) this.byKey.replace(stood, held);
    else if (held !== undefined) this.byKey.add(held);
    else if (stood !== undefined) this.byKey.remove(stood);
    for (const [index, valuesOf] of this.#all) {
      const before = stood === undefined ? NOTHING : valuesOf(stood);
      const after = held === undefined ? NOTHING : valuesOf(held);
      change(index, { entry: stood, values: before }, { entry: held, values: after });
    }
    for (const id of held === undefined ? NOTHING : containersOf(held)) {
      const end = id.indexOf('://');
      this.containerSchemes.add(id.slice(0, end === -1 ? 0 : end + 3));
    }
  }
}

interface Side {
  readonly entry: Entry | undefined;
  readonly values: readonly string[];
}

function change(index: EntryIndex, before: Side, after: Side): void {
  const stood = before.entry;
  const held = after.entry;
  const isKept = isAmong(after.values);
  const isOld = isAmong(before.values);
  if (stood !== undefined) {
    for (const value of before.values) if (!isKept(value)) index.remove(value, stood);
  }
  if (held === undefined) return;
  for (const value of after.values) {
    if (stood !== undefined && isOld(value)) index.replace(value, stood, held);
    else index.add(value, held);
  }
}

/** Above this, values are looked up in a set: endpoint slices hold a hundred and more. */
const SCAN_MAX = 8;

function isAmong(values: readonly string[]): (value: string) => boolean {
  if (values.length <= SCAN_MAX) return (value) => values.includes(value);
  const all = new Set(values);
  return (value) => all.has(value);
}

const NOTHING: readonly string[] = [];

const present = (value: string | undefined): readonly string[] =>
  value === undefined ? NOTHING : [value];

function distinct(values: readonly string[] = NOTHING): readonly string[] {
  return values.length < 2 ? values : [...new Set(values)];
}

function containersOf({ object }: Entry): readonly string[] {
  const { containers } = object;
  return containers === undefined ? NOTHING : distinct(containers.flatMap(({ id }) => present(id)));
}

function serviceOf({ key, object }: Entry): readonly string[] {
  if (key.resource !== SLICES || object.service === undefined) return NOTHING;
  return [`${key.namespace}/${object.service}`];
}

function endpointsOf({ key, object }: Entry): readonly string[] {
  if (key.resource !== SLICES || object.endpoints === undefined) return NOTHING;
  return distinct(object.endpoints.flatMap(({ pod }) => present(pod?.uid)));
}
