// Where in a feed an object stands. A subject is `<scope>.<node>.<resource>.<namespace>.<name>`, so
// that a node's agent takes two filters and a namespace's reader one; what a token cannot hold is
// written with a percent sign. All subjects here are relative to the feed's own prefix.

/**
 * The feed's name of a kind: `pods`, `deployments`; `widgets.example.com` for kinds that are not
 * built in.
 */
export type ResourceName = string;

export interface ObjectKey {
  readonly resource: ResourceName;
  /** Empty for what belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * The readers of an object: the agent of one node, everybody (for objects that all nodes share), or
 * only readers of the whole cluster, as for a pod that has no node yet.
 */
export type Place = { readonly node: string } | 'all' | 'cluster';

/** Stands where a subject needs a token and there is no name; no name begins with it. */
const NONE = '_';

const CHECKPOINT = 'checkpoint';
/** The marker: the epoch of the stream, and whether all is published. */
export const MARKER_SUBJECT = `all.${NONE}.feed`;
/** The floor: the version from which all tombstones are still there. */
export const FLOOR_SUBJECT = `all.${NONE}.floor`;
/** The receipt of the last status that the API server acknowledged. Only the function reads it. */
export const STATUS_SUBJECT = `cluster.${NONE}.status`;

export const streamName = (feed: string): string => `ballast-${feed}`;
/** The prefix of all stored messages. */
export const storedPrefix = (feed: string): string => `ballast.${feed}`;
/** The prefix under which each stored message is delivered once, live. */
export const livePrefix = (feed: string): string => `ballast-live.${feed}`;

export function subjectOf(place: Place, { resource, namespace, name }: ObjectKey): string {
  const space = namespace === '' ? NONE : encodeToken(namespace);
  return `${placeTokens(place)}.${encodeToken(resource)}.${space}.${encodeToken(name)}`;
}

export function placeTokens(place: Place): string {
  return typeof place === 'string' ? `${place}.${NONE}` : `node.${encodeToken(place.node)}`;
}

/** Undefined for what is no object: checkpoints, the marker, and what somebody else wrote. */
export function parseSubject(
  subject: string,
): { readonly place: Place; readonly key: ObjectKey } | undefined {
  const tokens = subject.split('.');
  const [scope = '', node = '', resource = '', namespace = '', name = ''] = tokens;
  if (tokens.length !== 5) return undefined;
  const place = placeOf(scope, node);
  if (place === undefined) return undefined;
  const space = namespace === NONE ? '' : decodeToken(namespace);
  return {
    place,
    key: { resource: decodeToken(resource), namespace: space, name: decodeToken(name) },
  };
}

function placeOf(scope: string, node: string): Place | undefined {
  if (scope === 'node') return { node: decodeToken(node) };
  return (scope === 'all' || scope === 'cluster') && node === NONE ? scope : undefined;
}

/**
 * A ledger is a part of the feed whose state a checkpoint sums up: `node.n1`, `all._`, `cluster._`,
 * `namespace.web`. Its name is also the head of its checkpoint's subject.
 */
export const checkpointSubject = (ledger: string): string => `${ledger}.${CHECKPOINT}`;

/** Undefined for what is no checkpoint. */
export function ledgerOfCheckpoint(subject: string): string | undefined {
  const [scope = '', rest = '', last, ...more] = subject.split('.');
  if (last !== CHECKPOINT || more.length > 0) return undefined;
  const isLedger = scope === 'namespace' || placeOf(scope, rest) !== undefined;
  return isLedger ? `${scope}.${rest}` : undefined;
}

const OTHERS: ReadonlySet<string> = new Set([MARKER_SUBJECT, FLOOR_SUBJECT, STATUS_SUBJECT]);

/** Whether a feed has such a subject; what stands on others was written by somebody else. */
export const isOfFeed = (subject: string): boolean =>
  OTHERS.has(subject) ||
  parseSubject(subject) !== undefined ||
  ledgerOfCheckpoint(subject) !== undefined;

/** An object is summed up twice: in its place and in its namespace. */
export function ledgersOf(subject: string): readonly [string, string] {
  const place = subject.indexOf('.', subject.indexOf('.') + 1);
  const namespace = subject.indexOf('.', place + 1) + 1;
  const end = subject.indexOf('.', namespace);
  return [subject.slice(0, place), `namespace.${subject.slice(namespace, end)}`];
}

export function ledgerFilter(ledger: string): string {
  const [scope = '', rest = ''] = ledger.split('.');
  return scope === 'namespace' ? `*.*.*.${rest}.*` : `${ledger}.>`;
}

export const namespaceLedger = (namespace: string): string =>
  `namespace.${namespace === '' ? NONE : encodeToken(namespace)}`;

/**
 * Kubernetes names hold dots and some hold colons. Whatever a token may not hold is encoded, so
 * that no wildcard ever reaches a filter; the percent sign is in no name, so no two names meet.
 */
export function encodeToken(token: string): string {
  return token.replaceAll(/[^A-Za-z0-9-]/gu, (char) =>
    Array.from(
      new TextEncoder().encode(char),
      (byte) => `%${byte.toString(16).padStart(2, '0')}`,
    ).join(''),
  );
}

export function decodeToken(token: string): string {
  if (!token.includes('%')) return token;
  try {
    return decodeURIComponent(token);
  } catch {
    // Nothing of ours: it names no object, and stays as it is.
    return token;
  }
}
