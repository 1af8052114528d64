// Where in the feed an object stands. A pod stands under its node, so that a node's agent
// subscribes to its own pods only; everything else stands under `all`. Kubernetes names may hold
// dots, which separate tokens in a subject. All subjects here are relative to the feed's own
// prefix.
import type { Kind, Projection } from './projection.ts';

/** Which object an event or a subject is about. */
export interface ObjectKey {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

export function keyOf({ kind, namespace = '', name }: Projection): ObjectKey {
  return { kind, namespace, name };
}

export function subjectOf(projection: Projection): string {
  const scope = projection.node === undefined ? 'all' : `node.${encodeToken(projection.node)}`;
  return `${scope}.${subjectTail(keyOf(projection))}`;
}

/** Every subject on which this object may stand, whatever its node. */
export function subjectFilters(key: ObjectKey): readonly string[] {
  return filtersFor(subjectTail(key));
}

/** Every subject on which objects of this kind stand. */
export function kindFilters(kind: Kind): readonly string[] {
  return filtersFor(`${kind.toLowerCase()}.>`);
}

function filtersFor(tail: string): readonly string[] {
  return [`all.${tail}`, `node.*.${tail}`];
}

/** The part of a subject that names the object, without its scope: `pod.web.front-1`. */
export function subjectTail({ kind, namespace, name }: ObjectKey): string {
  const tokens = kind === 'Pod' ? ['pod', namespace, name] : ['node', name];
  return tokens.map(encodeToken).join('.');
}

/** The same part, read off a subject of the stream. */
export function tailOf(subject: string): string {
  const tokens = subject.split('.');
  return tokens.slice(tokens[0] === 'all' ? 1 : 2).join('.');
}

/**
 * Names have letters, digits, dashes and dots. Whatever else somebody claims to be a name is
 * encoded too, so that no wildcard ever reaches a filter. The percent sign cannot be in a name, so
 * no two names meet.
 */
function encodeToken(token: string): string {
  return token.replaceAll(/[^A-Za-z0-9-]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}
