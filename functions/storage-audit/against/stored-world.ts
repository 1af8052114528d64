// Reads what is there from etcd, running or in a snapshot: twice, first the definitions and
// the counts, then the objects themselves, one after another.
import { parseLossless } from '../../../shared/kube/json.ts';
import { auditStored, type AuditReport } from '../../../shared/stored/audit.ts';
import type { GroupResource } from '../../../shared/stored/built-in.ts';
import { contentOf, encodingOf } from '../../../shared/stored/encoding.ts';
import {
  CRDS,
  groupOf,
  keyPrefixes,
  type Place,
  placeOf,
  shownName,
  shownVersion,
  USUAL_PREFIXES,
} from '../../../shared/stored/place.ts';
import { idOf, isOf, type Named } from '../../../shared/stored/tally.ts';
import type { StoredSource, StoredValue } from '../../../shared/stored/value.ts';
import { Failure } from '../../../shared/errors.ts';
import type { Stored } from './compare.ts';
import { type Crd, recordOf } from './crd.ts';
import { storedCrdOf } from './stored-crd.ts';
import type { Content } from './schema-on-server.ts';
import type { Found, Present, Service, Take, WebhookState, World, WorldOrigin } from './world.ts';

interface StoredOptions {
  readonly prefixes?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** At least the values under these, each time anew and of one moment. */
  readonly open: (under: readonly string[]) => Opened;
}

interface Opened {
  readonly entries: StoredSource;
  /** Nothing shows that the keys are as they were written. */
  readonly isUnhashed: boolean;
  /** Known with the first entries. */
  readonly revision: () => string;
}

/** Every API server has one, and where none is found the keys are elsewhere. */
const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };
const SERVICES: GroupResource = { group: '', resource: 'services' };
const ALWAYS = [NAMESPACES, SERVICES];
const NONE: Named = { count: 0, examples: [] };

export class StoredWorld implements World {
  readonly #name: string;
  readonly #options: StoredOptions;
  readonly #prefixes: readonly string[];
  readonly #services = new Set<string>();
  #revision: (() => string) | undefined;

  constructor(name: string, options: StoredOptions) {
    this.#name = name;
    this.#options = options;
    // The longest first: one may begin as another does.
    const { prefixes = USUAL_PREFIXES } = options;
    this.#prefixes = prefixes.toSorted((a, b) => b.length - a.length);
  }

