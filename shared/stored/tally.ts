// Counts stored values by resource, version and encoding, with the names of a few of them, and
// collects the definitions of custom resources on the way. Unreadable and misplaced values are
// counted and named too.
import { type Definition, definitionIn } from './crd.ts';
import { encodingOf, type Stored } from './encoding.ts';
import { FirstNames } from './first-names.ts';
import {
  CRDS,
  groupOf,
  isBuiltIn,
  type Place,
  placeOf,
  prefixOfDefinition,
  shownName,
  USUAL_PREFIXES,
} from './place.ts';
import type { GroupResource } from './built-in.ts';
import type { StoredValue } from './value.ts';

export interface TallyOptions {
  readonly prefixes: readonly string[];
  /** All when absent; the definitions are read in any case. */
  readonly resources?: readonly GroupResource[] | undefined;
  readonly examplesMax: number;
  /** Whether an object under none of the prefixes is to be told from anything else. */
  readonly looksElsewhere: boolean;
}

/** Values that are alike in everything but their names. */
export interface Row extends GroupResource {
  /** The stored version with its group. Undefined when it cannot be told. */
  readonly apiVersion: string | undefined;
  readonly encoding: Stored['encoding'];
  /** Only of encrypted values: `aescbc:v1`, and the name of the key. */
  readonly provider: string | undefined;
  readonly keyName: string | undefined;
  readonly count: number;
  /** The first names in the order of their bytes, as `namespace/name`. */
  readonly examples: readonly string[];
}

type Cell = Counted & Omit<Row, 'count' | 'examples'>;

export class Tally {
  readonly #options: TallyOptions;
  /** The longest first: one may begin as another does. */
  readonly #prefixes: readonly string[];
  /** Names that end as a group does. */
  readonly #groupPrefixes: readonly string[];
  readonly #cells = new Map<string, Cell>();
  readonly #definitions: Definition[] = [];
  readonly #fields = new Map<string, Map<string, Counted>>();
  readonly #otherPrefixes = new Set<string>();
  readonly #unreadable: FirstNames;
  readonly #elsewhere: FirstNames;
  #unreadableCount = 0;
  #elsewhereCount = 0;
  #strayCount = 0;
  #count = 0;
  #placedCount = 0;
  #hasHiddenDefinition = false;

