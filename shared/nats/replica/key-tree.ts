// Entries by resource, namespace and name: for one object, for all of a kind or a namespace, and
// for the names that begin with something. No key is spelled out, so that none costs a string.
import type { ObjectKey } from '../../feed/subjects.ts';
import { EntryIndex } from './by-value.ts';
import type { Entry } from './entry.ts';

type Spaces = Map<string, EntryIndex>;

export class KeyTree {
  readonly #resources = new Map<string, Spaces>();

  get({ resource, namespace, name }: ObjectKey): readonly Entry[] {
    return this.#resources.get(resource)?.get(namespace)?.get(name) ?? [];
  }

  add(entry: Entry): void {
    const { resource, namespace, name } = entry.key;
    const spaces: Spaces = this.#resources.get(resource) ?? new Map();
    const names = spaces.get(namespace) ?? new EntryIndex();
    names.add(name, entry);
    spaces.set(namespace, names);
    this.#resources.set(resource, spaces);
  }

  /** Both have the same key. */
  replace(entry: Entry, by: Entry): void {
    const { resource, namespace, name } = entry.key;
    this.#resources.get(resource)?.get(namespace)?.replace(name, entry, by);
  }

  remove(entry: Entry): void {
    const { resource, namespace, name } = entry.key;
    const spaces = this.#resources.get(resource);
    const names = spaces?.get(namespace);
    names?.remove(name, entry);
    if (names?.size === 0) spaces?.delete(namespace);
    if (spaces?.size === 0) this.#resources.delete(resource);
  }

  /** Everything, or what is of one resource, or in one namespace, or both. */
  *within(resource?: string, namespace?: string): Generator<readonly Entry[]> {
    for (const [, , names] of this.leaves(asList(resource), asList(namespace))) {
      for (const name of names.values()) yield names.get(name);
    }
  }

  /** `[resource, namespace, names]` for those asked for, or for all. */
  *leaves(
    resources: readonly string[] | undefined,
    namespaces: readonly string[] | undefined,
  ): Generator<readonly [string, string, EntryIndex]> {
    for (const resource of resources ?? this.#resources.keys()) {
      const spaces: Spaces = this.#resources.get(resource) ?? new Map();
      for (const namespace of namespaces ?? spaces.keys()) {
        const names = spaces.get(namespace);
        if (names !== undefined) yield [resource, namespace, names];
      }
    }
  }
}

const asList = (value: string | undefined): readonly string[] | undefined =>
  value === undefined ? undefined : [value];
