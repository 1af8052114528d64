// Where a key of etcd belongs: resource, namespace and name of the object under it; and the other
// way round, under which prefix the objects of a resource are.
import { BUILT_IN_GROUPS, STORED_AS, STORED_UNDER } from './built-in.ts';

export interface GroupResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

export interface Place {
  /**
   * Undefined for a built-in resource that is not known here: its keys do not name its group, its
   * values do.
   */
  readonly group: string | undefined;
  readonly resource: string;
  /** Empty for an object that belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** What API servers use when nobody says otherwise: upstream, and OpenShift. */
export const USUAL_PREFIXES: readonly string[] = ['/registry', '/kubernetes.io'];

export const CRDS: GroupResource = {
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
};

/** Aggregated to every API server, and defined by its own code. */
const APISERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' };

/** Undefined for a key that is under none of the prefixes; the first that fits counts. */
export function placeOf(key: string, prefixes: readonly string[]): Place | undefined {
  const prefix = prefixes.find(
    (each) => key.startsWith(each) && key.codePointAt(each.length) === SLASH,
  );
  if (prefix === undefined) return undefined;
  const [first = '', second, ...rest] = key.slice(prefix.length + 1).split('/');
  if (second === undefined) return { group: undefined, resource: first, ...NAMELESS };
  if (first.includes('.')) return { group: first, resource: second, ...nameOf(rest) };
  const special = STORED_AS[`${first}/${second}`];
  if (special !== undefined) return { ...special, ...nameOf(rest) };
  const named = STORED_AS[first] ?? { group: BUILT_IN_GROUPS[first], resource: first };
  return { ...named, ...nameOf([second, ...rest]) };
}

/** As `namespace/name`, or the name alone. */
export const shownName = ({ namespace, name }: Place): string =>
  namespace === '' ? name : `${namespace}/${name}`;

/** As `deployments.apps`, `pods`. */
export const resourceName = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`;

/** Whether it is one of Kubernetes' own that is known here. */
export const isBuiltIn = ({ group, resource }: GroupResource): boolean =>
  BUILT_IN_GROUPS[resource] === group || STORED_UNDER[`${group}/${resource}`] !== undefined;

/** Whether a CustomResourceDefinition has to be there for it. */
export const isCustom = ({ group = '', resource }: Place): boolean =>
  group.includes('.') &&
  !isBuiltIn({ group, resource }) &&
  ![CRDS, APISERVICES].some((own) => own.group === group && own.resource === resource);

/** What stands before the definitions of an API server with a prefix of its own. */
export function prefixOfDefinition(key: string): string | undefined {
  const at = key.indexOf(`/${CRDS.group}/${CRDS.resource}/`);
  return at === -1 ? undefined : key.slice(0, at);
}

/** The beginnings of all keys under which objects of the resource are, each with its last slash. */
export function keyPrefixes(
  { group, resource }: GroupResource,
  prefixes: readonly string[] = USUAL_PREFIXES,
): readonly string[] {
  const hasNoGroup = group === '' || BUILT_IN_GROUPS[resource] === group || !group.includes('.');
  const path = STORED_UNDER[`${group}/${resource}`];
  const under = path ?? (hasNoGroup ? resource : `${group}/${resource}`);
  return prefixes.map((prefix) => `${prefix}/${under}/`);
}

const SLASH = 47;
const NAMELESS = { namespace: '', name: '' };

function nameOf(segments: readonly string[]): Pick<Place, 'namespace' | 'name'> {
  if (segments.length < 2) return { namespace: '', name: segments[0] ?? '' };
  const [namespace = '', ...name] = segments;
  return { namespace, name: name.join('/') };
}