  constructor(options: TallyOptions) {
    this.#options = options;
    this.#prefixes = options.prefixes.toSorted((a, b) => b.length - a.length);
    this.#groupPrefixes = options.prefixes.filter(
      (prefix) => /[.][^/]*$/.test(prefix) && !USUAL_PREFIXES.includes(prefix),
    );
    this.#unreadable = this.#newNames();
    this.#elsewhere = this.#newNames();
  }

  add(value: StoredValue): void {
    const place = placeOf(value.key, this.#prefixes);
    if (place === undefined) return this.#addElsewhere(value);
    this.#placedCount += 1;
    if (place.resource === '') return this.#addNameless(value.key);
    const isDefinition = isOf(place, CRDS);
    const isWanted = this.#isWanted(place);
    if (!isWanted && !isDefinition) return;
    const whole = (): Uint8Array => value.whole();
    const stored = encodingOf(value.head, whole);
    if (isDefinition) this.#define(place.name, stored, whole);
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

  /** Objects of custom resources whose managedFields name a version, by version. */
  fieldsOf(resource: GroupResource): ReadonlyMap<string, Named> {
    const counted = this.#fields.get(idOf(resource)) ?? [];
    return new Map(
      [...counted].map(([version, { count, names }]) => [
        version,
        { count, examples: names.list() },
      ]),
    );
  }

  /** How many values of keys under none of the prefixes are objects of an API server. */
  get strayCount(): number {
    return this.#strayCount;
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

  #addElsewhere(value: StoredValue): void {
    this.#elsewhereCount += 1;
    this.#elsewhere.add(value.key);
    if (!this.#options.looksElsewhere) return;
    const { encoding } = encodingOf(value.head, () => value.whole());
    if (encoding !== 'unreadable') this.#strayCount += 1;
  }

  #addNameless(key: string): void {
    if (this.#options.resources !== undefined) return;
    this.#count += 1;
    this.#tellUnreadable(key, 'has a key that names no resource');
  }

  #define(name: string, stored: Stored, whole: () => Uint8Array): void {
    const definition = definitionIn(name, stored, whole);
    if (definition === undefined) this.#hasHiddenDefinition = true;
    else this.#definitions.push(definition);
  }

  #countIn(key: string, place: Place, stored: Stored): void {
    this.#count += 1;
    const prefix = isOf(place, CRDS) ? undefined : prefixOfDefinition(key);
    if (prefix !== undefined) this.#otherPrefixes.add(prefix);
    if (stored.encoding === 'unreadable') this.#tellUnreadable(key, stored.why);
    const name = shownName(place);
    const cell = this.#cellOf(key, place, stored);
    addTo(cell, name);
    if ('fieldVersions' in stored) this.#countFields(cell, name, stored.fieldVersions);
  }

  #countFields(resource: GroupResource, name: string, versions: readonly string[]): void {
    if (versions.length === 0 || isBuiltIn(resource)) return;
    const id = idOf(resource);
    const own = this.#fields.get(id) ?? new Map<string, Counted>();
    this.#fields.set(id, own);
    for (const version of versions) {
      const counted = own.get(version) ?? { count: 0, names: this.#newNames() };
      own.set(version, counted);
      addTo(counted, name);
    }
  }

  #tellUnreadable(key: string, why: string): void {
    this.#unreadableCount += 1;
    this.#unreadable.add(`${key} ${why}`);
  }

  #cellOf(key: string, place: Place, stored: Stored): Cell {
    const said = 'apiVersion' in stored ? stored.apiVersion : undefined;
    const { resource, group = groupOf(said ?? '') } = place;
    const isCore = stored.encoding === 'encrypted' && this.#isCore(key, { group, resource });
    // The core group has one version, in whatever a value of it is wrapped.
    const apiVersion = isCore ? 'v1' : said;
    const { encoding } = stored;
    const [provider, keyName] =
      stored.encoding === 'encrypted' ? [stored.provider, stored.keyName] : [];
    const id = [group, resource, encoding, apiVersion, provider, keyName].join(' ');
    const known = this.#cells.get(id);
    if (known !== undefined) return known;
    const of = { group, resource, apiVersion, encoding, provider, keyName };
    const cell = { ...of, count: 0, names: this.#newNames() };
    this.#cells.set(id, cell);
    return cell;
  }

  /** Under the prefix of one group, what is called Secrets may be that group's own. */
  #isCore(key: string, resource: GroupResource): boolean {
    if (resource.group !== '' || !isBuiltIn(resource)) return false;
    return !this.#groupPrefixes.some((prefix) => key.startsWith(`${prefix}/`));
  }

  #newNames(): FirstNames {
    return new FirstNames(this.#options.examplesMax);
  }
}

interface Counted {
  count: number;
  readonly names: FirstNames;
}

function addTo(counted: Counted, name: string): void {
  counted.count += 1;
  counted.names.add(name);
}

/** No two resources have the same, whatever their names are. */
export const idOf = ({ group, resource }: GroupResource): string => `${group}/${resource}`;

export interface Named {
  readonly count: number;
  readonly examples: readonly string[];
}

export const isOf = (
  place: Pick<Place, 'group' | 'resource'>,
  { group, resource }: GroupResource,
): boolean => place.resource === resource && (place.group === undefined || place.group === group);

const orderOf = ({ group, resource, apiVersion = '~', encoding, ...row }: Row): string =>
  [group, resource, apiVersion, encoding, row.provider ?? '', row.keyName ?? ''].join(' ');