  get of(): WorldOrigin {
    const revision = this.#revision?.();
    return { source: this.#name, ...(revision === undefined ? {} : { revision }) };
  }

  async read(asked: readonly Crd[]): Promise<Present> {
    const names = new Set(asked.map(({ name }) => name));
    const definitions = new Map<string, Crd | string>();
    const others: Pick<Crd, 'name' | 'group' | 'names'>[] = [];
    let placed = 0;
    const look = (place: Place, value: StoredValue): void => {
      placed += 1;
      if (isOf(place, SERVICES)) this.#services.add(shownName(place));
      if (!isOf(place, CRDS)) return;
      const crd = definitionIn(value);
      if (names.has(place.name)) definitions.set(place.name, crd);
      if (typeof crd !== 'string') others.push(crd);
    };
    const resources = asked.map(({ group, resource }) => ({ group, resource }));
    const { prefixes, signal } = this.#options;
    const { entries, isUnhashed, revision } = this.#open([...resources, CRDS, ...ALWAYS]);
    this.#revision = revision;
    const source = this.#watched(entries, look);
    const report = await auditStored(source, { prefixes, resources, signal, isUnhashed });
    if (placed === 0) throw nothing(this.#prefixes);
    const crds = new Map<string, Found>();
    for (const [name, crd] of definitions) {
      const found =
        typeof crd === 'string' ? { unreadable: crd } : { crd, stored: storedOf(crd, report) };
      crds.set(name, found);
    }
    return { crds, others };
  }

  async objects(of: readonly Crd[], _: ReadonlyMap<string, Crd>, take: Take): Promise<void> {
    const wanted = new Map(of.map((crd) => [idOf(crd), crd]));
    for await (const batch of this.#open(of).entries) {
      this.#options.signal?.throwIfAborted();
      // The bytes are good until the next batch: an object is made of them before anything waits.
      for (const value of batch) {
        const place = placeOf(value.key, this.#prefixes);
        if (place?.group === undefined) continue;
        const crd = wanted.get(idOf({ group: place.group, resource: place.resource }));
        if (crd !== undefined) await handOver(crd, shownName(place), value, take);
      }
    }
  }

  async webhook({ namespace, name }: Service): Promise<WebhookState> {
    if (!this.#services.has(`${namespace}/${name}`)) return { lacks: 'is not there' };
    return {
      unknown: 'is there; whether an endpoint of it is ready the API server tells (--kube)',
    };
  }

  #open(resources: readonly GroupResource[]): Opened {
    return this.#options.open(resources.flatMap((each) => keyPrefixes(each, this.#prefixes)));
  }

  async *#watched(
    entries: StoredSource,
    look: (place: Place, value: StoredValue) => void,
  ): StoredSource {
    for await (const batch of entries) {
      for (const value of batch) {
        const place = placeOf(value.key, this.#prefixes);
        if (place !== undefined) look(place, value);
      }
      yield batch;
    }
  }
}

async function handOver(crd: Crd, name: string, value: StoredValue, take: Take): Promise<void> {
  const stored = encodingOf(value.head, () => value.whole());
  // The count of these is told by itself.
  if (stored.encoding === 'encrypted' || stored.encoding === 'unreadable') return;
  const { apiVersion, encoding } = stored;
  if (groupOf(apiVersion) !== crd.group || encoding === 'protobuf') {
    take.unread(crd, name, `it is stored as ${apiVersion}, in ${encoding}`);
    return;
  }
  const content = readContent(encoding, value.whole());
  if (content === undefined) take.unread(crd, name, 'it says something twice');
  else await take.object(crd, { name, version: shownVersion(crd, apiVersion), content });
}

/** Integers stay what they are: a number of JavaScript holds not all of them. */
function readContent(encoding: 'json' | 'cbor', whole: Uint8Array): Content | undefined {
  try {
    const content = contentOf(encoding, whole);
    const exact = encoding === 'json' ? parseLossless(new TextDecoder().decode(whole)) : content;
    return recordOf(exact);
  } catch {
    return undefined;
  }
}

/** The definition, or why it cannot be read. */
function definitionIn(value: StoredValue): Crd | string {
  const stored = encodingOf(value.head, () => value.whole());
  if (stored.encoding !== 'json' && stored.encoding !== 'cbor') return `is ${stored.encoding}`;
  try {
    return storedCrdOf(contentOf(stored.encoding, value.whole()));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function storedOf(crd: Crd, { rows, verdicts }: AuditReport): Stored {
  const own = rows.filter((row) => isOf(row, crd));
  const byVersion = new Map<string, Named>();
  let hidden = NONE;
  for (const { apiVersion, count, examples } of own) {
    const version = apiVersion === undefined ? undefined : shownVersion(crd, apiVersion);
    const before = version === undefined ? hidden : (byVersion.get(version) ?? NONE);
    const sum = { count: before.count + count, examples: [...before.examples, ...examples] };
    if (version === undefined) hidden = sum;
    else byVersion.set(version, sum);
  }
  const versions = verdicts.find((verdict) => isOf(verdict, crd))?.versions ?? [];
  const inFields = new Map(
    versions
      .filter(({ fieldsCount }) => fieldsCount > 0)
      .map(({ apiVersion, fieldsCount }): [string, Named] => [
        shownVersion(crd, apiVersion),
        { count: fieldsCount, examples: [] },
      ]),
  );
  const objects = own.reduce((sum, { count }) => sum + count, 0);
  return { objects, byVersion, inFields, hidden };
}

function nothing(prefixes: readonly string[]): Failure {
  const message =
    `No key of an API server is under ${prefixes.join(' or ')}: what is there cannot be told. ` +
    'Name its prefix with --prefix.';
  return new Failure('CRDS_ABSENT', message);
}
