// A merge patch as the API server carries it out. Pure.
import type { KubeObject } from '../../../shared/kube/objects.ts';

export type Body = Record<string, unknown>;

export function merge(present: Body, patch: Body): Body {
  const result = { ...present };
  for (const [name, value] of Object.entries(patch)) {
    const below = result[name];
    const isDeep = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (value === null) delete result[name];
    else result[name] = isDeep ? merge((below ?? {}) as Body, value as Body) : value;
  }
  return result;
}

/** A strategic patch adds owners to those that are there. */
export function withOwnersOf({ metadata: { ownerReferences = [] } }: KubeObject, body: Body): Body {
  const metadata = (body['metadata'] ?? {}) as Partial<KubeObject['metadata']>;
  const added = metadata.ownerReferences ?? [];
  return { ...body, metadata: { ...metadata, ownerReferences: [...ownerReferences, ...added] } };
}
