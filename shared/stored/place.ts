// Where a key of etcd belongs: resource, namespace and name of the object under it; and the other
// way round, under which prefix the objects of a resource are.
import { BUILT_IN_GROUPS, type GroupResource, STORED_AS, STORED_UNDER } from './built-in.ts';

export interface Place {
  /**
   * Undefined for a built-in resource that is not known here: its keys do not name its group, its
   * values do.
   */
  readonly group: string | undefined;
  /** Empty where the key names none. */
  readonly resource: string;
  /** Empty for an object that belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** Default prefixes of API servers: upstream, and OpenShift. */
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
  const [first = '', second = '', ...rest] = key.slice(prefix.length + 1).split('/');
  if (first === '' || second === '') return { group: undefined, resource: '', ...NAMELESS };
  if (first.includes('.')) return { group: first, resource: second, ...nameOf(rest) };
  const special = STORED_AS.get(`${first}/${second}`);
  if (special !== undefined) return { ...special, ...nameOf(rest) };
  const named = STORED_AS.get(first) ?? { group: BUILT_IN_GROUPS.get(first), resource: first };
  return { ...named, ...nameOf([second, ...rest]) };
}

/** As `namespace/name`, or the name alone. */
export const shownName = ({ namespace, name }: Place): string =>
  namespace === '' ? name : `${namespace}/${name}`;

/** As `deployments.apps`, `pods`. */
export const resourceName = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`;

/** Whether it is one of Kubernetes' own that is known here; all others need a definition. */
export const isBuiltIn = ({ group, resource }: GroupResource): boolean =>
  BUILT_IN_GROUPS.get(resource) === group ||
  STORED_UNDER.get(`${group}/${resource}`) !== undefined ||
  [CRDS, APISERVICES].some((own) => own.group === group && own.resource === resource);

/** `v1alpha1` of the resource's own group; of another one as it is stored, the core group named. */
export function shownVersion({ group }: GroupResource, apiVersion: string): string {
  if (groupOf(apiVersion) === group) return apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  return apiVersion.includes('/') ? apiVersion : `${apiVersion} of the core group`;
}

/** Empty for the core group. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.lastIndexOf('/')) : '';

/** `example.com/v1`, or `v1` of the core group. */
export const apiVersionOf = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`;

/** The prefix before the definitions of an API server that has its own. */
export function prefixOfDefinition(key: string): string | undefined {
  const at = key.indexOf(`/${CRDS.group}/${CRDS.resource}/`);
  return at === -1 ? undefined : key.slice(0, at);
}

/** The beginnings of all keys under which objects of the resource are, each with its last slash. */
export function keyPrefixes(
  { group, resource }: GroupResource,
  prefixes: readonly string[] = USUAL_PREFIXES,
): readonly string[] {
  const hasNoGroup =
    group === '' || BUILT_IN_GROUPS.get(resource) === group || !group.includes('.');
  const path = STORED_UNDER.get(`${group}/${resource}`);
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
