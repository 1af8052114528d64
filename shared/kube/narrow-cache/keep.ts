// Freezes objects for the cache: many callers share the same one.
import type { KubeObject } from '../objects.ts';

/**
 * The object, frozen to its last field, without `metadata.managedFields`: no function decides by
 * them, and they are often the larger part. A caller that needs them reads the object itself. The
 * given object is used up.
 */
export function keep(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return freeze({ ...object, metadata });
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}
