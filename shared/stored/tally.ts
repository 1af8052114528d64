// Counts stored values by resource, version and encoding, with the names of a few of them, and
// collects the definitions of custom resources on the way. What cannot be read, or lies elsewhere,
// is counted and named too.
import { BUILT_IN_GROUPS } from './built-in.ts';
import { type Definition, definitionIn } from './crd.ts';
import { encodingOf, type Stored, type UnreadableValue } from './encoding.ts';
import { FirstNames } from './first-names.ts';
import {
  CRDS,
  type GroupResource,
  isCustom,
  type Place,
  placeOf,
  prefixOfDefinition,
  resourceName,
  shownName,
} from './place.ts';
import type { StoredValue } from './value.ts';

export interface TallyOptions {
  readonly prefixes: readonly string[];
  /** All when absent; the definitions are read in any case. */
  readonly resources?: readonly GroupResource[] | undefined;
  readonly examplesMax: number;
}

/** Values that are alike in everything but their names. */
export interface Row extends GroupResource {
  /**
   * As in apiVersion, without the group where it is the resource's own. Undefined when it cannot
   * be told.
   */
  readonly version: string | undefined;
  readonly encoding: Stored['encoding'];
  /** Only of encrypted values: `aescbc:v1`, and the name of the key. */
  readonly provider: string | undefined;
  readonly keyName: string | undefined;
  readonly count: number;
  /** The first names in the order of their bytes, as `namespace/name`. */
  readonly examples: readonly string[];
}

interface Cell extends Omit<Row, 'count' | 'examples'> {
  count: number;
  readonly names: FirstNames;
}

export class Tally {
  readonly #options: TallyOptions;
  /** The longest first: one may begin as another does. */
  readonly #prefixes: readonly string[];
  readonly #cells = new Map<string, Cell>();
  readonly #definitions: Definition[] = [];
  readonly #customs = new Set<string>();
  readonly #otherPrefixes = new Set<string>();
  readonly #unreadable: FirstNames;
  readonly #elsewhere: FirstNames;
  #unreadableCount = 0;
  #elsewhereCount = 0;
  #count = 0;
  #placedCount = 0;
  #hasHiddenDefinition = false;

  constructor(options: TallyOptions) {
    this.#options = options;
    this.#prefixes = options.prefixes.toSorted((a, b) => b.length - a.length);
    this.#unreadable = new FirstNames(options.examplesMax);
    this.#elsewhere = new FirstNames(options.examplesMax);
  }

  add(value: StoredValue): void {
    const place = placeOf(value.key, this.#prefixes);
    if (place === undefined) {
      this.#elsewhereCount += 1;
      return this.#elsewhere.add(value.key);
    }
    this.#placedCount += 1;
    const isDefinition = isOf(place, CRDS);
    const isWanted = this.#isWanted(place);
    if (!isWanted && !isDefinition) return;
    const whole = (): Uint8Array => value.whole();
    const stored = encodingOf(value.head, whole);
    if (isDefinition) this.#define(stored, whole);
    if (isWanted) this.#countIn(value.key, place, stored);
  }

  /** Values under the prefixes, of the resources that were asked for. */
  get count(): number {
    return this.#count;
  }

  /** Keys under the prefixes, of whatever. */
  get placedCount(): number {
    return this.#placedCount;
  }

  get definitions(): readonly Definition[] {
    return this.#definitions;
  }

  /** A definition is there that cannot be read: of which resource is not known either. */
  get hasHiddenDefinition(): boolean {
    return this.#hasHiddenDefinition;
  }

  /** Whether a CustomResourceDefinition has to say in which version it is written. */
  isCustom(row: GroupResource): boolean {
    return this.#customs.has(resourceName(row));
  }

  /** Under which definitions are that were not taken for such. */
  get otherPrefixes(): readonly string[] {
    return [...this.#otherPrefixes];
  }

  /** Examples are whole keys with the reason. */
  get unreadable(): Named {
    return { count: this.#unreadableCount, examples: this.#unreadable.list() };
  }

  /** Keys under none of the prefixes. */
  get elsewhere(): Named {
    return { count: this.#elsewhereCount, examples: this.#elsewhere.list() };
  }

  rows(): readonly Row[] {
    const rows = [...this.#cells.values()].map(({ names, ...row }) => ({
      ...row,
      examples: names.list(),
    }));
    return rows.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }

  #isWanted(place: Place): boolean {
    const { resources } = this.#options;
    return resources === undefined || resources.some((each) => isOf(place, each));
  }

  #define(stored: Stored, whole: () => Uint8Array): void {
    const definition = definitionIn(stored, whole);
    if (definition === undefined) this.#hasHiddenDefinition = true;
    else this.#definitions.push(definition);
  }

  #countIn(key: string, place: Place, stored: Stored): void {
    this.#count += 1;
    const prefix = isOf(place, CRDS) ? undefined : prefixOfDefinition(key);
    if (prefix !== undefined) this.#otherPrefixes.add(prefix);
    if (stored.encoding === 'unreadable') this.#tellUnreadable(key, stored);
    const cell = this.#cellOf(place, stored);
    cell.count += 1;
    cell.names.add(shownName(place));
  }

  #tellUnreadable(key: string, { why }: UnreadableValue): void {
    this.#unreadableCount += 1;
    this.#unreadable.add(`${key} ${why}`);
  }

  #cellOf(place: Place, stored: Stored): Cell {
    const apiVersion = 'apiVersion' in stored ? stored.apiVersion : undefined;
    const [provider, keyName] =
      stored.encoding === 'encrypted' ? [stored.provider, stored.keyName] : [];
    const at = [place.group, place.resource, stored.encoding, apiVersion, provider, keyName];
    const id = at.join(' ');
    const known = this.#cells.get(id);
    if (known !== undefined) return known;
    const { resource } = place;
    const group = place.group ?? groupOf(apiVersion ?? '');
    const version = versionOf({ group, resource }, stored);
    const names = new FirstNames(this.#options.examplesMax);
    const { encoding } = stored;
    const cell = { group, resource, version, encoding, provider, keyName, count: 0, names };
    this.#cells.set(id, cell);
    if (isCustom(place)) this.#customs.add(resourceName(cell));
    return cell;
  }
}

export interface Named {
  readonly count: number;
  readonly examples: readonly string[];
}

export const isOf = (
  place: Pick<Place, 'group' | 'resource'>,
  { group, resource }: GroupResource,
): boolean => place.resource === resource && (place.group === undefined || place.group === group);

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.lastIndexOf('/')) : '';

function versionOf({ group, resource }: GroupResource, stored: Stored): string | undefined {
  if (stored.encoding === 'unreadable') return undefined;
  if (stored.encoding === 'encrypted') {
    // The core group has one version, in whatever a value of it is wrapped.
    return group === '' && BUILT_IN_GROUPS[resource] === '' ? 'v1' : undefined;
  }
  const { apiVersion } = stored;
  return groupOf(apiVersion) === group
    ? apiVersion.slice(group === '' ? 0 : group.length + 1)
    : apiVersion;
}

const orderOf = ({ group, resource, version = '~', encoding, provider, keyName }: Row): string =>
  [group, resource, version, encoding, provider ?? '', keyName ?? ''].join(' ');
