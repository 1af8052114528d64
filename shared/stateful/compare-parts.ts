// Reads the parts of an owner one after the other and compares them with how they are rendered.
// None is kept: each may hold more than a megabyte.
import type { Reason } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/objects.ts';
import {
  type FoundPart,
  foundPartOf,
  isAsRendered,
  isOurs,
  nameTaken,
  type Owner,
  type RenderedPart,
} from './parts.ts';
import type { KubeReader } from './read-once.ts';

export interface CompareDeps {
  readonly kube: KubeReader;
  readonly signal: AbortSignal;
}

export interface ToCompare<Key extends string> {
  readonly owner: Pick<Owner, 'uid'>;
  readonly parts: readonly RenderedPart<Key>[];
  /** Parts that were read already, since others are rendered of them. */
  readonly early: ReadonlyMap<Key, KubeObject | null>;
  readonly forbidden: MaybeForbidden<Key>;
}

/** The one part without which everything else goes on. */
export interface MaybeForbidden<Key extends string> {
  readonly key: Key;
  /** Set while it was refused a short while ago. */
  readonly refusal: Reason | undefined;
  /** Undefined for any other failure. */
  readonly refusalOf: (error: unknown) => Reason | undefined;
}

export interface Compared<Key extends string> {
  /** Also those that were read early, where nothing could be rendered yet. */
  readonly found: ReadonlyMap<Key, FoundPart>;
  /** Parts that are missing, or differ from how they are rendered. */
  readonly wrong: readonly RenderedPart<Key>[];
  /** Set when a part is somebody else's. */
  readonly nameConflict: Reason | undefined;
  /** The reason why the part that may be forbidden is. */
  readonly refusal: Reason | undefined;
}

export async function compareParts<Key extends string>(
  deps: CompareDeps,
  toCompare: ToCompare<Key>,
): Promise<Compared<Key>> {
  const { owner, parts, early, forbidden } = toCompare;
  let { refusal } = forbidden;
  let nameConflict: Reason | undefined;
  const present = [...early].flatMap(([key, object]) =>
    object === null ? [] : [[key, foundPartOf(object)] as const],
  );
  const found = new Map<Key, FoundPart>(present);
  const wrong: RenderedPart<Key>[] = [];
  for (const part of parts) {
    const { key } = part;
    const { object, refused } = await readPart(deps, toCompare, part);
    refusal = refused ?? refusal;
    if (object !== null) found.set(key, foundPartOf(object));
    if (object !== null && !isOurs(object, owner)) nameConflict ??= nameTaken(object);
    if (key === forbidden.key && refusal !== undefined) continue;
    if (!isAsRendered(part, object)) wrong.push(part);
  }
  return { found, wrong, nameConflict, refusal };
}

async function readPart<Key extends string>(
  { kube, signal }: CompareDeps,
  { early, forbidden }: ToCompare<Key>,
  { key, ref, manifest }: RenderedPart<Key>,
): Promise<{ readonly object: KubeObject | null; readonly refused?: Reason | undefined }> {
  const known = early.get(key);
  if (known !== undefined) return { object: known };
  const { name, namespace = '' } = manifest.metadata;
  try {
    return { object: await kube.get(ref, { namespace, name }, { signal }) };
  } catch (error) {
    const refused = key === forbidden.key ? forbidden.refusalOf(error) : undefined;
    if (refused === undefined) throw error;
    return { object: null, refused };
  }
}
