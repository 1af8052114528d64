// Reads the versions from a stored CustomResourceDefinition, which is in etcd like any other
// object, as JSON or CBOR.
import { contentOf, type Stored } from './encoding.ts';
import { CRDS, groupOf, resourceName } from './place.ts';
import type { GroupResource } from './built-in.ts';

export interface Definition extends GroupResource {
  /** In the order of the CRD. */
  readonly versions: readonly DefinedVersion[];
  readonly storedVersions: readonly string[];
}

export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
}

/** Undefined when it cannot be read as the definition of this name. */
export function definitionIn(
  name: string,
  stored: Stored,
  whole: () => Uint8Array,
): Definition | undefined {
  if (stored.encoding !== 'json' && stored.encoding !== 'cbor') return undefined;
  const { apiVersion, kind } = stored;
  if (kind !== KIND || groupOf(apiVersion) !== CRDS.group) return undefined;
  try {
    const definition = definitionOf(contentOf(stored.encoding, whole()));
    const isWhole = definition.versions.filter(({ storage }) => storage).length === 1;
    return isWhole && resourceName(definition) === name ? definition : undefined;
  } catch {
    // Its key is counted among what cannot be read, and no verdict is given on it.
    return undefined;
  }
}

const KIND = 'CustomResourceDefinition';

/** Throws when the object is no CustomResourceDefinition. */
export function definitionOf(object: unknown): Definition {
  const fields = record(object);
  const spec = record(fields['spec']);
  const status = record(fields['status'] ?? {});
  // Only v1beta1 could name a single version beside the list.
  const [single] = spec['version'] === undefined ? [] : [{ name: spec['version'], storage: true }];
  const listed = list(spec['versions'] ?? (single === undefined ? undefined : [single]));
  const versions = listed.map((each) => {
    const { name, served, storage } = record(each);
    return { name: text(name), served: served !== false, storage: storage === true };
  });
  return {
    group: text(spec['group']),
    resource: text(record(spec['names'])['plural']),
    versions,
    storedVersions: list(status['storedVersions'] ?? []).map(text),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function record(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return Object.fromEntries(Object.entries(value));
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('not a text');
  return value;
}
