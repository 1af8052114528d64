// The content of a replica with all its indexes, and the history of addresses. Nothing here waits,
// reads a clock or calls anyone. An object may stand on two subjects during a move: lookups then
// show the message written last.
import type { Tombstone } from '../../feed/messages.ts';
import type { ObjectKey } from '../../feed/subjects.ts';
import type { Entry } from './entry.ts';
import { History, type Holder, holderOf, timeOf } from './history.ts';
import { Indexes, PODS, SLICES } from './indexes.ts';
import { type Completion, completeName } from './names.ts';
import { ownersOf, podsOf, servicesOf } from './relations.ts';
import { type Selection, satisfies } from './selector.ts';
import { Siblings, TextPool, shareTexts } from './sharing.ts';

export interface CompletionOptions {
  readonly resources?: readonly string[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly limit: number;
}

export class Catalog {
  readonly #bySubject = new Map<string, Entry>();
  #indexes: Indexes | undefined;
  readonly #siblings = new Siblings();
  readonly #history: History;
  readonly #texts = new TextPool();

  constructor({ historySeconds }: { readonly historySeconds: number }) {
    this.#history = new History(historySeconds);
  }

  get size(): number {
    return this.#bySubject.size;
  }

  get historySeconds(): number {
    return this.#history.seconds;
  }

  /** How many ended holders of addresses are remembered. */
  get pastsKept(): number {
    return this.#history.size;
  }

  setHistorySeconds(seconds: number): void {
    this.#history.seconds = seconds;
  }

  /** Takes the entry over. Answers what stood on its subject. */
  put(entry: Entry): Entry | undefined {
    const stood = this.#bySubject.get(entry.subject);
    const held = shareTexts(entry, stood, this.#siblings.of(entry), this.#texts);
    this.#bySubject.set(held.subject, held);
    this.#siblings.note(held);
    this.#indexes?.update(stood, held);
    const createdMs = timeOf(held.object.created);
    this.#history.sawTime(createdMs);
    if (stood !== undefined) this.#endAddresses(stood, held, createdMs);
    return stood;
  }

  /**
   * The tombstone says when it ended; for a subject that is not held, it is all that is known of
   * what was there.
   */
  drop(subject: string, tombstone?: Tombstone): Entry | undefined {
    const stood = this.#bySubject.get(subject);
    if (stood !== undefined) {
      this.#bySubject.delete(subject);
      this.#indexes?.update(stood, undefined);
    }
    if (tombstone?.moved === true) return stood;
    if (tombstone !== undefined) this.#history.sawTime(timeOf(tombstone.at));
    if (stood !== undefined) {
      const { latestMs } = this.#history;
      const endMs = tombstone === undefined ? latestMs : timeOf(tombstone.at) || latestMs;
      this.#history.end(holderOf(stood), endMs, stood.object.ips ?? []);
    }
    const isKnown = stood !== undefined && stood.object.uid === tombstone?.uid;
    if (tombstone !== undefined && !isKnown) this.#history.learn(subject, tombstone, this.#texts);
    return stood;
  }

  /**
   * Builds the index, which else the first lookup does: some 10 µs for each object. A replica that
   * only follows changes never pays for it.
   */
  index(): void {
    void this.#held;
  }

  entry(subject: string): Entry | undefined {
    return this.#bySubject.get(subject);
  }

  entries(): IterableIterator<Entry> {
    return this.#bySubject.values();
  }

  find(key: ObjectKey): Entry | undefined {
    return newestOf(this.#held.byKey.get(key));
  }

  byUid(uid: string): readonly Entry[] {
    return this.#newestFirst(this.#held.byUid.get(uid));
  }

  /**
   * The owner of the address comes first. Pods that share their node's address, or have ended, come
   * after.
   */
  byIp(ip: string): readonly Entry[] {
    return this.#newestFirst(this.#held.byIp.get(ip)).toSorted((a, b) => claimOf(a) - claimOf(b));
  }

  byIpAt(ip: string, timeMs: number): readonly Holder[] {
    const living = this.byIp(ip)
      .map(holderOf)
      .filter(({ fromMs }) => fromMs <= timeMs);
    const known = new Set(living.map(({ uid }) => uid));
    const past = this.#history.at(ip, timeMs).filter(({ uid }) => !known.has(uid));
    // A pod that has a node's address shares it.
    const claim = ({ kind, toMs }: Holder): number =>
      kind === 'Node' ? 0 : toMs === undefined ? 2 : 1;
    return [...past.toSorted((a, b) => b.fromMs - a.fromMs), ...living].toSorted(
      (a, b) => claim(a) - claim(b),
    );
  }

  /** With or without what runs it: `containerd://4f9e…` or `4f9e…`. */
  byContainer(id: string): Entry | undefined {
    if (id.includes('://')) return this.#newestFirst(this.#held.byContainer.get(id))[0];
    const found = [...this.#held.containerSchemes].flatMap((scheme) =>
      this.#held.byContainer.get(`${scheme}${id}`),
    );
    return this.#newestFirst(found)[0];
  }

  /** Its pods. */
  onNode(node: string): readonly Entry[] {
    return this.#newestFirst(this.#held.byNode.get(node));
  }

  ownedBy(uid: string): readonly Entry[] {
    return this.#newestFirst(this.#held.byOwner.get(uid));
  }

  /** The endpoint slices of a service, all their parts. */
  slicesOf(namespace: string, service: string): readonly Entry[] {
    return this.#newestFirst(this.#held.byService.get(`${namespace}/${service}`));
  }

  /** The endpoint slices, or the parts of them, in which a pod is an endpoint. */
  slicesWith(podUid: string): readonly Entry[] {
    return this.#newestFirst(this.#held.byEndpoint.get(podUid));
  }

  /** Its controller, that one's controller, and so on. */
  ownersOf(entry: Entry): readonly Entry[] {
    return ownersOf(this, entry);
  }

  podsOf(key: ObjectKey): readonly Entry[] {
    return podsOf(this, key);
  }

  /** The services that send to a pod. */
  servicesOf(pod: Entry): readonly Entry[] {
    return servicesOf(this, pod);
  }

  /** How many objects there are of each resource, in all or in one namespace. */
  counts(namespace?: string): Record<string, number> {
    const counts: Record<string, number> = {};
    const namespaces = namespace === undefined ? undefined : [namespace];
    for (const [resource, , names] of this.#held.byKey.leaves(undefined, namespaces)) {
      counts[resource] = (counts[resource] ?? 0) + names.size;
    }
    return counts;
  }

  *select({ resource, namespace, labels = [] }: Selection): Generator<Entry> {
    for (const entries of this.#held.byKey.within(resource, namespace)) {
      for (const entry of this.#newestFirst(entries)) {
        if (satisfies(entry.object.labels ?? {}, labels)) yield entry;
      }
    }
  }

  complete(prefix: string, { resources, namespaces, limit }: CompletionOptions): Completion[] {
    const leaves = this.#held.byKey.leaves(resources, namespaces);
    const named = leaves.map(([resource, namespace, index]) => ({
      resource,
      namespace,
      names: index.values(),
    }));
    return completeName(prefix, named, limit);
  }

  /** Made for the first lookup, and kept up from then on. */
  get #held(): Indexes {
    if (this.#indexes !== undefined) return this.#indexes;
    const indexes = new Indexes();
    for (const entry of this.#bySubject.values()) indexes.update(undefined, entry);
    this.#indexes = indexes;
    return indexes;
  }

  /** Without those that stand, written later, on another subject. */
  #newestFirst(entries: readonly Entry[]): readonly Entry[] {
    if (entries.length === 0) return entries;
    const current = entries.filter(
      (entry) => entry.key.resource === SLICES || this.find(entry.key) === entry,
    );
    return current.length < 2 ? current : current.toSorted((a, b) => b.version - a.version);
  }

  /** Another object under the same name ends the one before; the same one may lose addresses. */
  #endAddresses(stood: Entry, held: Entry, createdMs: number): void {
    const isSame = stood.object.uid === held.object.uid;
    const kept = new Set(isSame ? held.object.ips : []);
    const ended = (stood.object.ips ?? []).filter((ip) => !kept.has(ip));
    if (ended.length === 0) return;
    const endMs = isSame || createdMs === 0 ? this.#history.latestMs : createdMs;
    this.#history.end(holderOf(stood), endMs, ended);
  }
}

function newestOf(entries: readonly Entry[]): Entry | undefined {
  let newest = entries[0];
  for (const entry of entries) if (entry.version > (newest?.version ?? 0)) newest = entry;
  return newest;
}

/** A pod that is done keeps its address in its status, while another may have it already. */
function claimOf({ key, object }: Entry): number {
  if (object.phase === 'Succeeded' || object.phase === 'Failed') return 3;
  if (object.hostNetwork === true) return 2;
  return key.resource === PODS ? 0 : 1;
}
